"""`halidegym schedule`: by cost, and by run time."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result

import pipelines_for_tests
from halidegym.agents import native_search
from halidegym.agents.budget import Budget
from halidegym.agents.plan import Plan, recorded_fingerprint
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.tuner.autotune import Autotune
from halidegym.envs.processes.python import python_path
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.envs.timing.database import TimingDatabase
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.cli import main
from halidegym.evaluation.commands import schedule as schedule_command
from halidegym.native.weights import builtin_weights, save_weights
from processes_for_tests import all_end, descendants_of
from timers_for_tests import MadeUpTimes

_SPEEDS = re.compile(r"^// \d: .* ms, [\d.]+ \[.*\] times as fast as Adams2019's schedule$", re.MULTILINE)
BLUR = f"{pipelines_for_tests.__file__}:blur"


def schedule(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["schedule", BLUR, "--parallelism", "1", *map(str, arguments)])


def load_tuned(path: Path) -> Plan:
    """The plan in a file; the tuner also schedules for more cores than the problem's."""
    return Plan.load(path, load_problem(BLUR, parallelism=recorded_fingerprint(path).parallelism))


def test_the_best_few_by_cost() -> None:
    result = schedule("--beam", "4", "--top", "2")
    assert result.exit_code == 0, result.output
    costs = [float(cost) for cost in re.findall(r"^// \d: cost (\S+)$", result.stdout, re.MULTILINE)]
    assert len(costs) == 2
    assert costs == sorted(costs)
    assert result.stdout.count("compute_root()") >= 2
    assert "//" not in schedule("--beam", "4").stdout


def test_the_fastest_few_by_run_time(tmp_path: Path) -> None:
    database, plan = tmp_path / "times.db", tmp_path / "plan.json"
    options = ("--measurements", "2", "--top", "2", "--database", database, "--save", plan)
    result = schedule(*options)
    assert result.exit_code == 0, result.output
    speeds = _SPEEDS.findall(result.stdout)
    assert len(speeds) == 2
    assert "2 schedules timed" in result.stderr
    assert "a process that keeps the memory" in result.stderr
    assert re.search(r"\d measured, best .* ms \(.*x\), Adams2019's schedule .* ms", result.stderr)
    loaded = load_tuned(plan)
    assert loaded.measurements == 2
    assert _SPEEDS.findall(schedule(*options).stdout) == speeds  # answered from the record


def test_tuning_where_memory_goes_back_to_the_system(tmp_path: Path) -> None:
    database = tmp_path / "times.db"
    result = schedule("--measurements", "1", "--database", database, "--return-memory")
    assert result.exit_code == 0, result.output
    with TimingDatabase(database, read_only=True) as timings:
        assert {'"keep_memory": false' in record.key.settings for record in timings.records()} == {True}
    assert "a process that keeps the memory" not in result.stderr


def test_the_tuner_searches_unless_another_agent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[Any] = []

    def search(agent: Autotune, problem: Any, budget: Any, *_: Any) -> Plan:
        budgets.append((budget.seconds, budget.measurements))
        return BeamSearch(beam_size=1).search(problem, Budget(), 0)

    monkeypatch.setattr(Autotune, "search", search)
    by_default = schedule()
    assert by_default.exit_code == 0, by_default.output
    assert "tuning for 120 s (--seconds); Ctrl-C ends it" in by_default.stderr
    assert "tuning for" not in schedule("--seconds", "7").stderr
    schedule("--agent", "autotune", "--measurements", "3")
    assert budgets == [(120.0, None), (7.0, None), (None, 3)]
    untimed = schedule("--agent", "greedy"), schedule("--beam", "2")
    assert all(each.exit_code == 0 and "a process that keeps the memory" not in each.stderr for each in untimed)
    assert len(budgets) == 3
    assert "[default: 120 for autotune" in " ".join(CliRunner().invoke(main, ["schedule", "--help"]).output.split())


