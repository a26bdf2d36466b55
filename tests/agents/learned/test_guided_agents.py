"""Agents whose decisions a policy draws, with a policy that has learned nothing."""

from __future__ import annotations

import dataclasses
import math
import os
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halidegym.agents import SGBS, ExhaustiveSearch, GuidedReplay, PolicyAgent, PolicyGuidedMCTS, RandomSearch
from halidegym.agents.learned import policies
from halidegym.agents.learned.guided import GuidedAgent
from halidegym.agents.learned.policies import load_network
from halidegym.agents.learned.policy_file import PolicyFile
from halidegym.envs import pipelines
from halidegym.envs.pipelines import toys
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native._core import (
    FormatError,
    GuidanceOptions,
    GuidedSpace,
    InvalidParameter,
    Policy,
    RolloutSearchOptions,
    SearchExhausted,
    SyntheticTree,
    rollout_search,
)
from oracle.builder_problem import SSE_AVX2

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def blur() -> SchedulingProblem:
    """915 complete schedules."""
    return toys.problem("toy_blur")


@pytest.fixture(scope="module")
def harris() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(
        pipelines.build("harris", size=(160, 128)), target=SSE_AVX2, parallelism=4, name="harris"
    )


@pytest.fixture(
    params=[
        "policy", "temperatures", "shortlist", "several", "replay", "several replay", "mcts", "puct", "several puct",
        "gumbel", "sgbs", "sgbs shortlist", "several sgbs",
    ]
)  # fmt: skip
def agent(request: pytest.FixtureRequest, policy: Path) -> GuidedAgent:
    several = (policy, "default")
    agents: dict[str, GuidedAgent] = {
        "policy": PolicyAgent(policy=policy, samples=20),
        "temperatures": PolicyAgent(policy=policy, samples=20, other_temperature=0.25),
        "shortlist": PolicyAgent(policy=policy, samples=20, shortlist=4),
        "several": PolicyAgent(policy=several, samples=20, shortlist=4, shortlist_share=0.5),
        "replay": GuidedReplay(policy=policy, schedules=60),
        "several replay": GuidedReplay(policy=several, schedules=60),
        "mcts": PolicyGuidedMCTS(policy=policy, evaluations=150),
        "puct": PolicyGuidedMCTS(policy=policy, evaluations=150, selection="puct"),
        "several puct": PolicyGuidedMCTS(policy=several, evaluations=150, selection="puct"),
        "gumbel": PolicyGuidedMCTS(policy=policy, evaluations=150, root="gumbel"),
        "sgbs": SGBS(policy=policy, passes=1),
        "sgbs shortlist": SGBS(policy=policy, passes=1, shortlist=4),
        "several sgbs": SGBS(policy=several, passes=1),
    }
    return agents[str(request.param)]


def test_a_plan_is_legal_and_repeatable(agent: GuidedAgent, harris: SchedulingProblem) -> None:
    plan = agent.plan(harris, seed=3)
    again = agent.plan(harris, seed=3)
    assert plan.actions == again.actions
    assert (plan.evaluations, plan.forwards) == (again.evaluations, again.forwards)
    state = Rules().space(harris).initial_state()
    for action in plan.actions:
        state = state.expand().child(action)
    assert state.is_complete
    assert state.cost() == plan.cost
    assert plan.forwards > 0


def test_another_seed_draws_other_schedules(policy: Path, harris: SchedulingProblem) -> None:
    agent = PolicyAgent(policy=policy, samples=3)
    assert len({agent.plan(harris, seed=seed).actions for seed in range(4)}) > 1


def test_a_blind_policy_evaluates_complete_schedules_only(policy: Path, harris: SchedulingProblem) -> None:
    plan = PolicyAgent(policy=policy, samples=17).plan(harris)
    assert plan.evaluations == 17
    one = PolicyAgent(policy=policy, samples=1, temperature=0).plan(harris)
    assert one.evaluations == 1
    # One forward a state that leaves a choice: at most two decisions a Func.
    assert 0 < one.forwards <= 2 * harris.num_nodes


def test_a_shortlist_pays_for_the_children_that_it_reads(policy: Path, harris: SchedulingProblem) -> None:
    blind = PolicyAgent(policy=policy, samples=1, temperature=0).plan(harris)
    listed = PolicyAgent(policy=policy, samples=1, temperature=0, shortlist=4).plan(harris)
    read = listed.evaluations - 1
    assert 0 < read <= 4 * listed.forwards / 2
    assert listed.forwards <= 2 * max(blind.forwards, 2 * harris.num_nodes)


