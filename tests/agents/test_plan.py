"""Plans as values and as files."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import pickle
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pipelines_for_tests
from halidegym.agents.budget import Budget
from halidegym.agents.plan import Candidate, Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.sources import load_problem
from halidegym.native._core import FormatError, InvalidParameter
from oracle.builder_problem import SSE_AVX2


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=16)


@pytest.fixture(scope="module")
def plan(problem: SchedulingProblem) -> Plan:
    return BeamSearch(beam_size=4).plan(problem, seed=5)


def test_it_is_immutable(plan: Plan) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.cost = 0.0  # type: ignore[misc]


def test_it_can_be_pickled(plan: Plan) -> None:
    assert pickle.loads(pickle.dumps(plan)) == plan


@pytest.mark.parametrize(
    "agent",
    [BeamSearch(beam_size=4), BeamSearch(beam_size=4, subtiling=False), BeamSearch(beam_size=2, memory_limit=100)],
    ids=["default", "no subtiling", "memory limit"],
)
def test_it_survives_a_file(agent: BeamSearch, problem: SchedulingProblem, tmp_path: Path) -> None:
    plan = agent.plan(problem)
    plan.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json", problem)
    assert loaded == plan
    assert loaded.schedule.cpp() == plan.schedule.cpp()
    assert json.loads((tmp_path / "plan.json").read_text())["schedule"]["cpp"] == plan.schedule.cpp()


def test_top_lists_the_best_candidates(plan: Plan) -> None:
    assert plan.top(1)[0].actions == plan.actions
    assert plan.top(1000) == plan.candidates
    assert len(plan.top(2)) == min(2, len(plan.candidates))
    assert plan.schedule_of(plan.top(1)[0]) == plan.schedule
    for count in (0, 1.5, None):
        with pytest.raises(InvalidParameter, match=rf"count.*{count}.*give"):
            plan.top(count)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="candidate=3 is a int; give a Candidate"):
        plan.schedule_of(3)  # type: ignore[arg-type]


def test_it_says_what_its_cost_depends_on(plan: Plan, problem: SchedulingProblem) -> None:
    fingerprint = plan.fingerprint
    assert (fingerprint.problem_hash, fingerprint.target, fingerprint.parallelism) == (problem.hash, SSE_AVX2, 16)
    assert fingerprint.weights_hash is not None
    assert fingerprint.weights_hash.startswith("de088dc7")
    assert fingerprint.halide_version.startswith("21.")
    assert (plan.seed, plan.agent) == (5, repr(BeamSearch(beam_size=4)))


def test_in_a_line_it_says_what_people_ask_first(plan: Plan) -> None:
    assert repr(plan) == str(plan)
    assert repr(plan) == (
        f"Plan({plan.fingerprint.problem!r}, cost={plan.cost!r}, evaluations={plan.evaluations}, "
        f"seconds={round(plan.seconds, 3)}, ended_by='finished', seed=5, agent={plan.agent!r})"
    )


def test_a_plan_of_another_problem_is_refused(plan: Plan, problem: SchedulingProblem, tmp_path: Path) -> None:
    plan.save(tmp_path / "plan.json")
    with pytest.raises(InvalidParameter, match="parallelism 16, and the problem given is another one"):
        Plan.load(tmp_path / "plan.json", problem.with_parallelism(4))
    with pytest.raises(InvalidParameter, match="problem is None; give a SchedulingProblem"):
        Plan.load(tmp_path / "plan.json", None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: "[]", "is no plan"),
        (lambda document: "{", "is no plan"),
        (lambda document: json.dumps({**document, "kind": "recipe"}), "is no plan"),
        (lambda document: json.dumps({**document, "version": 99}), "version 99"),
        (lambda document: json.dumps({**document, "version": "5"}), "version '5', which is none"),
        (lambda document: json.dumps({**document, "version": True}), "version True, which is none"),
        (lambda document: json.dumps({**document, "history": {}}), "history={}"),
        (lambda document: json.dumps({**document, "pass_costs": "", "pass_candidates": ""}), "pass_costs=''"),
        (lambda document: json.dumps({**document, "candidates": []}), "incomplete"),
        (lambda document: json.dumps({**document, "ended_by": "magic"}), "incomplete.*magic"),
        (lambda document: json.dumps({**document, "cost": "cheap"}), "damaged.*cost='cheap'"),
        (lambda document: json.dumps({**document, "cost": math.nan}), "damaged.*cost=nan"),
        (
            lambda document: json.dumps({**document, "cost": document["cost"] / 2}),
            "damaged.*is not the one of its schedule",
        ),
        (lambda document: json.dumps({**document, "cost": None}), "damaged.*is not the one of its schedule"),
        (lambda document: json.dumps({**document, "evaluations": -1}), "damaged.*evaluations=-1"),
        (lambda document: json.dumps({**document, "seconds": -1.0}), "damaged.*seconds=-1.0"),
        (lambda document: json.dumps({**document, "run_time": math.inf}), "damaged.*run_time=inf"),
        (lambda document: json.dumps({**document, "seconds": math.inf}), "damaged.*seconds=inf"),
        (lambda document: json.dumps({**document, "pass_costs": []}), "damaged.*0 pass_costs are not those of"),
        (lambda document: json.dumps({**document, "pass_costs": [math.nan]}), "damaged.*cost_of_pass=nan"),
        (lambda document: json.dumps({**document, "pass_costs": [-1.0]}), "damaged.*cost_of_pass=-1.0"),
        (lambda document: changed_within(document, "candidates", cost=math.inf), "damaged.*cost_of_candidate=inf"),
        (lambda document: changed_within(document, "pass_candidates", actions=[]), "damaged.*has 0 decisions"),
        (lambda document: changed_within(document, "pass_candidates", actions=[0]), "damaged.*has 1 decisions"),
        (lambda document: changed_within(document, "history", cost=0.0), "damaged.*cost_in_history=0.0"),
        (lambda document: changed_within(document, "history", seconds=math.inf), "damaged.*seconds_in_history=inf"),
        (lambda document: changed_within(document, "history", evaluations=-3), "damaged.*evaluations_in_history=-3"),
        (lambda document: changed_within(document, "history", expansions=-1), "damaged.*expansions_in_history=-1"),
        (
            lambda document: json.dumps({**document, "fingerprint": {**document["fingerprint"], "parallelism": 3}}),
            "damaged.*parallelism=3 of its fingerprint",
        ),
        (lambda document: json.dumps({**document, "rules": {"subtiling": 3}}), "damaged.*subtiling=3"),
        (lambda document: json.dumps({**document, "candidates": [{"cost": 1.0, "actions": [10**6]}]}), "damaged"),
        (lambda document: "[" * 100_000, "is no plan"),
        (lambda document: json.dumps({k: v for k, v in document.items() if k != "history"}), "incomplete"),
    ],
)
def test_damaged_files_are_refused(
    change: object, message: str, plan: Plan, problem: SchedulingProblem, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    plan.save(path)
    path.write_text(change(json.loads(path.read_text())))  # type: ignore[operator]
    with pytest.raises(FormatError, match=message):
        Plan.load(path, problem)


def changed_within(document: dict[str, Any], name: str, **changes: Any) -> str:
    """The document with something else in the last entry of one of its lists."""
    *others, last = document[name]
    return json.dumps({**document, name: [*others, {**last, **changes}]})


@pytest.mark.parametrize(("interrupted", "ended_by"), [(True, "budget"), (False, "finished")])
def test_files_of_the_first_version_are_read(
    interrupted: bool, ended_by: str, plan: Plan, problem: SchedulingProblem, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    plan.save(path)
    document = json.loads(path.read_text())
    del document["ended_by"], document["distinct_evaluations"], document["forwards"], document["budget"]
    path.write_text(json.dumps({**document, "version": 1, "interrupted": interrupted}))
    loaded = Plan.load(path, problem)
    changes = {"ended_by": ended_by, "distinct_evaluations": plan.evaluations, "budget": None}
    assert loaded == dataclasses.replace(plan, **changes)


def test_files_of_the_second_version_are_read(plan: Plan, problem: SchedulingProblem, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan.save(path)
    document = json.loads(path.read_text())
    del document["distinct_evaluations"], document["forwards"], document["budget"]
    path.write_text(json.dumps({**document, "version": 2}))
    assert Plan.load(path, problem) == dataclasses.replace(plan, distinct_evaluations=plan.evaluations, budget=None)


def test_files_of_the_third_version_are_read(plan: Plan, problem: SchedulingProblem, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan.save(path)
    document = json.loads(path.read_text())
    del document["forwards"], document["budget"]
    path.write_text(json.dumps({**document, "version": 3}))
    assert Plan.load(path, problem) == dataclasses.replace(plan, budget=None)


def test_the_budget_is_on_record(problem: SchedulingProblem, tmp_path: Path) -> None:
    plan = RandomSearch().plan(problem, evaluations=np.int64(30), seconds=np.float32(60))  # type: ignore[arg-type]
    assert plan.budget == Budget(seconds=60.0, evaluations=30)
    assert plan.budget.words == "60 seconds, 30 evaluations"
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json", problem).budget == plan.budget
    document = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps({**document, "budget": {"evaluations": 0}}))
    with pytest.raises(FormatError, match="evaluations=0"):
        Plan.load(tmp_path / "plan.json", problem)


def test_forwards_are_kept(plan: Plan, problem: SchedulingProblem, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    learned = dataclasses.replace(plan, forwards=7)
    learned.save(path)
    assert Plan.load(path, problem) == learned


def test_a_missing_file_is_named(problem: SchedulingProblem, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"absent\.json: No such file"):
        Plan.load(tmp_path / "absent.json", problem)


class Forgetful(BeamSearch):
    """An agent whose author forgot the last line of its search."""

    def search(self, *_arguments: Any) -> Plan:
        return None  # type: ignore[return-value]


def test_an_agent_that_returns_none_is_named(problem: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter, match=r"Forgetful\.search returned None; let it return the Plan"):
        Forgetful().plan(problem)


def test_numbers_of_numpy_can_be_saved(plan: Plan, problem: SchedulingProblem, tmp_path: Path) -> None:
    """As an agent of one's own has them: actions are drawn by its generators, or are an `argmin`."""
    candidates = tuple(dataclasses.replace(c, actions=tuple(np.array(c.actions))) for c in plan.candidates)
    of_numpy = dataclasses.replace(
        plan, candidates=candidates, evaluations=np.int64(plan.evaluations or 0), cost=np.float64(plan.cost or 0)
    )
    of_numpy.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json", problem) == plan


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"candidates": ()}, "it has no candidates"),
        ({"cost": 1e9}, "cost=1000000000.0 is not the one of its schedule"),
        ({"evaluations": -1}, "evaluations=-1"),
        ({"pass_costs": (1.0,)}, "1 pass_costs are not those of 5 pass_candidates"),
        ({"seconds": math.nan}, "seconds=nan"),
        ({"ended_by": "boredom"}, "ended_by='boredom'"),
        ({"history": (object(),)}, "dataclass"),
        ({"agent": "\udcff"}, "agent="),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(
    changes: dict[str, Any], reason: str, plan: Plan, problem: SchedulingProblem, tmp_path: Path
) -> None:
    broken = dataclasses.replace(plan, **changes)
    with pytest.raises(InvalidParameter, match=f"could not be loaded again: .*{re.escape(reason)}"):
        broken.save(tmp_path / "plan.json")
    assert not (tmp_path / "plan.json").exists()


