"""`halidegym train`: each recipe from its command, interrupted and refused."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from torch import cuda

from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.learned.policy_file import load_policy_file
from halidegym.evaluation.cli import main
from halidegym.training.data.collection import load_split
from halidegym.training.data.shard import Shard
from processes_for_tests import kill_after_the_first
from trainings_for_tests import AGGREVATE, DQN, EXPERT, IMITATE, PPO, collect_few


def halidegym(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["train", *map(str, arguments)])


def config(folder: Path, settings: Mapping[str, Any]) -> Path:
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(dict(settings)))
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    collect_few(folder)
    return folder


@pytest.fixture(scope="module")
def other_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the same pipelines by another teacher."""
    folder = tmp_path_factory.mktemp("other-data")
    collect_few(folder, plans=1)
    return folder


@pytest.fixture(scope="module")
def imitated(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imitated")
    result = halidegym("imitate", "--config", config(folder, IMITATE), "--data", data, "--output", folder)
    assert result.exit_code == 0, result.output
    assert "rollouts/blind_best_of_beam" in result.output
    assert f"The best policy: {folder / 'policy.npz'}" in result.output.replace("\n", "")
    return folder


def test_a_policy_schedules(imitated: Path, data: Path) -> None:
    policy = imitated / "policy.npz"
    problem = load_split(data, "validation")[0]
    assert PolicyAgent(policy=policy, samples=4).solve(problem.space()).cost >= problem.cost * 0.5
    story = load_policy_file(policy).training
    assert story["recipe"] == "imitate" and story["network"]["width"] == 16


def test_imitation_that_was_killed_goes_on_with_the_same_curve(imitated: Path, data: Path, tmp_path: Path) -> None:
    arguments = "imitate", "--config", config(tmp_path, IMITATE), "--data", data, "--output", tmp_path / "run"
    kill_after_the_first(tmp_path / "run/checkpoint.pt", "train", *arguments)
    assert halidegym(*arguments).exit_code == 0
    for name in ("curve.csv", "policy.npz"):
        assert (tmp_path / "run" / name).read_bytes() == (imitated / name).read_bytes()
    before = (tmp_path / "run/curve.csv").stat().st_mtime_ns
    assert halidegym(*arguments).exit_code == 0  # there is nothing left to do
    assert (tmp_path / "run/curve.csv").stat().st_mtime_ns == before


def test_other_plans_do_not_go_on_in_the_same_folder(imitated: Path, other_data: Path, tmp_path: Path) -> None:
    result = halidegym("imitate", "--config", config(tmp_path, IMITATE), "--data", other_data, "--output", imitated)
    assert result.exit_code == 2
    assert "plans_sha256" in result.output


def test_other_validation_plans_do_not_go_on_in_the_same_folder(imitated: Path, data: Path, tmp_path: Path) -> None:
    """The best score so far is one of the problems before."""
    other = tmp_path / "other"
    shutil.copytree(data, other)
    (path,) = (other / "validation").glob("plans-*.npz")
    shard = Shard.load(path)
    others = tuple(dataclasses.replace(problem, beam_cost=2 * problem.beam_cost) for problem in shard.problems)
    dataclasses.replace(shard, problems=others).save(path)
    result = halidegym("imitate", "--config", config(tmp_path, IMITATE), "--data", other, "--output", imitated)
    assert result.exit_code == 2
    assert "validation_sha256" in result.output and "plans_sha256" not in result.output


def check_that_it_goes_on(start: tuple[str | Path, ...], folder: Path) -> None:
    """The same training, killed on its way, comes to what the one in `folder / "whole"` has come to."""
    killed = (*start, "--output", folder / "killed")
    kill_after_the_first(folder / "killed/checkpoint.pt", "train", *killed)
    assert halidegym(*killed).exit_code == 0
    for name in ("curve.csv", "policy.npz"):
        assert (folder / "killed" / name).read_bytes() == (folder / "whole" / name).read_bytes()


@pytest.mark.parametrize(("recipe", "settings"), [("expert", EXPERT), ("aggrevate", AGGREVATE)])
def test_a_training_that_has_ended_is_given_more_rounds(
    recipe: str, settings: Mapping[str, Any], imitated: Path, data: Path, tmp_path: Path
) -> None:
    curves = []
    for folder, rounds in (("more", 1), ("more", 2), ("whole", 2)):
        changed = config(tmp_path, {**settings, "rounds": rounds})
        reads = "--policy", imitated / "policy.npz", "--data", data
        result = halidegym(recipe, "--config", changed, *reads, "--output", tmp_path / folder)
        assert result.exit_code == 0, result.output
        curves.append((tmp_path / folder / "curve.csv").read_text())
    assert curves[0] != curves[1] == curves[2]


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [
        ("imitate", {**IMITATE, "epochs": 1}),
        ("expert", {**EXPERT, "rounds": 1}),
        ("aggrevate", {**AGGREVATE, "rounds": 1, "epochs": 1}),
    ],
)
def test_fewer_problems_to_judge_by_than_wanted_are_told(
    recipe: str, settings: Mapping[str, Any], imitated: Path, data: Path, tmp_path: Path
) -> None:
    there = len(load_split(data, "validation"))
    reads = () if recipe == "imitate" else ("--policy", imitated / "policy.npz")
    for wanted in (there, there + 1):
        rollouts = {**settings["rollouts"], "problems": wanted, "samples": 1}
        changed = config(tmp_path, {**settings, "rollouts": rollouts})
        result = halidegym(recipe, "--config", changed, *reads, "--data", data, "--output", tmp_path / str(wanted))
        assert result.exit_code == 0, result.output
        told = f"judged by the {there} pipelines with plans in {data}/validation; rollouts.problems={wanted}"
        assert (told in result.stderr) == (wanted > there), result.stderr


