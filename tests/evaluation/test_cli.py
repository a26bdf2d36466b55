"""The command line."""

from __future__ import annotations

import dataclasses
import errno
import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import pipelines_for_tests
from halidegym.agents.agent import Agent
from halidegym.agents.learned.guided_mcts import PolicyGuidedMCTS
from halidegym.agents.learned.guided_replay import GuidedReplay
from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.learned.sgbs import SGBS
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.reference.process import AutoschedulerFailed
from halidegym.envs import pipelines
from halidegym.envs.pipelines import records as suite_records
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.evaluation.arguments.pipeline import Details
from halidegym.evaluation.cli import main
from halidegym.evaluation.commands import parity as parity_command
from halidegym.evaluation.commands import suites as suites_command
from halidegym.evaluation.parity.check import Check, Parity, Setting
from halidegym.native.weights import builtin_weights, load_weights, make_weights, save_weights, weights_hash
from oracle.builder_problem import SSE_AVX2

PIPELINES = pipelines_for_tests.__file__
SETTING = ["--target", SSE_AVX2, "--parallelism", "4"]


def halidegym(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def _plain(source: str) -> str:
    """Drop the suffixes by which Halide keeps names unique in a process."""
    return re.sub(r"_\d+\b", "", source).strip()


@pytest.mark.parametrize("command", [None, *main.commands], ids=str)
def test_help_explains(command: str | None) -> None:
    result = halidegym(*([command] if command else []), "--help")
    assert result.exit_code == 0
    lines = [line.strip() for line in result.output.splitlines()]
    assert len(lines) > 4
    assert ("PIPELINE is one of" in lines) == ("PIPELINE" in lines[0])
    assert "\\b" not in result.output  # click's mark of a paragraph to be left as it is
    for parameter in main.commands[command].params if command else []:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{command} {parameter.name}"


def test_list_shows_every_pipeline() -> None:
    lines = [line.split() for line in halidegym("list").output.splitlines()[1:]]
    assert [line[1] for line in lines] == pipelines.names()
    (harris,) = [line for line in lines if line[1] == "harris"]
    assert harris[:5] == ["papers-v1", "harris", "13", "13", "26"]
    assert 1 < float(harris[5]) < int(harris[6])
    assert harris[7:10] == ["1530", "x", "2554"]
    generated = halidegym("list", "--suite", "random-test-v1").output.splitlines()[1:]
    assert [line.split()[1] for line in generated] == pipelines.names("random-test-v1")


def test_suites_checks_what_names_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    toys = next(suite for suite in pipelines.suites() if suite.name == "toy-v1")
    assert all(suite.name in halidegym("suites").output for suite in pipelines.suites())
    assert halidegym("suites", "--check", "--write").exit_code == 2
    records = {"toy-v1": suite_records.read_records()["toy-v1"]}
    monkeypatch.setattr(pipelines, "suites", lambda: [toys])
    monkeypatch.setattr(suites_command, "read_records", lambda: records)
    assert halidegym("suites", "--check").exit_code == 0
    records["toy-v1"]["toy_blur"] = records["toy-v1"]["toy_scan"]
    result = halidegym("suites", "--check")
    assert (result.exit_code, result.stdout) == (1, "toy-v1: toy_blur is another problem than recorded\n")


def test_suites_writes_the_records(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written: list[suite_records.Records] = []
    monkeypatch.setattr(suites_command, "write_records", written.append)
    assert halidegym("suites", "--write", "--suite", "toy-v1", "--episodes", "2").exit_code == 0
    (records,) = written
    before = suite_records.read_records()
    assert list(records) == list(before)
    assert [record.hash for record in records["toy-v1"].values()] == [r.hash for r in before["toy-v1"].values()]
    assert all(record.episodes == 2 for record in records["toy-v1"].values())
    assert records["papers-v1"] == before["papers-v1"]


@pytest.mark.parametrize(
    ("arguments", "agent"),
    [
        (["--agent", "greedy"], Greedy()),
        (["--agent", "policy"], PolicyAgent()),
        (["--agent", "guided", "--policy", "default"], PolicyGuidedMCTS()),
        (["--agent", "guided-replay", "--shortlist", "4"], GuidedReplay(shortlist=4)),
        (["--agent", "policy", "--policy", "default", "--policy", "seed-1"], PolicyAgent(policy=("default", "seed-1"))),
        (["--agent", "puct"], PolicyGuidedMCTS(selection="puct")),
        (["--agent", "gumbel"], PolicyGuidedMCTS(root="gumbel")),
        (["--agent", "sgbs"], SGBS()),
        (["--beam", "4"], BeamSearch(beam_size=4)),
        (["--beam", "2", "--passes", "2"], BeamSearch(beam_size=2, passes=2)),
    ],
    ids=["greedy", "policy", "guided", "shortlist", "several policies", "puct", "gumbel", "sgbs", "beam", "two passes"],
)
def test_schedule_prints_the_source(arguments: list[str], agent: Agent) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=4)
    expected = agent.plan(problem)
    result = halidegym("schedule", f"{PIPELINES}:mm", *SETTING, *arguments)
    assert result.exit_code == 0, result.output
    assert _plain(result.stdout) == _plain(expected.schedule.cpp())
    assert result.stderr.strip().startswith(f"mm: cost {expected.cost:.6g}, {expected.evaluations:,} evaluations")


def test_schedule_takes_weights(tmp_path: Path) -> None:
    weights, plan = tmp_path / "other.weights", tmp_path / "plan.json"
    tensors = builtin_weights().tensors()
    save_weights(make_weights({**tensors, "conv1_bias": 2 * tensors["conv1_bias"]}), weights)
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.mm, target=SSE_AVX2, parallelism=4)
    expected = Greedy(weights=weights).plan(problem)
    assert expected.cost != Greedy().plan(problem).cost
    arguments = "--agent", "greedy", "--weights", str(weights), "--save", str(plan)
    result = halidegym("schedule", f"{PIPELINES}:mm", *SETTING, *arguments)
    assert result.exit_code == 0, result.output
    assert _plain(result.stdout) == _plain(expected.schedule.cpp())
    assert weights_hash(load_weights(weights)) in plan.read_text()
    weights.write_bytes(b"something else")
    result = halidegym("schedule", f"{PIPELINES}:mm", *SETTING, *arguments)
    assert result.exit_code == 2 and "other.weights" in result.stderr and result.stderr.count("\n") == 1


