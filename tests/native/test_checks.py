"""Arguments of the wrong type or size are refused before they reach the core, by the same words on all floors."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import gymnasium as gym
import halide as hl
import numpy as np
import pytest

from halidegym import (
    Schedule,
    SchedulingProblem,
    Stopwatch,
    TimingSettings,
    compare_schedules,
    pipelines,
    time_schedule,
)
from halidegym.agents import MCTS, TAG, Autotune, BeamSearch, Greedy, IteratedSearch, RandomSearch
from halidegym.agents.learned.policies import load_policy
from halidegym.agents.learned.policy_file import load_policy_file
from halidegym.agents.plan import Plan, recorded_fingerprint
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.envs.timing.database import TimingDatabase
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.records import texts_of
from halidegym.envs.views import draw_nest, outline
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import check_at_least, check_kind, check_number, check_positive, check_seed, shown
from halidegym.native.weights import builtin_weights, load_weights, save_weights
from halidegym.training.measured.collection import MeasuredCollection


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines.build("toy_blur"), parallelism=4)


def blur(**arguments: Any) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines.build("toy_blur"), **arguments)


def env(**arguments: Any) -> gym.Env[Any, Any]:
    return cast(gym.Env[Any, Any], gym.make("HalideSchedule-v0", **{"pipeline": "toy_blur", **arguments}))


CASES: dict[str, Callable[[SchedulingProblem], object]] = {
    "parallelism='4'": lambda _: env(pipeline="resnet_50/b0", parallelism="4"),
    "parallelism=4.0": lambda _: blur(parallelism=4.0),
    "parallelism=True": lambda _: blur(parallelism=True),
    "parallelism=10000000000000000000": lambda _: blur(parallelism=10**19),
    "parallelism='2'": lambda problem: problem.with_parallelism("2"),  # type: ignore[arg-type]
    "parallelism is None": lambda problem: problem.with_parallelism(None),  # type: ignore[arg-type]
    "estimates=[1]": lambda _: blur(estimates=[1]),
    "pipeline=''": lambda _: SchedulingProblem.from_pipeline(""),
    "data=3 is a int": lambda _: SchedulingProblem.from_bytes(3),  # type: ignore[arg-type]
    "state='s' is a str": lambda problem: Schedule.from_state(problem, "s"),  # type: ignore[arg-type]
    "problem='p' is a str": lambda _: Rules().space("p"),  # type: ignore[arg-type]
    "problem is None": lambda _: time_schedule(None, None),  # type: ignore[arg-type]
    "problem=3 is a int": lambda _: Stopwatch().time(3, None),  # type: ignore[arg-type]
    "problem=4 is a int": lambda _: Stopwatch().run(4, None),  # type: ignore[arg-type]
    "n is None": lambda _: TransformPlan(None, "codelet 1"),  # type: ignore[arg-type]
    "nest=State(": lambda problem: draw_nest(Rules().space(problem).initial_state(), "t"),  # type: ignore[arg-type]
    "state=SchedulingProblem(": lambda problem: outline(problem),  # type: ignore[arg-type]
    "name=3": lambda _: blur(name=3),
    r"name='\udcff'": lambda _: blur(name="\udcff"),
    r"target='\udcff'": lambda _: blur(target="\udcff"),
    r"target='\ud800'": lambda problem: env(pipeline=problem, target="\ud800"),
    r"target='\udcfe'": lambda _: load_problem(
        pipelines.build("toy_blur"), target="\udcfe", example_inputs={"input": (64, 64)}
    ),
    r"text='\udcff'": lambda _: TransformPlan(8, "\udcff"),
    r"plan='\udcff'": lambda _: texts_of(["\udcff"]),
    "beam_size=1000000000": lambda problem: BeamSearch(beam_size=10**30).plan(problem),
    "passes=2.5": lambda _: BeamSearch(passes=2.5),  # type: ignore[arg-type]
    "random_dropout=101": lambda _: Greedy(random_dropout=101),
    "num_schedules='9'": lambda _: RandomSearch(num_schedules="9"),  # type: ignore[arg-type]
    "exploration='much'": lambda _: MCTS(exploration="much"),  # type: ignore[arg-type]
    "epsilon=1.5": lambda _: MCTS(epsilon=1.5),
    "widening=nan": lambda _: MCTS(widening=math.nan),
    "delta=None": lambda _: TAG(delta="None"),  # type: ignore[arg-type]
    "evaluations=1180591620717411303424": lambda problem: Greedy().plan(problem, evaluations=2**70),
    "evaluations=10.0": lambda problem: Greedy().plan(problem, evaluations=10.0),  # type: ignore[arg-type]
    "seconds='3'": lambda problem: Greedy().plan(problem, seconds="3"),  # type: ignore[arg-type]
    "seconds=-1": lambda problem: Greedy().plan(problem, seconds=-1),
    "seed='x'": lambda problem: Greedy().plan(problem, seed="x"),  # type: ignore[arg-type]
    "max_decisions='64'": lambda _: env(max_decisions="64"),
    "max_decisions=2147483648": lambda _: env(max_decisions=2**31),
    "max_stages=0": lambda _: env(max_stages=0),
    "memory_limit='1GB'": lambda _: env(memory_limit="1GB"),
    "memory_limit=-1": lambda _: Rules(memory_limit=-1),
    "max_recompute=0.5": lambda _: env(max_recompute=0.5),
    "max_recompute='8'": lambda _: Rules(max_recompute="8"),  # type: ignore[arg-type]
    "max_recompute=nan": lambda _: Greedy(max_recompute=math.nan),
    "max_recompute=9999": lambda _: Rules(max_recompute=10**400 - 1),
    "subtiling='no'": lambda _: env(subtiling="no"),
    "skip_forced=2": lambda _: env(skip_forced=2),
    "pipeline_options=3": lambda _: env(pipeline_options=3),
    "problem='harris'": lambda _: time_schedule("harris", None),  # type: ignore[arg-type]
    "threads='2'": lambda problem: time_schedule(problem, None, threads="2"),  # type: ignore[arg-type]
    "rounds=0": lambda problem: compare_schedules(problem, None, None, rounds=0),
    "time_limit_s='1'": lambda _: TimingSettings(time_limit_s="1"),  # type: ignore[arg-type]
    "patience_s=-1": lambda _: TimingSettings(patience_s=-1),
    "verify=1": lambda _: TimingSettings(verify=1),  # type: ignore[arg-type]
    "copy is None": lambda _: env(copy=None),
    "skip_forced is None": lambda _: env(skip_forced=None),
    "child_features is None": lambda _: env(child_features=None),
    "subtiling is None": lambda _: BeamSearch(subtiling=None),  # type: ignore[arg-type]
    "max_decisions is None": lambda _: env(max_decisions=None),
    "max_stages is None": lambda _: env(max_stages=None),
    "num_envs is None": lambda _: gym.make_vec("HalideSchedule-v0", num_envs=cast(int, None), pipeline="toy_blur"),
    "threads is None": lambda _: gym.make_vec("HalideSchedule-v0", pipeline="toy_blur", threads=None),
    "group_size is None": lambda _: gym.make_vec("HalideSchedule-v0", pipeline="toy_blur", group_size=None),
    "branching is None": lambda _: gym.make("SyntheticTree-v0", branching=None),
    "estimates is None": lambda _: gym.make("TransformPlan-v0", estimates=None),
    "context is None": lambda _: gym.make("TransformPlan-v0", context=None),
    "selection is None": lambda _: MCTS(selection=None),  # type: ignore[arg-type]
    "exploration is None": lambda _: MCTS(exploration=None),  # type: ignore[arg-type]
    "measured is None": lambda _: MCTS(measured=None),  # type: ignore[arg-type]
    "batch is None": lambda _: Autotune(batch=None),  # type: ignore[arg-type]
    "retrain is None": lambda _: Autotune(retrain=None),  # type: ignore[arg-type]
    "seed is None": lambda _: TimingSettings(seed=None),  # type: ignore[arg-type]
    "timer='timings.db'": lambda problem: Greedy().plan(problem, timer="timings.db"),  # type: ignore[arg-type]
    "parallelisms=4": lambda _: Autotune(parallelisms=4),  # type: ignore[arg-type]
    "each of parallelisms='4'": lambda _: Autotune(parallelisms=(1, "4")),  # type: ignore[arg-type]
    "each of parallelisms=2147483648": lambda _: Autotune(parallelisms=(2**31,)),
    "each of parallelisms=0": lambda _: IteratedSearch(Greedy(), measured=2, parallelisms=(0,)),
    "cpus=0": lambda _: TimingSettings(cpus=0),  # type: ignore[arg-type]
    "each of cpus=0.0": lambda _: TimingSettings(cpus=(0.0,)),  # type: ignore[arg-type]
    "tolerance=inf": lambda _: TimingSettings(tolerance=math.inf),
    "compilers=0": lambda _: Stopwatch(compilers=0),
    "compilers=100000000000": lambda _: Stopwatch(compilers=10**11),
    "inputs=3": lambda _: Stopwatch(inputs=3),  # type: ignore[arg-type]
    "schedule='beam'": lambda problem: time_schedule(problem, "beam"),  # type: ignore[arg-type]
    "kernels=3": lambda _: Stopwatch(kernels=3),  # type: ignore[arg-type]
    "cpus is None": lambda _: TimingSettings(cpus=None),  # type: ignore[arg-type]
}


def use_database(use: Callable[[TimingDatabase], object]) -> None:
    with TimingDatabase("timings.db") as database:
        use(database)


PATHS: dict[str, Callable[[SchedulingProblem, Any], object]] = {
    "save problem": lambda problem, path: problem.save(path),
    "load problem": lambda _, path: SchedulingProblem.load(path),
    "save plan": lambda problem, path: Greedy().plan(problem).save(path),
    "load plan": lambda problem, path: Plan.load(path, problem),
    "fingerprint": lambda _, path: recorded_fingerprint(path),
    "save policy": lambda _, path: load_policy("default").save(path),
    "load policy": lambda _, path: load_policy_file(path),
    "save weights": lambda _, path: save_weights(builtin_weights(), path),
    "load weights": lambda _, path: load_weights(path),
    "export": lambda _, path: use_database(lambda database: database.export(path)),
    "import": lambda _, path: use_database(lambda database: database.import_(path)),
    "load collection": lambda _, path: MeasuredCollection.load(path),
}


@pytest.mark.parametrize("path", [None, 3, ["a"], b"a"])
@pytest.mark.parametrize("use", PATHS)
def test_what_is_no_path_is_named(
    use: str, path: object, problem: SchedulingProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameter) as error:
        PATHS[use](problem, path)
    assert str(error.value) == f"path={path!r} is no path; give a str or a pathlib.Path"


@pytest.mark.parametrize("named", CASES)
def test_what_does_not_fit_is_named(named: str, problem: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter) as error:
        CASES[named](problem)
    message = str(error.value)
    assert message.replace("'None'", "None").startswith(named), message
    assert "; give " in message or "; it must be " in message
    assert len(message) < 200


def test_integers_and_numbers_of_numpy_fit(problem: SchedulingProblem) -> None:
    assert Autotune(parallelisms=np.array([2, 4])) == Autotune(parallelisms=(2, 4))  # type: ignore[arg-type]
    check_at_least(1, parameter=np.int64(3))
    check_positive(parameter=np.float32(0.5))
    assert blur(parallelism=np.int64(4)) == problem
    assert Greedy().plan(problem, seed=cast(int, np.int64(0))).cost == Greedy().plan(problem).cost


@pytest.mark.parametrize("other", [hl.Target("host"), np.zeros(3), 3])
def test_what_is_no_pipeline_is_named(other: object) -> None:
    with pytest.raises(InvalidParameter, match=r"A pipeline is a halide\.Func, .*; not an object of type") as error:
        load_problem(other)  # type: ignore[arg-type]
    assert isinstance(error.value, TypeError)


def test_ranges() -> None:
    check_at_least(1, 2, one=1, two=2, none=None)
    check_number(0, 1, zero=0, one=1.0, none=None)
    check_number(infinite=math.inf)
    check_kind(str, text="", none=None)
    assert check_seed(2**32 - 1) == 2**32 - 1
    for check in (
        lambda: check_at_least(1, 2, three=3),
        lambda: check_number(0, 1, above=1.01),
        lambda: check_number(nan=math.nan),
        lambda: check_positive(infinite=math.inf),
        lambda: check_positive(zero=0),
        lambda: check_positive(huge=10**400),
        lambda: check_seed(2**32),
        lambda: check_kind(str, number=3),
    ):
        with pytest.raises(InvalidParameter):
            check()


def test_classes_of_one_name_are_told_apart() -> None:
    as_numpy_has_one = type("bool", (), {"__module__": "numpy"})()
    with pytest.raises(InvalidParameter, match=r"^copy=.* is a numpy.bool; give a bool$"):
        check_kind(bool, copy=as_numpy_has_one)


def test_values_are_shown_in_few_characters() -> None:
    assert shown("4") == "'4'"
    assert len(shown("x" * 1000)) <= 60
    assert len(shown(dict.fromkeys(range(1000), "x" * 1000))) < 400