def test_a_share_of_the_schedules_reads_children_at_every_decision(policy: Path, harris: SchedulingProblem) -> None:
    agent = PolicyAgent(policy=policy, samples=1, shortlist=4, shortlist_share=0.5)
    forwards_of_a_choice = Counter[float]()
    for seed in range(20):
        plan = agent.plan(harris, seed=seed)
        state = Rules().space(harris).initial_state()
        choices = 0
        for action in plan.actions:
            expansion = state.expand()
            choices += len(expansion) > 1
            state = expansion.child(action)
        forwards_of_a_choice[plan.forwards / choices] += 1
        assert (plan.forwards == choices) == (plan.evaluations == 1)
    assert set(forwards_of_a_choice) == {1, 2}  # the blind head alone, or both
    assert min(forwards_of_a_choice.values()) >= 4


def test_the_favourites_do_not_depend_on_the_seed(policy: Path, harris: SchedulingProblem) -> None:
    agent = PolicyAgent(policy=policy, samples=1, temperature=0)
    assert len({agent.plan(harris, seed=seed).actions for seed in range(3)}) == 1


@pytest.mark.parametrize("agent", [PolicyAgent(samples=None), GuidedReplay()])
def test_no_schedule_is_rated_twice_and_the_search_ends_when_none_is_new(agent: GuidedAgent) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines.build("toy_pointwise"), target=SSE_AVX2, parallelism=4)
    every = ExhaustiveSearch().plan(problem)
    plan = agent.plan(problem, seconds=1000)
    assert plan.ended_by == "finished"
    assert plan.evaluations <= every.evaluations
    assert plan.cost == every.cost


def test_what_is_remembered_changes_nothing_but_the_forwards(policy: Path, harris: SchedulingProblem) -> None:
    space = Rules().space(harris)
    one, other_policy = (Policy(load_network(name), space) for name in (policy, "default"))
    for of, shortlist, other in (
        (one, 0, None), (one, 4, None), (one, 0, 0.25), (one, 4, 0.25), ([one, other_policy], 4, 0.25),
    ):  # fmt: skip
        found = []
        for memory in (0, 1 << 30):
            options = GuidanceOptions(shortlist=shortlist, memory=memory, other_temperature=other)
            guided = GuidedSpace(space, of, options)
            found.append(rollout_search(guided, RolloutSearchOptions(rollouts=30, deviations=2.0)))
        forgetful, mindful = found
        assert [s.actions for s in forgetful.solutions] == [s.actions for s in mindful.solutions]
        assert forgetful.forwards > mindful.forwards


def test_decisions_are_drawn_with_the_policy_s_probabilities(policy: Path, blur: SchedulingProblem) -> None:
    space = Rules().space(blur)
    network = Policy(load_network(policy), space)
    state = space.initial_state()
    while len(state.expand()) == 1:
        state = state.expand().child(0)
    depth = len(state.decisions_made)
    logits = np.asarray(network.blind_logits(state.expand()), np.float64)
    for temperature, other in ((1.0, None), (0.5, None), (1.0, 0.05)):
        each = (temperature, temperature if other is None else other)
        shares = np.exp([(logits - logits.max()) / of_a_half for of_a_half in each])
        expected = (shares / shares.sum(1, keepdims=True)).mean(0)
        draws = 2000
        guided = GuidedSpace(space, network, GuidanceOptions(temperature=temperature, other_temperature=other))
        drawn = Counter(
            rollout_search(guided, RolloutSearchOptions(rollouts=1, seed=seed)).solutions[0].actions[depth]
            for seed in range(draws)
        )
        frequencies = np.array([drawn[i] / draws for i in range(len(logits))])
        # Five standard deviations.
        assert np.all(abs(frequencies - expected) <= 5 * np.sqrt(expected / draws) + 1e-3)


def test_replay_finds_what_is_close_to_the_best(policy: Path, harris: SchedulingProblem) -> None:
    """As many schedules that deviate from the best in two steps are better than fresh ones."""
    ratios = []
    for seed in range(4):
        fresh = PolicyAgent(policy=policy, samples=300).plan(harris, seed=seed)
        near = GuidedReplay(policy=policy, shortlist=0, schedules=300).plan(harris, seed=seed)
        ratios.append(math.log(fresh.cost / near.cost))
    assert sum(ratios) > 0


