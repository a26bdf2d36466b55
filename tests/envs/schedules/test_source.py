"""Schedules as source code: it compiles, and does what the schedule does."""

from __future__ import annotations

import contextlib
import io
import keyword
import subprocess
from pathlib import Path
from typing import Any

import halide as hl
import pytest

import pipelines_for_tests
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.native import _core
from isolated_functions import schedule_trusted
from oracle.builder_problem import SSE_AVX2
from schedules_for_tests import random_schedule


def problem_of(name: str) -> SchedulingProblem:
    return SchedulingProblem.from_pipeline(pipelines_for_tests.ALL[name](), target=SSE_AVX2, parallelism=16)


@pytest.mark.parametrize("name", ["blur", "several_updates", "two_outputs", "scalar_sum", "tuple_of_types"])
def test_python_source_schedules_like_apply(name: str) -> None:
    problem = problem_of(name)
    for seed in range(3):
        schedule = random_schedule(problem, seed)
        by_source, by_apply, untouched = problem.pipeline(), problem.pipeline(), problem.pipeline()
        exec(schedule.python(), {"pipeline": by_source})
        schedule.apply(by_apply)
        serialized = hl.serialize_pipeline(by_apply)
        assert hl.serialize_pipeline(by_source) == serialized
        assert hl.serialize_pipeline(schedule.pipeline()) == serialized
        assert hl.serialize_pipeline(untouched) != serialized


def test_python_source_avoids_keywords_and_clashes() -> None:
    first, second, x = hl.Func("lambda"), hl.Func("pipeline"), hl.Var("x")
    first[x] = x
    second[x] = first[x] + first[x + 1] + first[x + 2]
    second.set_estimates([(0, 1 << 20)])
    problem = SchedulingProblem.from_pipeline(second, target=SSE_AVX2)
    pipeline = problem.pipeline()
    exec(random_schedule(problem, 0).python(), {"pipeline": pipeline})
    assert hl.serialize_pipeline(pipeline) != hl.serialize_pipeline(problem.pipeline())


@pytest.mark.parametrize("name", ["blur", "several_updates"])
def test_python_source_as_a_function(name: str) -> None:
    problem = problem_of(name)
    schedule = random_schedule(problem, 0)
    names: dict[str, object] = {}
    exec(schedule.python(function="schedule_it"), names)
    pipeline = problem.pipeline()
    names["schedule_it"](pipeline)  # type: ignore[operator]
    assert hl.serialize_pipeline(pipeline) == hl.serialize_pipeline(schedule.pipeline())


@pytest.mark.parametrize(
    "name", ["", "class", "two words", "naïve", "hl", "int", "delete", "static_cast", "Func", "main"]
)
def test_functions_have_names(name: str) -> None:
    schedule = random_schedule(problem_of("blur"), 0)
    for text in (schedule.cpp, schedule.python):
        with pytest.raises(_core.InvalidParameter, match="give an identifier"):
            text(function=name)


@pytest.mark.parametrize("word", keyword.kwlist)
def test_keywords_of_python_are_reserved(word: str) -> None:
    assert _core.is_reserved(word)


PROGRAM = """
#include "Halide.h"

%s
int main() {
    using namespace Halide;
    Var x, y("while");
    RDom r(0, 3, "r");
    Func lines("x"), sums("new"), out("const");
    lines(x, y) = x + 3 * y;
    sums(x, y) = 0;
    sums(x, y) += lines(x + r, y);
    out(x, y) = sums(x, y) + sums(x, y + 1);
    try {
        schedule_it(out);
    } catch (const Error &error) {
        std::cerr << error.what();
        return 3;
    }
    Buffer<int> result = out.realize({64, 48});
    for (int j = 0; j < 48; j++) {
        for (int i = 0; i < 64; i++) {
            if (result(i, j) != 6 * i + 6 + 9 * (2 * j + 1)) {
                return 1;
            }
        }
    }
    return out.function().schedule().compute_level().var_name() == "__root" ? 0 : 2;
}
"""


