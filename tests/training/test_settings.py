"""Settings are read strictly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from halidegym.native._core import InvalidParameter
from halidegym.training.aggrevate.settings import AggrevateSettings, LabelSettings
from halidegym.training.data.collect import DataSettings
from halidegym.training.dqn.settings import DQNSettings
from halidegym.training.imitation.settings import ImitationSettings, NetworkSettings, RolloutSettings
from halidegym.training.ppo.settings import PPOSettings
from halidegym.training.settings import CONFIGS, Settings, TrainingSettings, load_settings, parse_settings
from pages_for_tests import ROOT, names_in, tables


def content() -> dict[str, Any]:
    return yaml.safe_load((CONFIGS / "data-smoke.yaml").read_text())  # type: ignore[no-any-return]


def refused(tmp_path: Path, changed: Any) -> str:
    path = tmp_path / "changed.yaml"
    path.write_text(changed if isinstance(changed, str) else yaml.safe_dump(changed))
    with pytest.raises(InvalidParameter) as raised:
        load_settings(DataSettings, path)
    assert str(path) in str(raised.value)
    return str(raised.value)


def test_unknown_settings_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    message = refused(tmp_path, {**content(), "colour": "red"})
    assert "colour is no setting; leave it out, or give one of pipelines, target" in message
    assert "teacher.beam_size" in message
    message = refused(tmp_path, {**content(), "teacher": {**content()["teacher"], "beamsize": 32}})
    assert "teacher.beamsize is no setting" in message


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parallelism", 0, "parallelism=0: input should be greater than or equal to 1"),
        ("parallelism", "16", "parallelism='16': input should be a valid integer"),
        ("parallelism", True, "parallelism=True: input should be a valid integer"),
        (
            "pipelines",
            {"random-train-v1": 0},
            "there are no 0 pipelines of random-train-v1; give a number of at least 1",
        ),
        ("pipelines", {"random-test-v1": 10}, "random-test-v1 is for tests: results are reported on it"),
        ("pipelines", {"random-test-v2": 10}, "random-test-v2 is for tests: results are reported on it"),
        ("pipelines", {"papers-v1": 10}, "papers-v1 is for tests"),
        ("pipelines", {"harris": 1}, "harris is for tests.* give random-train-v1 or random-validation-v1"),
        ("pipelines", {"random-train-v9": 1}, "'random-train-v9' is no suite of generated pipelines"),
        ("teacher", None, "teacher=None: input should be"),
    ],
)
def test_values_out_of_range_are_refused(tmp_path: Path, name: str, value: object, message: str) -> None:
    path = tmp_path / "changed.yaml"
    path.write_text(yaml.safe_dump({**content(), name: value}))
    with pytest.raises(InvalidParameter, match=message):
        load_settings(DataSettings, path)


def test_missing_settings_are_named(tmp_path: Path) -> None:
    changed = content()
    del changed["target"], changed["teacher"]["seed"]
    message = refused(tmp_path, changed)
    assert "target is missing" in message and "teacher.seed is missing" in message


@pytest.mark.parametrize("text", ["a: [", "- 1", "", "\0", "!!python/object:os.system {}", "? [a]\n: 1"])
def test_what_are_no_settings_is_refused(tmp_path: Path, text: str) -> None:
    refused(tmp_path, text)


def test_numbers_need_no_dot(tmp_path: Path) -> None:
    path = tmp_path / "numbers.yaml"
    text = yaml.safe_dump({**content(), "teacher": {**content()["teacher"], "within": 0.5}})
    assert "within: 0.5" in text
    path.write_text(text.replace("within: 0.5", "within: 5e-2"))
    assert load_settings(DataSettings, path).teacher.within == 0.05


@pytest.mark.parametrize("text", ["target: 2020-13-99", "target: " + "[" * 5000])
def test_what_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    assert "is no YAML" in refused(tmp_path, text)


def test_settings_that_are_given_twice_are_named(tmp_path: Path) -> None:
    assert "teacher is given twice" in refused(tmp_path, "teacher: {seed: 1}\nparallelism: 4\nteacher: {seed: 2}")
    assert "seed is given twice" in refused(tmp_path, "teacher: {seed: 1, seed: 2}")


def test_a_file_that_is_missing_is_named_with_the_shipped_ones() -> None:
    with pytest.raises(InvalidParameter, match=r"nowhere\.yaml: No such file.* data, data-smoke"):
        load_settings(DataSettings, "nowhere.yaml")


def test_settings_that_do_not_fit_each_other_are_named_alone() -> None:
    settings = yaml.safe_load((CONFIGS / "ppo-smoke.yaml").read_text())
    with pytest.raises(InvalidParameter) as raised:
        parse_settings(PPOSettings, {**settings, "batch": 100}, "my.yaml")
    assert str(raised.value) == "my.yaml: batch=100 does not divide num_envs * rollout_steps=512; change one of them"
    with pytest.raises(InvalidParameter, match=r"^my\.yaml: the file=\['seed'\]: input should be a valid dictionary"):
        parse_settings(PPOSettings, ["seed"], "my.yaml")


def test_no_more_threads_than_cores_are_used() -> None:
    assert 1 <= TrainingSettings(seed=0, threads=100_000).num_threads == TrainingSettings(seed=0).num_threads
    assert TrainingSettings(seed=0, threads=1).num_threads == 1


@pytest.mark.parametrize(
    ("page", "settings", "groups"),
    [
        ("imitation", ImitationSettings, {"network": NetworkSettings, "rollouts": RolloutSettings}),
        ("aggrevate", AggrevateSettings, {"labels": LabelSettings}),
        ("ppo", PPOSettings, {}),
        ("dqn", DQNSettings, {}),
    ],
)
def test_pages_have_all_settings(page: str, settings: type[Settings], groups: dict[str, type[Settings]]) -> None:
    (rows,) = tables((ROOT / f"docs/training/{page}.md").read_text(encoding="utf-8"), "setting", "meaning")
    assert sorted(names_in([name for name, _ in rows])) == sorted(settings.model_fields)
    for group, members in groups.items():
        (meaning,) = (meaning for names, meaning in rows if group in names_in([names]))
        assert set(members.model_fields) <= set(names_in([meaning]))