def test_replay_of_one_schedule_draws_one(policy: Path, harris: SchedulingProblem) -> None:
    for count in (1, 2):
        plan = GuidedReplay(policy=policy, shortlist=0, schedules=count).plan(harris)
        assert (plan.evaluations, plan.ended_by) == (count, "finished")


@pytest.mark.parametrize("budget", [{"evaluations": 40}, {"seconds": 0.02}])
def test_budgets_end_the_search(
    policy: Path, harris: SchedulingProblem, budget: dict[str, float], agent: GuidedAgent
) -> None:
    fields = {field.name for field in dataclasses.fields(agent)}
    endless = {name: None for name in ("samples", "schedules", "passes") if name in fields}
    plan = dataclasses.replace(agent, **endless).plan(harris, **budget)  # type: ignore[arg-type]
    assert plan.ended_by == "budget"
    if "evaluations" in budget:
        assert plan.evaluations < 40 + 8 * 2 * harris.num_nodes


def test_the_seconds_pay_for_what_comes_before_the_search(
    policy: Path, harris: SchedulingProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = GuidedAgent._guided

    def slowly(*arguments: Any) -> GuidedSpace:
        time.sleep(0.3)
        return make(*arguments)

    monkeypatch.setattr(GuidedAgent, "_guided", slowly)
    plan = GuidedReplay(policy=policy, shortlist=0).plan(harris, seconds=0.3)
    assert plan.ended_by == "budget" and plan.evaluations == 1


def test_but_not_for_reading_the_policy(
    policy: Path, harris: SchedulingProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread = tmp_path / "unread.npz"
    unread.write_bytes(policy.read_bytes())
    read = policies.load_policy_file

    def slowly(path: Path) -> PolicyFile:
        time.sleep(0.3)
        return read(path)

    monkeypatch.setattr(policies, "load_policy_file", slowly)
    plan = GuidedReplay(policy=unread, shortlist=0).plan(harris, seconds=0.3)
    assert plan.ended_by == "budget" and plan.evaluations is not None and plan.evaluations > 1


@pytest.mark.parametrize("selection", ["uct", "puct"])
def test_a_tree_that_knows_all_schedules_ends(policy: Path, blur: SchedulingProblem, selection: str) -> None:
    """Exhausted subtrees are closed, so the optimum is found with not much more evaluations than there are schedules."""
    optimum = ExhaustiveSearch().plan(blur)
    agent = PolicyGuidedMCTS(policy=policy, selection=selection, deviations=None, front_loading=1e9)  # type: ignore[arg-type]
    plan = agent.plan(blur, evaluations=20_000)
    assert plan.cost == optimum.cost
    assert plan.evaluations is not None and plan.evaluations < 4000


def test_a_beam_of_one_favourite_is_one_rollout(policy: Path, harris: SchedulingProblem) -> None:
    beam = SGBS(policy=policy, beam_size=1, children=1, sampled=False, passes=1).plan(harris)
    rollout = PolicyAgent(policy=policy, samples=1, temperature=0).plan(harris)
    assert (beam.actions, beam.evaluations) == (rollout.actions, 1)


def test_a_wider_beam_asks_for_more_and_is_no_worse_on_average(policy: Path, harris: SchedulingProblem) -> None:
    narrow = [SGBS(policy=policy, beam_size=1, children=2, passes=1).plan(harris, seed=seed) for seed in range(4)]
    wide = [SGBS(policy=policy, beam_size=4, children=8, passes=1).plan(harris, seed=seed) for seed in range(4)]
    assert all(n.evaluations < w.evaluations for n, w in zip(narrow, wide, strict=True))  # type: ignore[operator]
    assert sum(math.log(n.cost / w.cost) for n, w in zip(narrow, wide, strict=True)) > 0  # type: ignore[operator]


def test_passes_of_a_simulation_guided_beam_go_on_until_the_budget_is_used_up(
    policy: Path, harris: SchedulingProblem
) -> None:
    once = SGBS(policy=policy).plan(harris)
    assert once.ended_by == "finished" and once.evaluations is not None
    longer = SGBS(policy=policy).plan(harris, evaluations=4 * once.evaluations)
    assert longer.ended_by == "budget" and longer.evaluations == 4 * once.evaluations
    assert longer.cost <= once.cost  # type: ignore[operator]


def test_bad_input(policy: Path, tmp_path: Path, blur: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter, match=r"no policy 'nonsense'.*halidegym train"):
        PolicyAgent.load("nonsense")
    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes(policy.read_bytes()[:5000])
    with pytest.raises(FormatError, match="damaged"):
        PolicyAgent.load(damaged)
    with pytest.raises(InvalidParameter, match="temperature"):
        PolicyAgent(policy=policy, temperature=-1)
    for other in (-0.1, math.inf, math.nan):
        with pytest.raises(InvalidParameter, match=r"other_temperature=.* is out of range"):
            PolicyAgent(policy=policy, other_temperature=other)
    with pytest.raises(InvalidParameter, match="shortlist_share"):
        GuidedReplay(policy=policy, shortlist_share=1.5)
    with pytest.raises(InvalidParameter, match="selection='best' is unknown; give one of uct, puct"):
        PolicyGuidedMCTS(policy=policy, selection="best")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="root='bush' is unknown"):
        PolicyGuidedMCTS(policy=policy, root="bush")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="candidates"):
        PolicyGuidedMCTS(policy=policy, candidates=0)
    with pytest.raises(InvalidParameter, match="beam_size"):
        SGBS(policy=policy, beam_size=0)
    with pytest.raises(InvalidParameter, match="children"):
        SGBS(policy=policy, children=0)
    with pytest.raises(InvalidParameter, match="samples"):
        PolicyAgent(policy=policy, samples=0)
    with pytest.raises(InvalidParameter, match="no end of their own"):
        PolicyAgent(policy=policy, samples=None).plan(blur)
    with pytest.raises(InvalidParameter, match="expand no state"):
        PolicyAgent(policy=policy, samples=None).plan(blur, expansions=1)
    tree = SyntheticTree(branching=2, depth=3)
    with pytest.raises(InvalidParameter, match="schedules pipelines only"):
        PolicyAgent(policy=policy).solve(tree)