def test_expert_iteration_improves_labels_and_goes_on_when_killed(
    imitated: Path, data: Path, other_data: Path, tmp_path: Path
) -> None:
    begun = "expert", "--config", config(tmp_path, EXPERT), "--policy", imitated / "policy.npz"
    start = (*begun, "--data", data)
    result = halidegym(*start, "--output", tmp_path / "whole")
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "whole/curve.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["step", "0", "1", "2", "3"]
    assert load_policy_file(tmp_path / "whole/policy.npz").training["recipe"] == "expert"
    check_that_it_goes_on(start, tmp_path)
    refused = halidegym(*begun, "--data", other_data, "--output", tmp_path / "whole")
    assert refused.exit_code == 2 and "plans_sha256" in refused.output
    many = "expert", "--config", config(tmp_path, {**EXPERT, "pipelines": 30}), *begun[3:], "--data", data
    refused = halidegym(*many, "--output", tmp_path / "many")
    assert refused.exit_code == 2 and "need 31 pipelines" in " ".join(refused.output.split())


def test_aggrevate_learns_of_other_pipelines_each_round_and_goes_on_when_killed(
    imitated: Path, data: Path, other_data: Path, tmp_path: Path
) -> None:
    begun = "aggrevate", "--config", config(tmp_path, AGGREVATE), "--policy", imitated / "policy.npz"
    start = (*begun, "--data", data)
    result = halidegym(*start, "--output", tmp_path / "whole")
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "whole/curve.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["step", "0", "1", "2"]
    story = load_policy_file(tmp_path / "whole/policy.npz").training
    assert story["recipe"] == "aggrevate" and story["started_from"]["recipe"] == "imitate"
    check_that_it_goes_on(start, tmp_path)
    refused = halidegym(*begun, "--data", other_data, "--output", tmp_path / "whole")
    assert refused.exit_code == 2 and "plans_sha256" in refused.output
    many = "aggrevate", "--config", config(tmp_path, {**AGGREVATE, "pipelines": 30}), *begun[3:], "--data", data
    refused = halidegym(*many, "--output", tmp_path / "many")
    assert refused.exit_code == 2 and "need 60 pipelines" in " ".join(refused.output.split())


@pytest.mark.slow
@pytest.mark.parametrize(("recipe", "settings", "kept"), [("ppo", PPO, "last"), ("dqn", DQN, "best")])
def test_learning_from_rewards_that_was_killed_goes_on_with_the_same_curve(
    tmp_path: Path, recipe: str, settings: Mapping[str, Any], kept: str
) -> None:
    start = recipe, "--config", config(tmp_path, {**settings, "steps": 320})
    result = halidegym(*start, "--output", tmp_path / "whole")
    assert result.exit_code == 0, result.output
    assert f"The {kept} policy: {tmp_path / 'whole/policy.npz'}" in result.output.replace("\n", "")
    check_that_it_goes_on(start, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clips": 0.2}, "clips is no setting"),
        pytest.param(
            {"device": "cuda"}, "finds no GPU here", marks=pytest.mark.skipif(cuda.is_available(), reason="has one")
        ),
        ({"batch": 12}, "batch=12 does not divide"),
        ({"pipelines": ["random-test-v1/0"]}, "random-test-v1/0 is held out"),
        ({"weights": "nowhere.weights"}, "nowhere.weights"),
    ],
)
def test_ppo_out_of_range_ends_with_status_2(tmp_path: Path, change: Mapping[str, Any], message: str) -> None:
    result = halidegym("ppo", "--config", config(tmp_path, {**PPO, **change}), "--output", tmp_path / "run")
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clip": 0.2}, "clip is no setting"),
        ({"batch": 100}, "batch=100 exceeds buffer=60"),
        ({"pipelines": ["random-validation-v1/0"]}, "random-validation-v1/0 is held out"),
        ({"start": "nowhere", "start_temperature": 0.1}, "start='nowhere' has a network already"),
        ({"weights": "nowhere.weights"}, "nowhere.weights"),
    ],
)
def test_dqn_out_of_range_ends_with_status_2(tmp_path: Path, change: Mapping[str, Any], message: str) -> None:
    result = halidegym("dqn", "--config", config(tmp_path, {**DQN, **change}), "--output", tmp_path / "run")
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "epochs=0: input should be greater than or equal to 1"),
        ({"epoch": 3}, "epoch is no setting; leave it out, or give one of seed,"),
        ({"network": {"width": 20}}, "network.width=20: input should be a multiple of 16"),
    ],
)
def test_configurations_out_of_range_end_with_status_2(
    data: Path, tmp_path: Path, change: Mapping[str, Any], message: str
) -> None:
    path = config(tmp_path, {**IMITATE, **change})
    result = halidegym("imitate", "--config", path, "--data", data, "--output", tmp_path / "run")
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_other_settings_do_not_go_on_in_the_same_folder(imitated: Path, data: Path, tmp_path: Path) -> None:
    path = config(tmp_path, {**IMITATE, "batch": 16})
    result = halidegym("imitate", "--config", path, "--data", data, "--output", imitated)
    assert result.exit_code == 2
    assert "written with other settings: batch=8, now 16" in " ".join(result.output.split())


