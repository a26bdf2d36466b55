"""`halidegym train cost-model` and `halidegym judge`, from run times to weights and what they are worth."""

from __future__ import annotations

import csv
import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.pipelines import toys
from halidegym.envs.timing.machine import this_machine
from halidegym.evaluation.cli import main
from halidegym.native.weights import builtin_weights, load_weights, save_weights, weights_hash
from halidegym.training.cost_model.judgement import judge
from halidegym.training.measured.collection import MeasuredCollection
from measured_for_tests import pipelines
from processes_for_tests import kill_after_the_first
from trainings_for_tests import COST_MODEL


def halidegym(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def config(folder: Path, **changes: Any) -> Path:
    path = folder / "config.yaml"
    settings = {name: value for name, value in {**COST_MODEL, **changes}.items() if name != "device"}
    path.write_text(yaml.safe_dump(settings))
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("measured") / "some.parquet"
    held_out = [dataclasses.replace(measured, split="validation") for measured in pipelines(100, 4)]
    MeasuredCollection(this_machine(), (*pipelines(0, 8), *held_out)).save(path)
    return path


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trained") / "machine.weights"
    result = halidegym("train", "cost-model", data, "-o", path, "--config", config(path.parent, members=2))
    assert result.exit_code == 0, result.output
    assert f"SHA-256 {weights_hash(load_weights(path))}" in result.output
    return path


def test_the_weights_are_those_of_a_member_and_work_in_a_search(trained: Path) -> None:
    best = load_weights(trained)
    members = [load_weights(trained.with_suffix("") / f"member-{number}.weights") for number in range(2)]
    assert best in members and members[0] != members[1]
    plan = Greedy(weights=trained).plan(toys.problem("toy_blur"))
    assert plan.fingerprint.weights_hash == weights_hash(best) != weights_hash(builtin_weights())


def test_what_was_named_is_not_learned_from_and_it_is_said(data: Path, trained: Path, tmp_path: Path) -> None:
    of_users = [dataclasses.replace(measured, pipeline="mine", split="") for measured in pipelines(200, 1)]
    whole = MeasuredCollection.read(data)
    MeasuredCollection(whole.machine, (*whole.schedules, *of_users)).save(tmp_path / "more.parquet")
    path = tmp_path / "machine.weights"
    result = halidegym(
        "train", "cost-model", tmp_path / "more.parquet", "-o", path, "--config", config(tmp_path, members=2)
    )
    assert f"Not learned from: {len(of_users)} schedules of ['mine']" in result.output
    assert path.read_bytes() == trained.read_bytes()


def test_a_training_that_was_killed_gives_the_same_weights(data: Path, trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "machine.weights"
    arguments = "train", "cost-model", data, "-o", path, "--config", config(tmp_path, members=2)
    kill_after_the_first(tmp_path / "machine/checkpoint.pt", *arguments)
    assert not path.exists()
    assert halidegym(*arguments).exit_code == 0
    assert path.read_bytes() == trained.read_bytes()
    assert (tmp_path / "machine/curve.csv").read_bytes() == (trained.with_suffix("") / "curve.csv").read_bytes()


def test_models_are_judged_side_by_side(data: Path, trained: Path, tmp_path: Path) -> None:
    table = tmp_path / "judged.csv"
    result = halidegym("judge", data, "--weights", trained, "--own", "4", "-o", table)
    assert result.exit_code == 0, result.output
    assert "4 groups of schedules of 4 pipelines" in result.output
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["Model"] for row in rows] == [
        "shipped", "machine.weights", "shipped, as it is", "shipped, tuned", "machine.weights, tuned",
    ]  # fmt: skip
    assert rows[0]["Gain, paired"] == "0.00 [0.00, 0.00]"
    held_out = MeasuredCollection.read(data).split("validation").ran
    found = judge(predicted_costs(load_weights(trained), held_out), held_out)
    assert rows[1]["Rank correlation"] == str(found.correlation_interval())
    assert rows[1]["Regret"] == str(found.regret_interval())
    assert rows[1]["Regret by halves"] == str(found.regret_by_halves_interval())
    assert rows[3]["Learned from"] == rows[4]["Learned from"] == "4"


def test_weights_files_of_one_name_are_told_apart_by_their_paths(data: Path, trained: Path, tmp_path: Path) -> None:
    table, twin = tmp_path / "judged.csv", tmp_path / trained.name
    shutil.copy(trained.with_suffix("") / "member-0.weights", twin)
    result = halidegym("judge", data, "--weights", trained, "--weights", twin, "-o", table)
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["Model"] for row in rows] == ["shipped", str(trained), str(twin)]


