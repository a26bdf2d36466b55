"""Monte Carlo tree search as an agent; the algorithm itself is tested in C++ (tests/native/mcts.cpp)."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from halidegym.agents.iterated import IteratedSearch
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mcts import MCTS, SELECTIONS, Selection
from halidegym.agents.spaces import SpaceSolution
from halidegym.envs import pipelines
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.processes import confined
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings
from halidegym.envs.timing.timers import RecordingTimer, Replay, Unrecorded
from halidegym.native._core import InvalidParameter, MctsOptions, SearchExhausted, SyntheticNode, SyntheticTree, mcts
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def blur() -> SchedulingProblem:
    """915 complete schedules."""
    return toys.problem("toy_blur")


@pytest.fixture(scope="module")
def harris() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines.build("harris"), target=SSE_AVX2, parallelism=16, name="harris")


@pytest.mark.parametrize("name", toys.BUILDERS)
def test_it_finds_the_optimum_of_toys(name: str) -> None:
    assert MCTS(iterations=1000).plan(toys.problem(name)).cost == toys.optimum(name).cost


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("winner", ["best", "average"])
def test_every_formula_finds_the_optimum_of_a_tree(selection: str, winner: str) -> None:
    tree = SyntheticTree(branching=3, depth=4, delta=10.0, seed=5)
    agent = MCTS(trees=2, iterations=1000, selection=selection, winner=winner)  # type: ignore[arg-type]
    assert agent.solve(tree).cost == tree.optimum()[0]


@pytest.mark.parametrize(
    "variant",
    [
        {"epsilon": 0.5},
        {"widening": 0.5},
        {"deviations": 2.0},
        {"deviations": 0.5, "epsilon": 0.2, "greedy_trees": 2},
        {"draws": 3},
        {"first_beam": 4},
        {"exploration_by_spread": True},
        {"exploration_decay": 0.8},
        {"exploration": 10.0},
        {"greedy_trees": 3},
        {"greedy_trees": 0},
        {"selection": Selection("mean_cost", "added", log_factor=2.0, weight=0.5, normalized=True)},
        {"subtiling": False},
        {"tree_memory": 1},
    ],
    ids=str,
)
def test_variants(blur: SchedulingProblem, variant: dict[str, object]) -> None:
    agent = MCTS(trees=3, iterations=30, **variant)  # type: ignore[arg-type]
    plan = agent.plan(blur, seed=1)
    rules = Rules(subtiling=agent.subtiling)
    assert plan.cost == min(candidate.cost for candidate in plan.candidates)
    for candidate in plan.candidates:
        state = rules.space(blur).initial_state()
        for action in candidate.actions:
            state = state.apply(action)
        assert state.is_complete
        assert state.cost() == candidate.cost
    assert eval(repr(agent)) == agent == pickle.loads(pickle.dumps(agent))
    plain = MCTS(trees=3, iterations=30)
    if agent.subtiling:
        tree = SyntheticTree(branching=4, depth=6, delta=1.0, seed=2)
        assert searched(agent.solve(tree)) != searched(plain.solve(tree)), "it makes a difference"
    else:
        assert searched(plan) != searched(plain.plan(blur, seed=1))


def searched(found: Plan | SpaceSolution) -> tuple[object, ...]:
    return found.candidates, found.pass_costs, found.evaluations, found.expansions


def test_threads_make_no_difference(harris: SchedulingProblem) -> None:
    plans = [MCTS(trees=5, iterations=8, threads=threads).plan(harris, seed=2) for threads in (1, 2, 5)]
    assert plans[0].candidates == plans[1].candidates == plans[2].candidates
    assert len({plan.evaluations for plan in plans}) == 1
    other = MCTS(trees=5, iterations=8).plan(harris, seed=3)
    assert other.candidates != plans[0].candidates


@pytest.mark.parametrize("seed", range(3))
def test_replaying_makes_small_budgets_go_further(harris: SchedulingProblem, seed: int) -> None:
    replaying = MCTS.preset("mcts_replay").plan(harris, evaluations=3000, seed=seed)
    uniform = MCTS(trees=1, greedy_trees=0).plan(harris, evaluations=3000, seed=seed)
    assert replaying.cost is not None
    assert uniform.cost is not None
    assert replaying.cost < uniform.cost


def test_the_first_schedule_may_come_from_a_beam(harris: SchedulingProblem) -> None:
    first_pass = BeamSearch(beam_size=8).plan(harris).pass_candidates[0]
    plan = MCTS(trees=1, greedy_trees=0, iterations=1, first_beam=8).plan(harris)
    assert plan.cost is not None
    assert plan.cost <= first_pass.cost
    assert first_pass.actions in [candidate.actions for candidate in (*plan.pass_candidates, *plan.candidates)]


def test_a_beam_for_the_first_schedule_shares_the_budget(harris: SchedulingProblem) -> None:
    plan = MCTS(first_beam=32).plan(harris, evaluations=500)
    assert plan.cost is not None
    assert 500 <= plan.evaluations < 5000, "a whole pass takes seven times as many"


def test_the_best_of_many_draws_is_greedy() -> None:
    tree = SyntheticTree(branching=3, depth=8, delta=1.0, seed=4)
    greedy = Greedy().solve(tree).cost
    one, many = (MCTS(trees=1, greedy_trees=0, iterations=1, draws=draws).solve(tree).cost for draws in (1, 64))
    assert many <= greedy < one


def test_which_tree_decides() -> None:
    """Trees do not know of each other before the first decision, so those after the deciding one change nothing."""
    tree = SyntheticTree(branching=4, depth=6, delta=10.0, seed=1)
    for seed in range(20):
        ensemble = mcts(tree, MctsOptions(trees=6, greedy_trees=0, iterations=8, seed=seed))
        assert len(ensemble.deciding_trees) == len(ensemble.pass_solutions)
        decider, cost = ensemble.deciding_trees[0], ensemble.pass_costs[0]
        assert -1 <= decider < 6
        for trees in range(1, 7):
            part = mcts(tree, MctsOptions(trees=trees, greedy_trees=0, iterations=8, seed=seed))
            assert (part.pass_costs[0] == cost) == (part.deciding_trees[0] == decider) == (trees > decider)


def test_more_iterations_are_no_worse(harris: SchedulingProblem) -> None:
    costs = [MCTS(trees=4, greedy_trees=0, iterations=count).plan(harris).cost or 0 for count in (1, 30, 300)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_seconds_per_decision(harris: SchedulingProblem) -> None:
    """At most as much CPU time and at least as much of the clock's, so that it matters little what else the machine does."""
    plan = MCTS(trees=3, seconds_per_decision=0.05, threads=1).plan(harris, seconds=60)
    decisions = len(plan.pass_candidates)
    assert 5 < decisions <= 2 * harris.num_nodes
    assert 0.05 * (decisions - 3) < plan.seconds
    assert plan.cpu_seconds < 0.05 * decisions + 0.4
    assert plan.ended_by == "finished", "not by the budget, of which most is left"


