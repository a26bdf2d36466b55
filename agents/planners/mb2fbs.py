"""Memory-bounded best-first beam search (MB2FBS)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from halidegym.agents.budget import Budget
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.agents.spaces import AnySpace
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import InvalidParameter, Mb2fbsOptions, Mb2fbsResult, mb2fbs
from halidegym.native.checks import check_at_least

Priority: TypeAlias = Literal["cost", "depth_and_cost"] | Callable[[float, int, float, float], float]
"""A name, or a function of a state's cost, its depth, X and D_max; the larger goes first (`MB2FBS`)."""

_DEFAULTS = Mb2fbsOptions()

PRESETS: tuple[str, ...] = (
    "breadth_first",
    "best_first",
    "greedy",
    "memory_bounded_best_first",
    "beam",
    "best_first_beam",
    "controlled",
    "uncontrolled",
)
"""What `MB2FBS.preset` knows: the algorithms of the paper's Table 1, in its order."""


@dataclass(frozen=True)
class MB2FBS(NativeSearch):
    """Memory-bounded best-first beam search (Gao, Chen, Mo et al. 2022, "A Memory-Bounded Best-First Beam Search and Its
    Application to Scheduling Halide Programs").

    A queue holds partial schedules of all depths. Each iteration takes the best ones off: the first `beta1` are pushed
    forward, i.e. replaced by their children, the next `beta2` onward, i.e. kept as they are, and the rest is forgotten. So
    it spends its expansions where the costs are promising, not equally on all depths as a beam does. The passes go from
    coarse to fine like those of `BeamSearch`.

    Attributes:
        beta1: partial schedules expanded per iteration; None for all.
        beta2: partial schedules kept per iteration; None for all.
        beta: partial schedules that a pass may expand per depth ("controlled"); None for any number.
        memory: M, the partial schedules that a queue may hold; a full one drops the worst. None for any number, which
            `beta1`, `beta2` and `beta` bound in practice.
        passes: how often to search. A single pass compares no structures.
        priority: which partial schedules come first: the cheapest ("cost"); those with the largest
            (X - cost) / (D_max - depth) ("depth_and_cost"), where X is the best cost before the pass, or 10^9 if there is
            none, and D_max is the number of the pass, from 1, times the depth of a complete schedule, plus 1; or those with
            the largest value of a function of cost, depth, X and D_max.
        stop_at_complete: end a pass at the first complete schedule that is the best in the queue; if the priority never
            overestimates the cost of completion, that one is optimal, as in A*.
    """

    beta1: int | None = _DEFAULTS.beta1
    beta2: int | None = _DEFAULTS.beta2
    beta: int | None = _DEFAULTS.beta
    memory: int | None = _DEFAULTS.memory
    passes: int = _DEFAULTS.passes
    priority: Priority = _DEFAULTS.priority
    stop_at_complete: bool = _DEFAULTS.stop_at_complete

    def __post_init__(self) -> None:
        super().__post_init__()
        self._options()

    @classmethod
    def preset(cls, name: str, *, beta: int = 32, **changes: Any) -> MB2FBS:
        """Return a well-known algorithm as a special case of this one (the paper's Table 1).

        Args:
            name: one of `PRESETS`. All but the last two take the cheapest first and search once; those two are the paper's
                choices for Halide, (28, 4, 32) and (30, 2, None).
            beta: size of the beam, for the three presets that have one: "beam", "best_first_beam" and "controlled". It is
                divided into beta1 and beta2 7 : 1 for the last.
            changes: other attributes than the preset's; "memory_bounded_best_first" needs `memory`, at least 2.

        Raises:
            InvalidParameter: there is no such preset, or it needs `memory`.
        """
        if name not in PRESETS:
            raise InvalidParameter(f"preset {name!r} is unknown; give one of {', '.join(PRESETS)}")
        check_at_least(1, beta=beta)
        if name == "memory_bounded_best_first" and changes.get("memory") is None:
            raise InvalidParameter(f"preset {name!r} needs memory; give at least 2")
        onward = max(1, beta // 8)
        agents = {
            "breadth_first": cls(None, 0, None),
            "best_first": cls(1, None, None, stop_at_complete=True),
            "greedy": cls(1, 0, 1, memory=1),
            "memory_bounded_best_first": cls(1, None, None),
            "beam": cls(beta, 0, beta, memory=beta),
            "best_first_beam": cls(1, beta - 1, beta),
            "controlled": cls(max(1, beta - onward), onward, beta),
            "uncontrolled": cls(30, 2, None),
        }
        agent = agents[name]
        if name not in ("controlled", "uncontrolled"):
            agent = replace(agent, passes=1, priority="cost")
        return replace(agent, **changes)

    def _options(self) -> Mb2fbsOptions:
        return Mb2fbsOptions(
            beta1=self.beta1,
            beta2=self.beta2,
            beta=self.beta,
            memory=self.memory,
            passes=self.passes,
            priority=self.priority,
            stop_at_complete=self.stop_at_complete,
        )

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> Mb2fbsResult:
        return mb2fbs(space, self._options(), **budget.limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        depth = 2 * problem.num_nodes
        return progress_bar(f"MB2FBS, {problem.name}", self.passes * depth, lambda p, d, _: p * depth + d)
