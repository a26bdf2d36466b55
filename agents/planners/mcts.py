"""Monte Carlo tree search over schedules (Haj-Ali et al. 2020, "ProTuner")."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from halidegym.agents.budget import Budget
from halidegym.agents.interrupts import interruptible
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.plan import Plan
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.agents.run_times import RunTimes, by_run_time, fastest_first
from halidegym.agents.spaces import AnySpace, SpaceSolution
from halidegym.envs.problems.problem import SchedulingProblem, usable_cores
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.timers import Timer, opened
from halidegym.native._core import InvalidParameter, MctsOptions, MctsResult, Space, State, TreePolicy, mcts
from halidegym.native.checks import check_at_least, check_given, check_number, check_present

if TYPE_CHECKING:
    from halidegym.agents.spread import TreesOnRay  # brings ray, which others need not have


@dataclass(frozen=True)
class Selection:
    """How a tree weighs the children of a node against each other: value and bonus of a child.

    With n visits of the parent, n_j of the child, and T the costs of the simulations through the child, the search goes
    on in the child of the largest ``value * (1 + bonus)`` ("multiplied") or ``value + bonus`` ("added"), where ``bonus =
    weight * exploration * sqrt(log_factor * ln n / n_j)`` and `exploration` is that of the agent.

    Attributes:
        value: "mean_cost" is 1 / mean T, "mean_inverse" the mean of 1 / T, "best_cost" 1 / min T, "success_rate" the
            mean of a reward that is 1 if a simulation beat the best cost known when the current root became one (for
            the first root: the best cost so far), else 0.
        bonus: "multiplied" or "added".
        log_factor: of the logarithm.
        weight: of the bonus, a constant of the formula.
        normalized: take costs relative to the best so far, so that values lie in [0, 1].
    """

    value: Literal["mean_cost", "mean_inverse", "best_cost", "success_rate"]
    bonus: Literal["multiplied", "added"]
    log_factor: float = TreePolicy().log_factor
    weight: float = 1.0
    normalized: bool = TreePolicy().normalized


SELECTIONS = {
    "mean_cost": Selection("mean_cost", "multiplied"),
    "mean_inverse": Selection("mean_inverse", "added", log_factor=2.0),
    "ucb": Selection("mean_inverse", "added", log_factor=2.0, weight=2.0, normalized=True),
    "best_cost": Selection("best_cost", "multiplied"),
    "success_rate": Selection("success_rate", "added", log_factor=2.0),
}
"""The formulas by name: those of the paper's Table 1 ("mean_cost" and "mean_inverse"), of its equation 1 ("ucb", which wants
exploration = 1/sqrt(2)), and the two that it describes as tried: the best cost, and the 0/1 reward."""


_DEFAULTS = MctsOptions()
_ITERATIONS = 100  # if nothing else limits the search

_REPLAY: dict[str, Any] = {
    "trees": 1,
    "greedy_trees": 0,
    "exploration": 0.3,
    "deviations": 2.5,
    "draws": 8,
    "front_loading": 2.0,
}

_PRESETS: dict[str, dict[str, Any]] = {
    "mcts_30s": {"seconds_per_decision": 30.0},
    "mcts_10s": {"seconds_per_decision": 10.0},
    "mcts_1s": {"seconds_per_decision": 1.0},
    "mcts_0.5s": {"seconds_per_decision": 0.5},
    "mcts_Cp10_30s": {"seconds_per_decision": 30.0, "exploration": 10.0},
    "mcts_sqrt2_30s": {"seconds_per_decision": 30.0, "selection": "mean_inverse", "exploration": math.sqrt(2)},
    "mcts_cost+real_30s": {"seconds_per_decision": 30.0, "measured": True},
    "mcts_cost+real_1s": {"seconds_per_decision": 1.0, "measured": True},
    "mcts_replay": _REPLAY,
    "mcts_beam": _REPLAY | {"first_beam": 32},
}


@dataclass(frozen=True)
class MCTS(NativeSearch):
    """Monte Carlo tree search with an ensemble of trees that decide together (Haj-Ali et al. 2020).

    Decision by decision, from the output to the inputs: every tree spends its budget on simulations of complete schedules
    below the current root; then the best schedule of all trees decides, and every tree moves its root along, keeping what
    is below. Forced decisions are taken at once.

    With a number of iterations, equal seeds give equal plans for any number of threads. If neither iterations nor seconds
    are given here, a budget given to `plan` is divided among the decisions; without one, each tree makes 100
    iterations per decision.

    Of the plan, `pass_candidates` has one candidate per decision: the schedule that decided it.

    Attributes:
        trees: how many.
        greedy_trees: how many of them simulate greedily with the cost model; the others draw decisions uniformly.
        iterations: simulations per tree and decision; None for no limit.
        seconds_per_decision: wall-clock time per decision, which all trees share: with fewer threads than trees each
            gets a part of it. None for no limit.
        selection: the formula that a tree explores by: a name out of `SELECTIONS`, or parameters. All but "success_rate"
            need positive costs.
        exploration: C_p, the weight of the formula's bonus.
        winner: what decides: the "best" schedule, or the child with the best "average" cost.
        epsilon: probability of a greedy step in the simulations of the other trees where they repeat nothing (the paper
            tried 1/2).
        deviations: in these simulations, how many steps on average do not repeat the decision that the best known schedule
            has at the same depth (after the last-good-reply policy of Drake 2009); the first such schedule is greedy. None
            for the paper's simulations, which repeat nothing.
        draws: where the standard trees take a random child, in the tree and in simulations, of so many random ones it is the
            one that the cost model rates best. 1 for the paper's, which do not ask the model there.
        first_beam: size of a beam whose first pass gives the first schedule. None for no beam.
        first_draws: of so many random schedules the best is the first. 0 for a greedy one where simulations repeat
            schedules, else a random one.
        exploration_by_spread: multiply C_p by the relative standard deviation of the costs below the node.
        exploration_decay: multiply C_p by this factor per level, counted from the first decision.
        widening: exponent; a node visited v times has at most v^widening children. With 1 every decision is tried once
            before the tree grows deeper.
        front_loading: with a budget for the whole search, what is left of it falls with this power of the number of
            decisions left: 1 gives all decisions equal shares, more gives the first ones more.
        tree_memory: bytes for the nodes of all trees. When they are used up, the trees stop growing and simulations go on.
        threads: None for as many as there are usable cores.
        backend: where the trees live: in this process ("threading"), or in processes on a Ray cluster ("ray"), which finds
            the same. There, a process has one thread, or as many as `threads` says, and a CPU for each; Ctrl-C returns what
            was found up to the last decision; and spaces are not searched, but problems.
        workers: these processes; None for as many as the cluster has CPUs for, and trees to fill them.
        measured: not the cost decides, but the run time of each tree's best schedule: they are timed one after another,
            each once, and the plan's schedule is the fastest. Run times come from the `timer` of `plan`, or from the
            `measure` of `solve`.
    """

    trees: int = _DEFAULTS.trees
    greedy_trees: int = _DEFAULTS.greedy_trees
    iterations: int | None = _DEFAULTS.iterations
    seconds_per_decision: float | None = _DEFAULTS.seconds_per_decision
    selection: str | Selection = "mean_cost"
    exploration: float = _DEFAULTS.policy.exploration
    winner: Literal["best", "average"] = _DEFAULTS.winner  # type: ignore[assignment]  # candidates are of a policy
    epsilon: float = _DEFAULTS.epsilon
    deviations: float | None = _DEFAULTS.deviations
    draws: int = _DEFAULTS.draws
    first_beam: int | None = _DEFAULTS.first_beam
    first_draws: int = _DEFAULTS.first_draws
    exploration_by_spread: bool = _DEFAULTS.policy.exploration_by_spread
    exploration_decay: float = _DEFAULTS.policy.exploration_decay
    widening: float = _DEFAULTS.widening
    front_loading: float = _DEFAULTS.front_loading
    tree_memory: int = _DEFAULTS.tree_memory
    threads: int | None = None
    measured: bool = False
    backend: Literal["threading", "ray"] = field(default="threading", repr=False)  # which changes nothing of the plan
    workers: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.backend not in ("threading", "ray"):
            raise InvalidParameter(f"backend={self.backend!r} is unknown; give threading or ray")
        check_present(selection=self.selection, exploration=self.exploration)
        check_at_least(1, workers=self.workers)
        if self.workers is not None and self.backend == "threading":
            raise InvalidParameter(f"workers={self.workers} is for backend='ray'; give threads, or that backend")
        is_name = isinstance(self.selection, str) and self.selection in SELECTIONS
        if not is_name and not isinstance(self.selection, Selection):
            raise InvalidParameter(f"selection={self.selection!r} is unknown; give one of {', '.join(SELECTIONS)}")
        check_number(exploration=self.exploration)
        check_given(bool, measured=self.measured)
        self.options(0)

    @staticmethod
    def presets() -> tuple[str, ...]:
        """Names of the paper's configurations, and of ours for small budgets, "mcts_replay" and "mcts_beam"."""
        return tuple(_PRESETS)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> MCTS:
        """Return a configuration of the paper's Table 1 (and mcts_0.5s, of its Figure 9), or one of ours.

        Args:
            name: one of `presets`, e.g. "mcts_1s".
            changes: parameters that differ.

        Raises:
            InvalidParameter: there is no such preset.
        """
        if name not in _PRESETS:
            raise InvalidParameter(f"There is no preset {name!r}; give one of {', '.join(_PRESETS)}")
        return cls(**(_PRESETS[name] | changes))

    def search(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        timer: Timer | None = None,
    ) -> Plan:
        """Do what `plan` does; see `Agent.search`."""
        if self.backend == "threading":
            return self._search_problem(problem, budget, seed, on_progress, timer)
        from halidegym.agents.spread import TreesOnRay

        on_nodes = dataclasses.replace(self, threads=self.threads or 1)
        with TreesOnRay(functools.partial(on_nodes.options, seed), self.workers) as trees:
            plan = self._search_problem(problem, budget, seed, on_progress, timer, trees)
        return dataclasses.replace(plan, cpu_seconds=plan.cpu_seconds + trees.cpu_seconds)

    def _search_problem(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None,
        timer: Timer | None,
        trees: TreesOnRay | None = None,
    ) -> Plan:
        if not self.measured:
            return self._plan(problem, seed, lambda space: self.run(space, budget, seed, on_progress, None, trees))
        with opened(timer) as clock:

            def measure(state: State) -> float:
                return clock.time(problem, Schedule.from_state(problem, state), cost=state.cost()).median_s

            run_times = RunTimes(measure, budget.measurements)
            plan = self._plan(problem, seed, lambda space: self.run(space, budget, seed, on_progress, run_times, trees))
        return by_run_time(plan, run_times)

    def search_space(
        self,
        space: AnySpace,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        measure: Callable[[Any], float] | None = None,
    ) -> SpaceSolution:
        """Do what `solve` does; see `Agent.search_space`.

        Raises:
            InvalidParameter: the agent is to measure, and there is no `measure`, or one that returns no seconds; or
                `backend` is "ray".
        """
        if self.backend == "ray":
            raise InvalidParameter("backend='ray' searches problems, not spaces; give threading, or call plan")
        if not self.measured:
            return super().search_space(space, budget, seed, on_progress)
        if measure is None:
            raise InvalidParameter("measured=True, but only schedules can be timed; give solve a measure of the states")
        run_times = RunTimes(measure, budget.measurements)
        with interruptible(on_progress) as go_on:
            result = self.run(space, budget, seed, go_on, run_times)
        return fastest_first(self._solution(seed, result), result, run_times)

    def _search(self, space: AnySpace, budget: Budget, seed: int, on_progress: OnProgress | None) -> MctsResult:
        return self.run(space, budget, seed, on_progress)

    def run(
        self,
        space: AnySpace,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        run_times: Callable[[Any, list[int]], float | None] | None = None,
        trees: TreesOnRay | None = None,
    ) -> MctsResult:
        """Search a space.

        Args:
            space: to search.
            budget: of the search.
            seed: of the random numbers.
            on_progress: can end the search.
            run_times: by which the trees decide instead of costs. Called with each state, and its actions, that is the best
                of a tree or decided last: returns seconds, infinite if it fails, None if it was not measured.
            trees: that search a space of schedules; None for trees of this process, whatever the backend.
        """
        is_unlimited = self.iterations is None and self.seconds_per_decision is None and budget.is_unlimited
        agent = dataclasses.replace(self, iterations=_ITERATIONS) if is_unlimited else self
        if trees is None:
            elsewhere = None
        else:
            assert isinstance(space, Space), "other spaces are refused before"
            elsewhere = trees.of(space)
        return mcts(space, agent.options(seed), run_times, elsewhere, **budget.limits, on_progress=on_progress)

    @property
    def measures(self) -> bool:
        """Whether run times decide."""
        return self.measured

    def options(self, seed: int) -> MctsOptions:
        """Return the parameters as the search in C++ takes them."""
        return MctsOptions(
            trees=self.trees,
            greedy_trees=self.greedy_trees,
            epsilon=self.epsilon,
            deviations=self.deviations,
            draws=self.draws,
            first_beam=self.first_beam,
            first_draws=self.first_draws,
            iterations=self.iterations,
            seconds_per_decision=self.seconds_per_decision,
            policy=self._policy(),
            winner=self.winner,
            widening=self.widening,
            front_loading=self.front_loading,
            tree_memory=self.tree_memory,
            threads=usable_cores() if self.threads is None else self.threads,
            seed=seed,
        )

    def _policy(self) -> TreePolicy:
        selection = SELECTIONS[self.selection] if isinstance(self.selection, str) else self.selection
        return TreePolicy(
            value=selection.value,
            bonus=selection.bonus,
            exploration=selection.weight * self.exploration,
            log_factor=selection.log_factor,
            normalized=selection.normalized,
            exploration_by_spread=self.exploration_by_spread,
            exploration_decay=self.exploration_decay,
        )

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return progress_bar(f"Tree search, {problem.name}", 2 * problem.num_nodes, lambda _pass, depth, _: depth)
