"""What the library and its stopwatch reach; ratios with wide margins."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from halidegym.envs.transform.measuring import time_plans
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.settings import TransformTimingSettings
from halidegym.envs.transform.timer import TransformTimer
from halidegym.native._core import TransformSpace, available_lanes

pytestmark = [pytest.mark.slow, pytest.mark.alone]


def random_plans(space: TransformSpace, count: int) -> list[str]:
    generator = random.Random(0)
    plans: dict[str, None] = {}  # what was timed once is not timed again
    while len(plans) < count:
        state = space.root()
        while not space.is_complete(state):
            state = space.apply(state, generator.choice(space.decisions(state)))
        plans[state.text] = None
    return list(plans)


def test_the_median_random_plan_is_much_slower_than_the_best() -> None:
    space = TransformSpace(1024, lanes=available_lanes())
    begin = time.thread_time()
    timed = time_plans(1024, space.root().plan, random_plans(space, 200), TransformTimingSettings(), turns=4)
    assert time.thread_time() - begin < 0.5  # 400 evaluations a second; the target is 1,500
    assert max(plan.relative_error for plan in timed) <= 2e-15
    seconds = [plan.seconds for plan in timed]
    assert np.median(seconds) > 1.5 * min(seconds)


def test_plans_are_timed_one_at_a_time_at_the_speed_of_batches() -> None:
    space = TransformSpace(1024, lanes=available_lanes())
    plans = random_plans(space, 400)
    with TransformTimer(TransformPlan(1024, space.root().plan)) as timer:
        timer.costs(plans[:20])
        alone, together, loops = [], [], []
        for first in range(20, 400, 10):  # short enough to fall between what other programs do
            begin = time.perf_counter()
            for plan in plans[first : first + 5]:
                timer.cost(plan)
            middle = time.perf_counter()
            timer.costs(plans[first + 5 : first + 10])
            end = time.perf_counter()
            sum(range(100_000))
            loops.append(time.perf_counter() - end)
            alone.append(5 / (middle - begin))
            together.append(5 / (end - middle))
    print(
        f"\nmeasured evaluations a second at 1024, at best: {max(alone):.0f} one at a time, {max(together):.0f} in batches; "
        f"a sum of 100,000 numbers takes {1e3 * min(loops):.2f} ms"
    )
    assert max(alone) > 150  # by the clock, whatever else runs; the target is 1,500
    assert max(alone) > 0.2 * max(together)
