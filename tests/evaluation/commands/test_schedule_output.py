"""`halidegym schedule`: files of source, schedules beside others, proposed estimates."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import halide as hl
import pytest
from click.testing import CliRunner, Result

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.evaluation.cli import main
from pages_for_tests import ROOT, halidegym_commands

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"
PIPELINE = """
import halide as hl


def my_blur():
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.UInt(8), 2, "image")
    gain = hl.Param(hl.Float(32), "gain")
    rows, blurred = hl.Func("rows"), hl.Func("blurred")
    rows[x, y] = gain * (hl.f32(image[x - 1, y]) + image[x, y] + image[x + 1, y])
    blurred[x, y] = (rows[x, y - 1] + rows[x, y] + rows[x, y + 1]) / 9
    return blurred


def by_hand(blurred, rows):
    x, y, yo = hl.Var("x"), hl.Var("y"), hl.Var("yo")
    blurred.split(y, yo, y, 16).vectorize(x, 8).parallel(yo)
    rows.compute_at(blurred, yo).vectorize(x, 8)


def of_another(pipeline, columns):
    pass


def refused(rows):
    rows.vectorize(hl.Var("z"), 8)
"""
GENERATOR = """
#include "blur.schedule.h"

class MyBlur : public Halide::Generator<MyBlur> {
public:
    Input<Buffer<uint8_t, 2>> image{"image"};
    Input<float> gain{"gain"};
    Output<Buffer<float, 2>> blurred{"blurred"};

    void generate() {
        Halide::Var x("x"), y("y");
        Halide::Func rows("rows");
        rows(x, y) = gain * (Halide::cast<float>(image(x - 1, y)) + image(x, y) + image(x + 1, y));
        blurred(x, y) = (rows(x, y - 1) + rows(x, y) + rows(x, y + 1)) / 9;
        schedule_my_blur(get_pipeline());
    }
};

HALIDE_REGISTER_GENERATOR(MyBlur, my_blur)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blur.py").write_text(PIPELINE)
    return tmp_path


def schedule(*arguments: str) -> Result:
    setting = ["--estimate-from", "image=640,480", "--target", TARGET, "--parallelism", "4", "--beam", "4"]
    return CliRunner().invoke(main, ["schedule", "blur.py:my_blur", *setting, *arguments])


def run(*command: str | Path) -> str:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_header_compiles_inside_a_generator_and_schedules_it(folder: Path) -> None:
    made = schedule("-o", "blur.schedule.h", "--top", "3")
    assert made.exit_code == 0, made.output
    assert made.stdout == ""
    header = (folder / "blur.schedule.h").read_text()
    assert re.findall(r"^inline void (\w+)\(", header, re.MULTILINE) == [
        "schedule_my_blur", "schedule_my_blur_2", "schedule_my_blur_3",
    ]  # fmt: skip
    (folder / "generator.cpp").write_text(GENERATOR)
    halide = Path(hl.__file__).parent
    libraries = [halide / "lib64" / "libHalide_GenGen.a", f"-L{halide}/lib64", "-lHalide", f"-Wl,-rpath,{halide}/lib64"]
    flags = ["-std=c++17", "-O0", "-Wall", "-Werror", f"-I{halide}/include", "-I."]
    run("g++", *flags, "generator.cpp", *libraries, "-o", "gen")
    run("./gen", "-g", "my_blur", "-o", ".", "-e", "stmt,o", f"target={TARGET}-no_runtime")
    lowered = (folder / "my_blur.stmt").read_text()
    assert "parallel" in lowered and "rows" in lowered
    assert (folder / "my_blur.o").stat().st_size > 0


def test_the_module_applies_in_python(folder: Path) -> None:
    made = schedule("-o", "blur_schedule.py", "--top", "2", "--function", "apply_it")
    assert made.exit_code == 0, made.output
    names: dict[str, object] = {}
    exec((folder / "blur_schedule.py").read_text(), names)
    built: dict[str, object] = {}
    exec(PIPELINE, built)
    serialized = []
    for name in ("apply_it", "apply_it_2", None):
        pipeline = hl.Pipeline(built["my_blur"]())  # type: ignore[operator]
        if name is not None:
            names[name](pipeline)  # type: ignore[operator]
        serialized.append(re.sub(rb"[_$]\d+", b"", hl.serialize_pipeline(pipeline)))
    assert len(set(serialized)) == 3