def test_the_schedule_is_that_of_the_first_candidate(problem: SchedulingProblem, tmp_path: Path) -> None:
    plan = RandomSearch(num_schedules=8).plan(problem)
    other = next(each for each in plan.candidates if plan.schedule_of(each) != plan.schedule)
    broken = dataclasses.replace(plan, candidates=(dataclasses.replace(other, cost=plan.candidates[0].cost),))
    with pytest.raises(InvalidParameter, match="not that of its first candidate"):
        broken.save(tmp_path / "plan.json")


_COUNTS = st.none() | st.integers(-1, 2**64)
_COSTS = st.floats(allow_subnormal=False) | st.integers(1, 3)


@settings(max_examples=100, deadline=None)
@given(
    counts=st.fixed_dictionaries(dict.fromkeys(("evaluations", "expansions", "measurements"), _COUNTS)),
    cost=_COSTS,
    pass_costs=st.lists(_COSTS, max_size=2),
    seconds=st.floats(),
    agent=st.text(),
    seed=st.integers(-1, 2**64),
)
def test_what_is_saved_is_loaded(
    counts: dict[str, Any], cost: float, pass_costs: list[float], seconds: float, agent: str, seed: int
) -> None:
    problem = load_problem("toy_pointwise", parallelism=2)
    found = Greedy().plan(problem)
    best = Candidate(cost, found.actions)
    plan = dataclasses.replace(
        found, candidates=(best,), cost=cost, pass_costs=tuple(pass_costs), pass_candidates=(best,) * len(pass_costs),
        seconds=seconds, agent=agent, seed=seed, **counts,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(InvalidParameter):
        plan.save(f"{folder}/plan.json")
        assert Plan.load(f"{folder}/plan.json", problem) == plan


def test_a_seed_of_numpy_is_an_integer(problem: SchedulingProblem, tmp_path: Path) -> None:
    plan = RandomSearch(num_schedules=2).plan(problem, seed=np.int64(3))  # type: ignore[arg-type]
    assert type(plan.seed) is int
    plan.save(tmp_path / "plan.json")


@pytest.mark.parametrize(("seconds", "reason"), [(0, "allows nothing"), (math.inf, "limits nothing")])
def test_seconds_that_are_no_budget_are_refused(seconds: float, reason: str) -> None:
    with pytest.raises(InvalidParameter, match=f"seconds={seconds} {reason}; give a positive number, or None"):
        Budget(seconds=seconds)