def test_cpp_source_compiles_below_the_include_and_runs(tmp_path: Path) -> None:
    """In a program that names Vars, Funcs and the like as it pleases, words of C++ among them."""
    x, y, r = hl.Var("x"), hl.Var("while"), hl.RDom([(0, 3)], "r")
    lines, sums, out = hl.Func("x"), hl.Func("new"), hl.Func("const")
    lines[x, y] = x + 3 * y
    sums[x, y] = 0
    sums[x, y] += lines[x + r, y]
    out[x, y] = sums[x, y] + sums[x, y + 1]
    out.set_estimates([(0, 64), (0, 48)])
    problem = SchedulingProblem.from_pipeline(out, target="host")
    source = random_schedule(problem, 3).cpp(function="schedule_it")
    assert all(part in source for part in (".compute_at(", ".split(", ".reorder(", "RVar")), "a schedule to speak of"
    (tmp_path / "program.cpp").write_text(PROGRAM % source)
    folder = Path(hl.__file__).parent
    program = tmp_path / "program"
    libraries = ["-L", f"{folder}/lib64", "-lHalide", f"-Wl,-rpath,{folder}/lib64"]
    command = ["g++", "-std=c++17", "-O0", f"-I{folder}/include", tmp_path / "program.cpp", *libraries, "-o", program]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr
    ran = subprocess.run([program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def pipeline_with_vars(first: str, second: str) -> hl.Func:
    x, y = hl.Var(first), hl.Var(second)
    f, out = hl.Func("f"), hl.Func("out")
    f[x, y] = hl.f32(x * y)
    out[x, y] = f[x, y] + f[x + 1, y] + f[x, y + 1]
    out.set_estimates([(0, 256), (0, 256)])
    return out


@pytest.mark.parametrize("names", [("x", "xi"), ("xi", "x"), ("xii", "x"), ("i", "ii"), ("x_i", "x"), ("v0", "v1")])
def test_vars_may_be_called_what_schedules_call_theirs(names: tuple[str, str]) -> None:
    """The plugin dies of the first (docs/specification/search-space.md, quirk 27)."""
    problem = SchedulingProblem.from_pipeline(pipeline_with_vars(*names), target=SSE_AVX2, parallelism=16)
    for seed in range(10):
        schedule = random_schedule(problem, seed)
        scheduled = hl.serialize_pipeline(schedule.pipeline())
        by_source = problem.pipeline()
        exec(schedule.python(), {"pipeline": by_source})
        assert hl.serialize_pipeline(by_source) == scheduled
    TrustedSchedule(problem).pipeline()


def test_names_are_the_plugins_where_they_do_not_collide() -> None:
    def source(names: tuple[str, str]) -> str:
        problem = SchedulingProblem.from_pipeline(pipeline_with_vars(*names), target=SSE_AVX2, parallelism=16)
        schedule = Greedy().plan(problem).schedule
        assert isinstance(schedule, Schedule)
        return schedule.cpp()

    assert '"xi"' in source(("x", "y"))
    assert '"xi"' in source(("x", "xii"))
    assert '"x_i"' in source(("x", "xi"))


@pytest.mark.parametrize("names", [("v0", "v1"), ("v0_lanes", "v0")])
def test_the_trusted_schedule_names_no_var_of_the_pipeline(names: tuple[str, str]) -> None:
    """In a process that has made no Var yet, Halide calls the first one that has no name v0."""
    problem = SchedulingProblem.from_pipeline(pipeline_with_vars(*names), target=SSE_AVX2, parallelism=16)
    run_isolated(schedule_trusted, problem)


def test_names_are_no_code() -> None:
    """They may come with a file of somebody else's."""
    name = 'x"); print("injected"); ("\\'
    x, f, g = hl.Var(name), hl.Func("f"), hl.Func("g")
    f[x] = hl.f32(x)
    g[x] = f[x] + f[x + 1]
    g.set_estimates([(0, 1024)])
    problem = SchedulingProblem.from_pipeline(g, parallelism=2)
    schedule = Greedy().plan(problem).schedule
    literal = r'"x\"); print(\"injected\"); (\"\\'
    for source in (schedule.python(), schedule.cpp(function="scheduled")):
        assert literal in source and name not in source
    scope: dict[str, Any] = {}
    exec(schedule.python(function="scheduled"), scope)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        scope["scheduled"](problem.pipeline())
    assert printed.getvalue() == ""