def test_the_best_few_are_different_and_cheaper_first(folder: Path) -> None:
    printed = schedule("--top", "5", "--function", "f").stdout
    costs = [float(cost) for cost in re.findall(r"^// \d: cost ([\d.e-]+)$", printed, re.MULTILINE)]
    sources = re.split(r"^// .*$", printed, flags=re.MULTILINE)[1:]
    assert costs == sorted(costs) and len(costs) == 5
    assert len({re.sub(r"f(_\d)?\(Halide", "", source) for source in sources}) == len(costs)
    assert re.findall(r"void (\w+)\(", printed)[:2] == ["f", "f_2"]


def test_missing_estimates_are_proposed_and_said(folder: Path) -> None:
    made = schedule()
    assert "Proposed: --param gain=1 --estimate image=0,640,0,480 --estimate blurred=1,638,1,478\n" in made.stderr
    given = schedule("--estimate", "blurred=8,64,8,64", "--param", "gain=2")
    assert "Proposed: --estimate image=0,640,0,480\n" in given.stderr
    without = CliRunner().invoke(main, ["schedule", "blur.py:my_blur"])
    assert without.exit_code == 2 and "--estimate-from image=" in without.output
    wrong = {"photo=1,2": "no input 'photo'", "image=640": "give 2 extents", "image=a,b": "no name=extent"}
    for example, said in wrong.items():
        refused = CliRunner().invoke(main, ["schedule", "blur.py:my_blur", "--estimate-from", example])
        assert refused.exit_code == 2 and said in refused.output


def test_estimates_of_a_serialized_pipeline_are_proposed(folder: Path) -> None:
    built: dict[str, object] = {}
    exec(PIPELINE, built)
    hl.serialize_pipeline(hl.Pipeline(built["my_blur"]()), str(folder / "blur.hlpipe"))  # type: ignore[operator]
    made = CliRunner().invoke(
        main, ["schedule", "blur.hlpipe", "--estimate-from", "image=640,480", "--agent", "greedy"]
    )
    assert made.exit_code == 0, made.output
    assert "blurred=1,638,1,478" in made.stderr
    (folder / "broken.hlpipe").write_bytes(b"nothing")
    broken = CliRunner().invoke(main, ["schedule", "broken.hlpipe", "--estimate-from", "image=640,480"])
    assert broken.exit_code == 2 and "no pipeline that Halide can read" in broken.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "blur.txt"], "neither a header"),
        (["-o", "no/blur.h"], "There is no folder"),
        (["-o", "blur.h", "--format", "python"], "blur.h is a header in C++"),
        (["-o", "blur.h", "--function", "two words"], "give an identifier"),
        (["--manual", "blur.py:nothing"], "no function nothing"),
        (["--manual", "blur.py:of_another"], "wants 'columns', and the pipeline has no such Func"),
        (["--manual", "blur.py:my_blur"], "my_blur is no schedule, since it takes nothing to schedule"),
        (["--manual", "blur"], "is no schedule"),
        (["--threads", "1"], "none is given"),
    ],
)
def test_what_is_wrong_is_said_before_the_search(folder: Path, arguments: list[str], said: str) -> None:
    result = schedule(*arguments)
    assert result.exit_code == 2 and said in result.output
    assert "evaluations" not in result.output


def test_a_file_that_is_no_python_is_one_line(folder: Path) -> None:
    (folder / "broken.py").write_text("def build(:\n")
    result = CliRunner().invoke(main, ["schedule", "broken.py:build"])
    assert result.exit_code == 2 and "broken.py, line 1, is no Python" in result.output