def test_schedule_has_other_formats() -> None:
    python, loops = (
        halidegym("schedule", f"{PIPELINES}:mm", *SETTING, "--agent", "greedy", "--format", name).stdout
        for name in ("python", "loops")
    )
    compile(python, "schedule", "exec")
    assert "import halide as hl" in python
    assert loops.splitlines()[0].startswith("realize: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "mcts", "--beam", "4"], "--agent mcts has no --beam; leave it out, or search by --agent beam."),
        (["--agent", "greedy", "--passes", "2"], "--agent greedy has no --passes"),
        (["--agent", "mb2fbs", "--beam", "4", "--passes", "2"], "--agent mb2fbs has no --beam"),
        (["--agent", "beam", "--policy", "default"], "--agent beam has no --policy"),
    ],
)
def test_schedule_refuses_parameters_of_other_agents(arguments: list[str], message: str) -> None:
    result = halidegym("schedule", "toy_blur", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_plan_that_cannot_be_saved_is_told_before_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object, **__: object) -> None:
        raise AssertionError("the search has begun")

    monkeypatch.setattr(Greedy, "plan", searched)
    (tmp_path / "file").touch()
    for path, reason in (
        (tmp_path / "missing" / "plan.json", "There is no folder"),
        (tmp_path / "file" / "plan.json", "There is no folder"),
        (tmp_path, "is a directory"),
    ):
        result = halidegym("schedule", "toy_blur", "--agent", "greedy", "--save", path)
        assert result.exit_code == 2
        assert reason in result.stderr


def test_the_schedule_is_printed_even_if_saving_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Plan, "save", full)
    result = halidegym("schedule", f"{PIPELINES}:mm", "--agent", "greedy", "--save", tmp_path / "plan.json")
    assert result.exit_code == 2
    assert "get_func(" in result.stdout
    assert "No space left on device" in result.stderr


