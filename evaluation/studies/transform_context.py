"""Whether the ways that are best alone are best in a plan, too: what dynamic programming takes for granted."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from halidegym.agents.planners.dynamic_programming import DynamicProgramming
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.plan_task import SpaceName
from halidegym.envs.transform.timer import TransformTimer
from halidegym.native._core import TransformProblem, TransformSpace, available_lanes


@dataclasses.dataclass(frozen=True)
class Swap:
    """A sub-plan of dynamic programming's plan in place of the one that it had taken.

    Attributes:
        problem: that both solve.
        way: the sub-plan.
        alone: its time relative to the one that was taken, each alone.
        in_context: time of the whole plan with it relative to the plan without: least of all rounds.
        low: end of an interval of 95 % for the median of a round.
        high: its other end.
    """

    problem: str
    way: str
    alone: float
    in_context: float
    low: float
    high: float


class _Listener:
    """Hands on what is to be timed, and keeps the times by problem."""

    def __init__(self, timer: TransformTimer) -> None:
        self._timer = timer
        self.times: dict[TransformProblem, dict[str, float]] = {}

    def race_ways(
        self, problem: TransformProblem, ways: Sequence[str], *, rounds: int, sample_s: float, seed: int = 0
    ) -> list[list[float]]:
        samples = self._timer.race_ways(problem, ways, rounds=rounds, sample_s=sample_s, seed=seed)
        self.times[problem] = {way: min(row) for way, row in zip(ways, samples, strict=True)}
        return samples


def swaps_in_context(n: int, space_name: SpaceName, runners_up: int, rounds: int) -> tuple[str, list[Swap]]:
    """Dynamic programming's plan, and what the runners-up of each of its problems do in it."""
    reference = TransformSpace(n, space=space_name, lanes=available_lanes()).root().plan
    with TransformTimer(TransformPlan(n, reference), space=space_name) as timer:
        space = TransformSpace(n, space=space_name, lanes=available_lanes(), cost=timer.cost)
        listener = _Listener(timer)
        plan = DynamicProgramming(rounds=rounds, timer=listener).solve(space).state.text
        swaps = []
        for use, (begin, end) in zip(TransformPlan(n, plan).problems(), sub_plan_spans(plan), strict=True):
            times = listener.times.get(use.problem, {})
            taken = plan[begin:end]
            others = sorted((way for way in times if way != taken), key=lambda way: times[way])[:runners_up]
            whole = {plan[:begin] + way + plan[end:]: way for way in others}
            if not whole or begin == 0:
                continue
            standings = {standing.plan: standing for standing in timer.race([plan, *whole])}
            base = standings[plan]
            for text, way in whole.items():
                found = standings[text]
                swaps.append(
                    Swap(
                        str(use.problem),
                        way,
                        times[way] / times[taken],
                        found.cost / base.cost,
                        found.low / base.high,
                        found.high / base.low,
                    )
                )
        return plan, swaps


def sub_plan_spans(plan: str) -> list[tuple[int, int]]:
    """Where each step's text begins and ends, in the order of the text: the whole plan first."""
    spans, open_ones = [(0, len(plan))], []
    for place, character in enumerate(plan):
        if character == "(":
            open_ones.append(len(spans))
            spans.append((place + 1, 0))
        elif character == ")":
            number = open_ones.pop()
            spans[number] = (spans[number][0], place)
    return spans