def test_a_budget_is_divided_among_the_decisions(harris: SchedulingProblem) -> None:
    plan = MCTS(trees=4, threads=1).plan(harris, seconds=1.0)
    assert plan.seconds > 0.5
    assert plan.cpu_seconds < 1.4
    assert len(plan.pass_candidates) > 5
    assert plan.ended_by == "budget"
    counted = MCTS(trees=4, greedy_trees=0).plan(harris, evaluations=500)
    assert counted.evaluations is not None
    assert 400 < counted.evaluations <= 504
    assert counted.ended_by == "budget"
    assert counted.candidates == MCTS(trees=4, greedy_trees=0).plan(harris, evaluations=500).candidates


@pytest.mark.parametrize("budget", [{"evaluations": 1}, {"expansions": 1}, {"seconds": 1e-9}], ids=str)
def test_any_budget_leaves_a_schedule(harris: SchedulingProblem, budget: dict[str, float]) -> None:
    plan = MCTS(trees=2, iterations=1000).plan(harris, **budget)  # type: ignore[arg-type]
    assert plan.ended_by == "budget"
    assert plan.schedule_of(plan.top(1)[0]) == plan.schedule


def test_costs_improve_along_the_history(harris: SchedulingProblem) -> None:
    plan = MCTS(trees=4, iterations=20).plan(harris)
    costs = [improvement.cost for improvement in plan.history]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == plan.cost == min(candidate.cost for candidate in plan.candidates)