def test_schedule_tells_of_inputs_that_are_too_small(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(
        "import halide as hl\n"
        "def shifted():\n"
        "    x, image, f = hl.Var('x'), hl.ImageParam(hl.Float(32), 1, 'image'), hl.Func('f')\n"
        "    f[x] = image[x] + image[x + 100]\n"
        "    f.set_estimates([(0, 100)])\n"
        "    image.set_estimates([(0, 50)])\n"
        "    return f\n"
    )
    result = halidegym("schedule", f"{tmp_path / 'small.py'}:shifted", "--agent", "greedy")
    assert result.exit_code == 0
    assert "reads 0 to 199 of dimension 0 of the input 'image', whose estimate provides 0 to 49." in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "my-plan.py"], "'my-plan.py' is no module that Python can import"),
        (["-o", "class.py"], "'class.py' is no module that Python can import"),
        (["--format", "loops", "-o", "a.h"], "--format loops is printed"),
        (["--format", "loops", "--function", "f"], "--format loops is printed"),
    ],
)
def test_schedule_refuses_what_cannot_be_written(arguments: list[str], message: str) -> None:
    result = halidegym("schedule", "toy_blur", "--agent", "greedy", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_what_builds_a_pipeline_needs_a_module() -> None:
    result = halidegym("schedule", ":build", "--agent", "greedy")
    assert result.exit_code == 2
    assert "Cannot import a module without a name" in result.stderr


def test_schedule_prints_functions() -> None:
    arguments = ["schedule", f"{PIPELINES}:mm", "--agent", "greedy", "--function", "schedule_mm"]
    assert halidegym(*arguments).stdout.startswith("void schedule_mm(Halide::Pipeline pipeline) {")
    assert "\ndef schedule_mm(pipeline):" in halidegym(*arguments, "--format", "python").stdout
    assert "give an identifier" in halidegym(*arguments[:-1], "schedule mm").stderr


def test_random_search_takes_seed_and_budget() -> None:
    errors = {
        seed: halidegym(
            "schedule", f"{PIPELINES}:mm", *SETTING, "--agent", "random", "--evaluations", "5", "--seed", seed
        ).stderr
        for seed in ("1", "2")
    }
    assert all(", 5 evaluations" in error for error in errors.values())
    assert errors["1"].split(",")[0] != errors["2"].split(",")[0]


def test_schedules_are_timed_side_by_side(tmp_path: Path) -> None:
    plan, database = tmp_path / "plan.json", tmp_path / "timings.db"
    options = [f"{PIPELINES}:mm", "--parallelism", "2"]
    quick = ["--threads", "1", "--rounds", "2", "--database", database]
    assert halidegym("schedule", *options, "--beam", "2", "--save", plan).exit_code == 0
    assert json.loads(plan.read_text())["agent"].startswith("BeamSearch(")
    result = halidegym("time", *options, *quick, "root", plan, "li2018")
    assert result.exit_code == 0, result.output
    assert "Speed is relative to root" in " ".join(result.stdout.split())
    assert "li2018" in result.stdout
    again = halidegym("time", *options, *quick, "root", plan, "li2018")
    assert again.stdout == result.stdout  # from the record
    assert halidegym("time", *options, *quick, "root", "li2018", "--plan", plan).stdout.count("plan.json") == 1
    elsewhere = halidegym("time", f"{PIPELINES}:mm", "--parallelism", "1", *quick, "root", "--plan", plan)
    assert elsewhere.exit_code == 0, "a schedule for more cores than it runs on, as the tuner finds them"
    other = halidegym("time", f"{PIPELINES}:matmul", "--parallelism", "2", "--plan", plan)
    assert other.exit_code == 2
    assert "another one" in other.stderr
    assert "no schedule" in halidegym("time", *options, "unheard_of").stderr


def test_schedules_none_of_which_runs() -> None:
    result = halidegym("time", f"{PIPELINES}:mm", "--compile-timeout", "0.01", "--no-verify", "root", "greedy")
    assert result.exit_code == 2
    assert result.stdout.count("still running") == 2
    assert "None of these schedules of mm runs" in result.stderr


@pytest.mark.parametrize("command", [("schedule", "--agent", "random", "--measure"), ("time",)])
def test_what_cannot_be_measured_here_is_not_searched(command: tuple[str, ...]) -> None:
    result = halidegym(*command, f"{PIPELINES}:mm", "--target", "arm-64-linux")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: Cannot measure for target arm-64-linux")


def test_parity_reports_equal_searches() -> None:
    result = halidegym("parity", f"{PIPELINES}:mm", *SETTING, "--beam", "1,4", "--dropout", "100,40", "--seeds", "2,3")
    assert result.exit_code == 0, result.output
    assert "6 of 6 searches are equal" in result.output  # two widths, each once without dropout and with two seeds


def test_parity_exits_with_1_on_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def different(pipeline: str, setting: Setting, details: Details) -> Parity:
        checks = (Check("cost of pass 0", "1.0", "1.0", True), Check("cost evaluations", "7", "8", False))
        return Parity(pipeline, setting, checks, our_seconds=1.0, plugin_seconds=2.0)

    monkeypatch.setattr(parity_command, "check_parity", different)
    result = halidegym("parity", "harris")
    assert result.exit_code == 1
    assert "DIFFERENT" in result.output
    assert "0 of 1 searches are equal" in result.output


def test_parity_goes_on_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_on_one_core(pipeline: str, setting: Setting, details: Details) -> Parity:
        if setting.parallelism == 1:
            raise AutoschedulerFailed("the plugin [died]")
        return Parity(pipeline, setting, (), our_seconds=1.0, plugin_seconds=2.0)

    monkeypatch.setattr(parity_command, "check_parity", fails_on_one_core)
    result = halidegym("parity", "harris", "--parallelism", "1,2")
    assert result.exit_code == 1
    assert "FAILED. the plugin [died]" in result.output
    assert "1 of 2 searches are equal" in result.output


def test_parity_wants_a_pipeline() -> None:
    result = halidegym("parity")
    assert result.exit_code == 2
    assert "--all" in result.stderr


def test_parity_refuses_lists_of_something_else() -> None:
    result = halidegym("parity", "harris", "--beam", "1,wide")
    assert result.exit_code == 2
    assert "no list of integers" in result.stderr


def test_parity_measures_time() -> None:
    result = halidegym("parity", f"{PIPELINES}:mm", *SETTING, "--beam", "4", "--time", "--runs", "1")
    assert result.exit_code == 0, result.output
    assert "CPU seconds and MiB" in result.output


def test_settings_are_named_in_words() -> None:
    assert str(Setting()) == "parallelism 16, beam 32"
    assert (
        str(dataclasses.replace(Setting(), random_dropout=10, seed=7)) == "parallelism 16, beam 32, dropout 10 seed 7"
    )


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("schedule harris", "--seconds", "0"),
        ("schedule harris", "--seconds", "inf"),
        ("schedule harris", "--evaluations", "0"),
        ("schedule harris", "--measurements", "0"),
        ("schedule harris", "--seed", "-1"),
        ("schedule harris", "--max-recompute", "0.5"),
        ("schedule harris", "--max-recompute", "nan"),
        ("time harris", "--search-seconds", "nan"),
        ("time harris", "--seed", str(2**32)),
        ("calibrate harris", "--seed", "-1"),
        ("transform plan 16", "--seed", str(2**32)),
        ("reproduce tuning --output table.csv", "--seconds", "0"),
        ("reproduce tuning --output table.csv", "--measurements", "0"),
        ("reproduce tuning --output table.csv", "--measurements", str(2**63)),
        ("schedule harris", "--measurements", str(2**63)),
        ("schedule harris", "--beam", str(2**31)),
        ("schedule harris", "--parallelism", str(2**31)),
        ("transform plan 16", "--evaluations", str(2**63)),
        ("calibrate harris", "--schedules", str(2**63)),
        ("collect harris -o out", "--seed", str(2**63)),
        ("collect harris -o out", "--threads", "1,0"),
        ("parity harris", "--seeds", "0,-1"),
        ("parity harris", "--dropout", "101"),
        ("parity harris", "--beam", "0"),
        ("parity harris", "--parallelism", "0"),
        ("parity harris", "--passes", str(2**31)),
        ("parity harris", "--memory-limit", str(2**63)),
        ("time harris", "--cpus", "-1"),
        ("time harris", "--threads", str(2**31)),
        ("time harris", "--memory", str(2**33)),
        ("time harris", "--flush", str(2**43)),
        ("time harris", "--inputs-seed", str(2**63)),
        ("time harris", "--timeout", "inf"),
    ],
)
def test_numbers_out_of_range_are_told_by_the_option(command: str, option: str, value: str) -> None:
    result = halidegym(*command.split(), option, value)
    assert result.exit_code == 2
    assert f"Invalid value for '{option}': " in " ".join(result.stderr.split())


def test_the_module_runs_the_command() -> None:
    command = [sys.executable, "-m", "halidegym.evaluation.cli", "list", "no_such"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("Usage: halidegym list ")