def test_a_comparison_is_written_as_a_table(data: Path, tmp_path: Path) -> None:
    table, settings = tmp_path / "compared.csv", config(tmp_path, epochs=1)
    arguments = "train", "cost-model", data, "-o", tmp_path / "a.weights", "--config", settings, "--compare", table
    result = halidegym(*arguments)
    assert result.exit_code == 0, result.output
    models = [row["Model"] for row in csv.DictReader(table.read_text().splitlines())]
    assert models == ["shipped", "throughput", "log_time", "ranks", "from scratch", "linear", "trees"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "squares"}, "loss='squares'"),
        ({"epoch": 3}, "epoch is no setting"),
        ({"start": "nowhere.weights"}, "nowhere.weights: No such file"),
        ({"members": 0}, "members=0"),
    ],
)
def test_settings_out_of_range_end_with_status_2(
    data: Path, tmp_path: Path, changes: Mapping[str, Any], message: str
) -> None:
    path = tmp_path / "a.weights"
    result = halidegym("train", "cost-model", data, "-o", path, "--config", config(tmp_path, **changes))
    assert (result.exit_code, path.exists()) == (2, False)
    assert message in result.output and result.output.count("\n") == 1


def test_the_file_and_the_folder_of_the_training_are_two(data: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    for name, said in (("plain", "'plain' has no ending"), ("taken.weights", "is a file")):
        result = halidegym("train", "cost-model", data, "-o", tmp_path / name, "--config", config(tmp_path))
        assert result.exit_code == 2 and said in " ".join(result.output.split()), result.output
        assert not (tmp_path / "plain").exists()


def test_the_weights_to_begin_with_are_not_written_over(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.weights"
    save_weights(builtin_weights(), path)
    before = path.read_bytes()
    result = halidegym("train", "cost-model", data, "-o", path, "--config", config(tmp_path, start=str(path)))
    assert result.exit_code == 2 and "has the weights to begin with" in " ".join(result.output.split()), result.output
    assert path.read_bytes() == before


def test_data_that_cannot_be_learned_from_end_with_status_2(data: Path, tmp_path: Path) -> None:
    few, elsewhere, cut = (tmp_path / f"{name}.parquet" for name in ("few", "elsewhere", "cut"))
    MeasuredCollection(this_machine(), tuple(pipelines(0, 1))).save(few)
    other = dataclasses.replace(this_machine(), cpu="Another one")
    MeasuredCollection(other, MeasuredCollection.read(data).schedules).save(elsewhere)
    cut.write_bytes(data.read_bytes()[:-100])
    for path, message in (
        (few, "12 measured schedules of 1 pipelines of the train split; 30 of 4 are needed"),
        (elsewhere, "measured on another machine: Another one"),
        (cut, "cut short"),
    ):
        for arguments in (
            ("train", "cost-model", path, "-o", tmp_path / "a.weights"),
            ("judge", path, "--split", "train"),
        ):
            if path is few and arguments[0] == "judge":
                continue
            result = halidegym(*arguments)
            assert result.exit_code == 2 and message in result.output, result.output
    assert not (tmp_path / "a.weights").exists()
    assert halidegym("judge", elsewhere, "--allow-other-machine").exit_code == 0
    result = halidegym("judge", data, "--own", "20")
    assert result.exit_code == 2 and "No pipeline has 25 good schedules" in result.output


def test_samples_of_halides_tools_are_gathered_first_and_judged_as_named(data: Path, tmp_path: Path) -> None:
    assert halidegym("samples", "write", data, tmp_path).exit_code == 0
    samples = sorted(tmp_path.glob("*.sample"))
    result = halidegym("judge", samples[0])
    assert result.exit_code == 2 and "gathered by `halidegym samples read`" in result.output, result.output
    gathered = tmp_path / "gathered.parquet"
    assert halidegym("samples", "read", *samples, "-o", gathered).exit_code == 0
    result = halidegym("judge", gathered)
    assert result.exit_code == 2 and "Collect" not in result.output, result.output
    assert "no run times of --split validation to judge by, but some of named; give --split named" in result.output
    assert halidegym("judge", gathered, "--split", "named").exit_code == 0


def test_too_few_schedules_to_judge_by_are_refused(tmp_path: Path) -> None:
    few = tmp_path / "few.parquet"
    MeasuredCollection(this_machine(), tuple(pipelines(0, 1)[:4])).save(few)
    result = halidegym("judge", few, "--split", "train")
    assert result.exit_code == 2, result.output
    assert "No pipeline has 5 good schedules that ran; collect more of a pipeline" in result.output