@dataclasses.dataclass
class MadeUp:
    """A timer that knows the run time of a schedule from a function."""

    seconds: Callable[[Schedule], float]
    measured: list[Schedule] = dataclasses.field(default_factory=list)

    def time(self, _problem: SchedulingProblem, schedule: Schedule, *, cost: float | None = None) -> Timing:
        assert cost is not None
        self.measured.append(schedule)
        seconds = self.seconds(schedule)
        return Timing("ok", (seconds,), 0.0) if math.isfinite(seconds) else Timing("crash", (), 0.0, "made up")

    def compare(self, *_: object, **__: object) -> Comparison:
        raise NotImplementedError

    def close(self) -> None:
        pass


def test_the_fastest_candidate_wins(blur: SchedulingProblem) -> None:
    """Run times that prefer long schedules to cheap ones, each asked for once."""
    timer = MadeUp(lambda schedule: 1e6 - len(schedule.loop_nest()))
    plan = MCTS(trees=4, iterations=5, measured=True).plan(blur, timer=timer)
    nests = [schedule.loop_nest() for schedule in timer.measured]
    assert len(nests) == len(set(nests)) > 1
    assert len(plan.loop_nest) == max(map(len, nests))
    assert (plan.run_time, plan.measurements) == (1e6 - len(plan.loop_nest), len(nests))
    assert plan.candidates[0].cost == plan.cost
    assert plan.schedule_of(plan.candidates[0]) == plan.schedule


def test_measurements_are_a_budget(blur: SchedulingProblem) -> None:
    timer = MadeUp(lambda _: math.inf)
    plan = MCTS(trees=4, iterations=5, measured=True).plan(blur, measurements=3, timer=timer)
    assert len(timer.measured) == plan.measurements == 3
    assert plan.run_time is None
    assert plan.cost == min(candidate.cost for candidate in plan.candidates)


def test_ctrl_c_in_a_measurement_returns_the_best_so_far(blur: SchedulingProblem) -> None:
    def interrupt(_schedule: Schedule) -> float:
        raise KeyboardInterrupt

    plan = MCTS(trees=2, iterations=5, measured=True).plan(blur, timer=MadeUp(interrupt))
    assert plan.ended_by == "interrupt"


def test_errors_of_a_measurement_arrive(blur: SchedulingProblem) -> None:
    def fail(_schedule: Schedule) -> float:
        raise RuntimeError("no stopwatch")

    with pytest.raises(RuntimeError, match="no stopwatch"):
        MCTS(trees=2, iterations=5, measured=True).plan(blur, timer=MadeUp(fail))