def test_it_is_timed_beside_the_autoschedulers_and_ones_own(folder: Path) -> None:
    result = schedule("--manual", "blur.py:by_hand", "--manual", "blur.py:refused", "--threads", "1", "-o", "blur.h")
    assert result.exit_code == 0, result.output
    rows = {line.split()[1]: line for line in result.stderr.splitlines() if line.startswith("│")}
    assert list(rows) == ["adams2019", "mullapudi2016", "by_hand", "refused", "this"]
    assert all(" ok" in rows[name] or "disturbed" in rows[name] for name in ("adams2019", "by_hand", "this"))
    assert "no schedule: Halide refuses the schedule refused" in rows["refused"]
    assert "on 1 threads" in result.stderr


MISCOMPILED = """
import halide as hl


def edges():
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.Float(32), 2, "image")
    rows, edges = hl.Func("rows"), hl.Func("edges")
    rows[x, y] = hl.sqrt(image[x, y]) + image[x + 1, y] * image[x + 2, y]
    edges[x, y] = rows[x, y] + 2 * rows[x, hl.clamp(y, 0, 15)]
    image.set_estimates([(0, 66), (0, 16)])
    edges.set_estimates([(0, 64), (0, 16)])
    return edges
"""


def test_a_schedule_that_halide_compiles_wrongly_is_a_failure(folder: Path) -> None:
    """Rows that are slid over, and read both clamped and not; see tests/envs/timing/test_wrong_outputs.py."""
    (folder / "edges.py").write_text(MISCOMPILED)
    setting = ["--target", TARGET, "--parallelism", "1", "--agent", "random", "--evaluations", "3"]
    result = CliRunner().invoke(main, ["schedule", "edges.py:edges", *setting, "--measure"])
    assert result.exit_code == 2
    assert "wrong_output: 64 of 1024 points differ" in result.stderr
    assert "Do not use this schedule: 64 of 1024 points differ" in result.stderr


def test_a_schedule_is_printed_where_its_file_cannot_be_written(folder: Path) -> None:
    """Nobody makes files in /proc; a full disk is found out as late."""
    result = schedule("-o", "/proc/blur.h", "--save", "plan.json")
    assert result.exit_code == 2 and "The schedule is printed, and /proc/blur.h cannot be written" in result.stderr
    assert "inline void schedule_my_blur(Halide::Pipeline pipeline)" in result.stdout
    assert (folder / "plan.json").is_file()


def test_a_header_may_have_a_name_that_is_no_text(folder: Path) -> None:
    """Such as one of Latin-1, or any beyond ASCII in a locale that has no more."""
    for name, written in ((b"\xfc.h", "\ufffd.h"), ("\u00fc.h".encode(), "\u00fc.h")):
        result = schedule("-o", os.fsdecode(name))
        assert result.exit_code == 0, result.output
        assert f'#include "{written}", and' in (folder / os.fsdecode(name)).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_of_the_readme_tunes_writes_and_compares(folder: Path) -> None:
    estimates = "image.set_estimates([(0, 640), (0, 480)])\n    blurred.set_estimates([(8, 600), (8, 400)])"
    mine = PIPELINE.replace("def my_blur", "def blur").replace(
        "return", f"gain.set_estimate(1)\n    {estimates}\n    return"
    )
    (folder / "my_pipeline.py").write_text(mine)
    (call,) = [call for call in halidegym_commands((ROOT / "README.md").read_text()) if "my_pipeline.py:blur" in call]
    call[call.index("--seconds") + 1] = "10"
    result = CliRunner().invoke(main, [*call, "--threads", "1"])
    assert result.exit_code == 0, result.output
    assert "schedules timed" in result.stderr
    assert "inline void schedule_blur(" in (folder / "blur.schedule.h").read_text()
    assert all(f"│ {name}" in result.stderr for name in ("adams2019", "mullapudi2016", "this one"))


def test_a_problem_of_the_same_file_is_what_proposals_say(folder: Path) -> None:
    built: dict[str, object] = {}
    exec(PIPELINE, built)
    estimates = {"gain": 1, "image": [(0, 640), (0, 480)], "blurred": [(1, 638), (1, 478)]}
    problem = SchedulingProblem.from_pipeline(
        built["my_blur"],
        target=TARGET,
        parallelism=4,
        estimates=estimates,  # type: ignore[arg-type]
    )
    assert problem.undersized_inputs() == []