def test_what_is_no_name_and_no_path_is_no_policy() -> None:
    for policy in (None, 5, b"default"):
        with pytest.raises(InvalidParameter, match="is no policy: give a name"):
            PolicyAgent(policy=policy)  # type: ignore[arg-type]
        with pytest.raises(InvalidParameter, match="is no policy: give a name"):
            GuidedReplay.load(policy)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="free_schedules=0"):
        GuidedReplay(free_schedules=0)


def test_it_draws_until_there_is_a_schedule(policy: Path, harris: SchedulingProblem) -> None:
    for seed in range(8):  # whose first draws mostly end where nothing is legal
        plan = PolicyAgent(policy=policy, samples=1, memory_limit=20_000).plan(harris, seed=seed)
        assert plan.schedule.directives and plan.evaluations == 1
    with pytest.raises(SearchExhausted, match="1000 random walks in a row"):
        PolicyAgent(policy=policy, samples=1, temperature=0, memory_limit=0).plan(harris)


def test_a_file_of_the_same_name_in_another_folder_is_another_policy(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        shutil.copy(policy, folder / "policy.npz")
        os.utime(folder / "policy.npz", (1e9, 1e9))
        monkeypatch.chdir(folder)
        networks.append(load_network("policy.npz"))
    assert networks[0] is not networks[1]
    assert load_network("policy.npz") is networks[1]


def test_a_budget_of_expansions_leaves_replay_its_own_end(policy: Path, blur: SchedulingProblem) -> None:
    agent = GuidedReplay(policy=policy)
    assert agent.plan(blur, expansions=1).actions == agent.plan(blur).actions


def test_a_policy_of_another_problem_is_refused(
    policy: Path, harris: SchedulingProblem, blur: SchedulingProblem
) -> None:
    space, other = Rules().space(harris), Rules().space(blur)
    with pytest.raises(InvalidParameter, match="made for another problem than that of the space"):
        GuidedSpace(space, Policy(load_network(policy), other))
    with pytest.raises(InvalidParameter, match="made for a problem of 3 stages"):
        Policy(load_network(policy), other).value(space.initial_state(), 1.0)


def test_random_search_is_the_undirected_one(harris: SchedulingProblem) -> None:
    """Rollouts of a space without a policy are drawn uniformly."""
    space = Rules().space(harris)
    ours = rollout_search(space, RolloutSearchOptions(rollouts=200))
    theirs = RandomSearch(num_schedules=200).plan(harris)
    assert ours.evaluations == theirs.evaluations == 200
    assert 0.2 < ours.solutions[0].cost / theirs.cost < 5