def test_what_it_measured_can_be_replayed(
    blur: SchedulingProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = MCTS(trees=2, iterations=3, greedy_trees=0, measured=True)
    settings = TimingSettings(threads=1, time_limit_s=0.01, patience_s=0.01)
    with closing(RecordingTimer(tmp_path / "timings.db", settings)) as timer:
        live = agent.plan(blur, timer=timer, seed=3)
    assert live.run_time is not None
    assert (live.measurements or 0) > 1

    # No compiler, no clock: no process at all.
    monkeypatch.setattr(confined, "RUNNER", "/nonexistent")
    record = Replay(tmp_path / "timings.db")
    replayed = agent.plan(blur, timer=record, seed=3)
    assert outcome(replayed) == outcome(live)
    iterated = IteratedSearch(agent, rounds=1).plan(blur, timer=record, seed=3)
    assert iterated.actions == live.actions
    with pytest.raises(Unrecorded, match="no measurement"):
        agent.plan(blur, timer=record, seed=4)
    estimates = Replay(tmp_path / "timings.db", missing="cost_model")
    assert agent.plan(blur, timer=estimates, seed=4).run_time is not None


def outcome(plan: Plan) -> Plan:
    """A plan without what its own search took."""
    return dataclasses.replace(plan, seconds=0.0, cpu_seconds=0.0, history=())


def test_states_of_other_spaces_are_measured_by_a_function() -> None:
    tree = SyntheticTree(branching=2, depth=3, delta=1.0, seed=0)
    agent = MCTS(trees=2, iterations=50, measured=True)
    measured: list[float] = []

    def measure(node: SyntheticNode) -> float:
        measured.append(node.path_cost)
        return -node.path_cost

    agent.solve(tree, measure=measure)
    assert len(measured) > 1
    limited = list(measured)
    measured.clear()
    agent.solve(tree, measure=measure, measurements=1)
    assert measured == limited[:1]
    with pytest.raises(InvalidParameter, match="measure"):
        agent.solve(tree)
    for wrong in (None, "fast", True, math.nan):
        with pytest.raises(InvalidParameter, match=f"measure returned {wrong!r}; return seconds"):
            agent.solve(tree, measure=lambda node, wrong=wrong: wrong)  # type: ignore[misc]


@pytest.mark.parametrize("seed", range(3))
def test_the_fastest_state_of_another_space_wins(seed: int) -> None:
    tree = SyntheticTree(branching=2, depth=4, delta=1.0, seed=seed)
    agent = MCTS(trees=4, greedy_trees=1, iterations=20, measured=True, threads=1)
    seconds: dict[float, float] = {}

    def measure(node: SyntheticNode) -> float:
        return seconds.setdefault(node.path_cost, 1 / node.path_cost)  # the dearest is the fastest

    found = agent.solve(tree, measure=measure, seed=seed)
    assert seconds[found.cost] == min(seconds.values())
    assert found.cost == found.candidates[0].cost == found.state.path_cost > min(seconds)
    state = tree.root()
    for action in found.actions:
        state = tree.apply(state, action)
    assert state == found.state
    assert len({candidate.actions for candidate in found.candidates}) == len(found.candidates)
    failing = agent.solve(tree, measure=lambda node: math.inf, seed=seed)
    assert failing.cost == min(candidate.cost for candidate in failing.candidates)


def test_presets() -> None:
    assert MCTS.preset("mcts_1s") == MCTS(seconds_per_decision=1.0)
    assert MCTS.preset("mcts_Cp10_30s", seconds_per_decision=2.0) == MCTS(seconds_per_decision=2.0, exploration=10.0)
    assert MCTS.preset("mcts_sqrt2_30s").exploration == pytest.approx(math.sqrt(2))
    assert MCTS.preset("mcts_cost+real_1s") == MCTS(seconds_per_decision=1.0, measured=True)
    assert MCTS.preset("mcts_replay").trees == 1
    assert MCTS.preset("mcts_beam") == MCTS.preset("mcts_replay", first_beam=32)
    papers = set(MCTS.presets()) - {"mcts_replay", "mcts_beam"}
    assert len(papers) == 8
    for name in papers:
        agent = MCTS.preset(name)
        assert (agent.trees, agent.greedy_trees, agent.winner, agent.iterations) == (16, 1, "best", None)
    with pytest.raises(InvalidParameter, match=r"no preset 'mcts_2s'.*mcts_1s"):
        MCTS.preset("mcts_2s")


@pytest.mark.parametrize(
    "parameters",
    [
        {"trees": 0},
        {"greedy_trees": 17},
        {"iterations": 0},
        {"seconds_per_decision": 0.0},
        {"selection": "ucb2"},
        {"winner": "worst"},
        {"epsilon": 1.5},
        {"deviations": 0.0},
        {"draws": 0},
        {"first_beam": 0},
        {"front_loading": 0.0},
        {"exploration": -1.0},
        {"exploration_decay": 0.0},
        {"widening": 0.0},
        {"tree_memory": 0},
        {"threads": 0},
    ],
    ids=str,
)
def test_parameters_are_checked(parameters: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(parameters))):
        MCTS(**parameters)  # type: ignore[arg-type]


def test_a_problem_without_legal_schedules_is_an_error(harris: SchedulingProblem) -> None:
    with pytest.raises(SearchExhausted, match="memory_limit"):
        MCTS(iterations=1, memory_limit=0).plan(harris)


def test_it_searches_what_is_not_exhausted(blur: SchedulingProblem) -> None:
    """Once every schedule is known the search ends, however many iterations are left."""
    plan = MCTS(trees=1, greedy_trees=0, iterations=10**9).plan(blur)
    assert plan.cost == ExhaustiveSearch().plan(blur).cost