def test_the_tuner_is_guided_by_the_weights_that_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    guides: list[Any] = []

    def search(agent: Autotune, problem: Any, *_: Any) -> Plan:
        agent.check_files()
        guides.append(agent.guide)
        return BeamSearch(beam_size=1).search(problem, Budget(), 0)

    monkeypatch.setattr(Autotune, "search", search)
    save_weights(builtin_weights(), tmp_path / "machine.weights")
    for options in ((), ("--guide", tmp_path / "machine.weights")):
        assert schedule(*options).exit_code == 0
    assert guides == [None, tmp_path / "machine.weights"]
    (tmp_path / "broken.weights").write_bytes(b"no weights")
    broken = schedule("--guide", tmp_path / "broken.weights")
    assert broken.exit_code == 2 and "broken.weights" in broken.stderr
    refused = schedule("--agent", "greedy", "--guide", tmp_path / "machine.weights")
    assert "--agent greedy has no --guide; leave it out, or search by --agent autotune" in refused.stderr


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    command = "from halidegym.evaluation.cli import main; main()"
    arguments = ["schedule", BLUR, "--parallelism", "1", "--database", "times.db", *options]
    return subprocess.Popen(
        [sys.executable, "-c", command, *arguments],
        cwd=folder,
        env=dict(os.environ) | python_path(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # all of which Ctrl-C reaches, as in a terminal
    )


def test_ctrl_c_in_the_middle_gives_the_best_so_far(tmp_path: Path) -> None:
    files = ("--measure", "-o", "blur.schedule.h", "--save", "plan.json")
    with start(tmp_path, "--threads", "1", "--seconds", "600", *files) as process:
        assert process.stderr is not None
        begin = next(line for line in process.stderr if "0 measured" in line)
        assert "Adams2019's schedule" in begin
        deadline = time.monotonic() + 120
        with TimingDatabase(tmp_path / "times.db") as timings:
            while len(timings) <= 2 * Autotune.batch and time.monotonic() < deadline:
                time.sleep(0.05)
            assert len(timings) > 2 * Autotune.batch, "the search has the first batch for sure"
        descendants = descendants_of(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (0, ""), errors
    assert "(interrupted)" in errors and "Wrote blur.schedule.h" in errors
    assert "mullapudi2016" not in errors, "nothing more is timed"
    plan = load_tuned(tmp_path / "plan.json")
    assert plan.ended_by == "interrupt" and plan.run_time is not None
    assert plan.measurements is not None and plan.measurements >= Autotune.batch
    assert "inline void schedule_blur(" in (tmp_path / "blur.schedule.h").read_text()
    assert descendants and all_end(descendants)


def test_ctrl_c_before_anything_was_timed_gives_what_the_beam_has_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(agent: BeamSearch, problem: Any, *_: Any) -> Plan:
        return dataclasses.replace(Greedy().search(problem, Budget(), 0), ended_by="interrupt")

    monkeypatch.setattr(BeamSearch, "search", interrupted)
    result = schedule("-o", tmp_path / "blur_schedule.py")
    assert result.exit_code == 0, result.output
    assert "0 schedules timed" in result.stderr and "(interrupted)" in result.stderr
    assert "def schedule_blur(" in (tmp_path / "blur_schedule.py").read_text()


@pytest.mark.parametrize(("module", "name"), [(native_search, "fingerprint"), (schedule_command, "best_schedules")])
def test_ctrl_c_when_the_search_has_ended_loses_nothing(
    module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = getattr(module, name)

    def interrupted(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return work(*arguments)

    monkeypatch.setattr(module, name, interrupted)
    result = schedule("--agent", "greedy")
    assert result.exit_code == 0 and "get_func(" in result.stdout, result.output


def test_a_schedule_that_is_known_not_to_run_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    timer = MadeUpTimes(lambda schedule: 1.0 if isinstance(schedule, TrustedSchedule) else math.inf)
    monkeypatch.setattr(schedule_command, "tuning_timer", lambda *_: nullcontext(timer))
    result = schedule("--measurements", "4", "--save", tmp_path / "plan.json")
    assert result.exit_code == 2
    assert "Error: Do not use this schedule: none of the schedules that were timed runs" in result.stderr
    assert (tmp_path / "plan.json").exists() and "get_func(" in result.stdout


def test_a_baseline_that_fails_where_no_time_is_left_for_others_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    timer = MadeUpTimes(lambda schedule: 1.0 if isinstance(schedule, TrustedSchedule) else math.inf)
    monkeypatch.setattr(schedule_command, "tuning_timer", lambda *_: nullcontext(timer))
    result = schedule("--seconds", "0.001")
    assert result.exit_code == 2
    assert "0 schedules timed" in result.stderr and "none of the schedules" not in result.stderr
    assert "Error: Do not use this schedule: there was time for nothing but what Adams2019's search" in result.stderr
    assert "give it longer. `halidegym time` of adams2019 tells why." in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--agent", "autotune", "--beam", "4"),
            "--agent autotune has no --beam; leave it out, or search by --agent beam",
        ),
        (
            ("--evaluations", "4"),
            "--agent autotune has no --evaluations; leave it out, or search by --agent beam, mb2fbs",
        ),
        (("--policy", "default"), "--agent autotune has no --policy"),
        (
            ("--beam", "4", "--measurements", "4"),
            "--agent beam has no --measurements; leave it out, or search by --agent a",
        ),
        (("--agent", "tag", "--database", "times.db"), "--agent tag has no --database"),
        (("--agent", "greedy", "--threads", "1"), "--threads is of --agent autotune, --measure and --manual"),
        (("--agent", "greedy", "--return-memory"), "--return-memory is of --agent autotune, --measure and --manual"),
        (("--target", "arm-64-linux"), "Cannot measure for target arm-64-linux on this machine"),
        (("--target", "host-no_bounds_query"), "Leave the feature out"),
        (
            ("--target", "host-asan"),
            "what is compiled with asan needs a library that belongs to the program. Leave the",
        ),
    ],
)
def test_options_that_do_not_go_together(options: tuple[str, ...], words: str) -> None:
    result = schedule(*options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
