"""What the library and its stopwatch reach; ratios with wide margins."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from halidegym.envs.transform.measuring import time_plans
from halidegym.envs.transform.settings import TransformTimingSettings
from halidegym.native._core import TransformSpace, available_lanes

pytestmark = [pytest.mark.slow, pytest.mark.alone]


def random_plans(space: TransformSpace, count: int) -> list[str]:
    generator = random.Random(0)
    plans = []
    for _ in range(count):
        state = space.root()
        while not space.is_complete(state):
            state = space.apply(state, generator.choice(space.decisions(state)))
        plans.append(state.text)
    return plans


def test_the_median_random_plan_is_much_slower_than_the_best() -> None:
    space = TransformSpace(1024, lanes=available_lanes())
    begin = time.thread_time()
    timed = time_plans(1024, space.root().plan, random_plans(space, 200), TransformTimingSettings(), turns=4)
    assert time.thread_time() - begin < 0.5  # 400 evaluations a second; the target is 1,500
    assert max(plan.relative_error for plan in timed) <= 2e-15
    seconds = [plan.seconds for plan in timed]
    assert np.median(seconds) > 1.5 * min(seconds)