@pytest.mark.parametrize("recipe", ["imitate", "expert", "aggrevate"])
def test_nothing_is_trained_into_the_folder_of_the_data(data: Path, recipe: str) -> None:
    before = sorted(data.rglob("*"))
    policy = () if recipe == "imitate" else ("--policy", "default")
    for output in (data, data / "train", data / "validation"):
        result = halidegym(recipe, "--data", data, *policy, "--output", output)
        assert result.exit_code == 2 and f"--output {output} is where the plans of --data {data} are" in result.output
    assert sorted(data.rglob("*")) == before


@pytest.mark.parametrize("name", ["policy.npz", "current.npz"])
def test_the_policy_to_begin_with_is_not_written_over(data: Path, imitated: Path, tmp_path: Path, name: str) -> None:
    policy = shutil.copy(imitated / "policy.npz", tmp_path / name)
    path = config(tmp_path, EXPERT)
    result = halidegym("expert", "--config", path, "--data", data, "--policy", policy, "--output", tmp_path)
    assert result.exit_code == 2 and "keeps its own. Give another folder" in " ".join(result.output.split())
    assert policy.read_bytes() == (imitated / "policy.npz").read_bytes()


def test_a_policy_that_is_missing_is_named_with_the_shipped_ones(data: Path, tmp_path: Path) -> None:
    result = halidegym("expert", "--data", data, "--policy", "nowhere", "--output", tmp_path / "run")
    assert result.exit_code == 2
    assert (
        "'nowhere' does not exist. Give a file, or one of the package's policies: default, seed-1, seed-2."
        in " ".join(result.output.split())
    )


def test_a_folder_that_cannot_be_made_is_named(data: Path, tmp_path: Path) -> None:
    rollouts = {**IMITATE["rollouts"], "problems": 1}  # as many as there are, or a note would say so first
    settings = config(tmp_path, {**IMITATE, "rollouts": rollouts})
    result = halidegym("imitate", "--config", settings, "--data", data, "--output", "/proc/nowhere")
    assert result.exit_code == 2 and result.output.startswith("Error: /proc/nowhere: ")


def test_data_are_told_of_when_missing(tmp_path: Path) -> None:
    result = halidegym("imitate", "--data", tmp_path, "--output", tmp_path / "run")
    assert result.exit_code == 2
    assert "There are no plans in" in result.output and "halidegym train data" in result.output


@pytest.mark.parametrize("name", ["harris", "papers-v1", "random-test-v1"])
def test_test_pipelines_are_refused(tmp_path: Path, name: str) -> None:
    settings = yaml.safe_load(Path(sys.modules["halidegym.training.settings"].__file__ or "").parent.joinpath(
        "configs/data-smoke.yaml").read_text())  # fmt: skip
    path = config(tmp_path, {**settings, "pipelines": {name: 3}})
    result = halidegym("data", "--config", path, "--output", tmp_path / "run")
    assert result.exit_code == 2
    assert f"{name} is for tests" in " ".join(result.output.split())


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "halidegym.training.settings", None)
    monkeypatch.setitem(sys.modules, "halidegym.training.data.collect", None)
    for module in ("pydantic", "halidegym.training.data.collect"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "pydantic", None)
    monkeypatch.delitem(sys.modules, "halidegym.training.settings")
    result = halidegym("data", "--output", tmp_path)
    assert result.exit_code == 2
    assert "Training needs pydantic" in result.output and "pip install 'halidegym[train]'" in result.output


@pytest.mark.parametrize(("recipe", "library"), [("ppo", "sb3_contrib"), ("dqn", "stable_baselines3")])
def test_a_recipe_without_its_library_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recipe: str, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    for module in ("train", "masked_dqn"):
        monkeypatch.delitem(sys.modules, f"halidegym.training.{recipe}.{module}", raising=False)
    result = halidegym(recipe, "--config", f"{recipe}-smoke", "--output", tmp_path)
    assert result.exit_code == 2
    assert f"Training needs {library}" in result.output and "pip install 'halidegym[train]'" in result.output
