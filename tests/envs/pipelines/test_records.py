"""The registry: what names mean, and that they keep meaning it."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from halidegym.envs import pipelines
from halidegym.envs.pipelines import generated
from halidegym.envs.pipelines import records as suite_records
from halidegym.native import _core

FIXED = ("papers-v1", "toy-v1")


def test_suites() -> None:
    by_name = {suite.name: suite for suite in pipelines.suites()}
    assert set(FIXED) | set(generated.SUITES) == set(by_name)
    assert len(by_name["papers-v1"].entries) == 15 + 9
    assert pipelines.names() == pipelines.names("papers-v1") + pipelines.names("toy-v1")
    for suite in by_name.values():
        assert pipelines.names(suite.name) == [entry.name for entry in suite.entries]
        assert all(pipelines.is_name(entry.name) and entry.origin for entry in suite.entries)
    with pytest.raises(ValueError, match=r"no suite 'papers'.*papers-v1"):
        pipelines.names("papers")


def test_names_beyond_the_listed_ones() -> None:
    assert pipelines.is_name("random-train-v1/123456")
    assert pipelines.entry("random-train-v1/123456").build().outputs()
    assert not pipelines.is_name("random-train-v9/1")
    with pytest.raises(ValueError, match=r"no pipeline 'hariss'.*harris"):
        pipelines.build("hariss")


def test_every_name_means_what_it_meant() -> None:
    """In this process, which has built other pipelines before."""
    assert suite_records.differences(suite_records.read_records()) == []


def test_and_in_another_process_in_another_order() -> None:
    script = (
        "from halidegym.envs.pipelines import records as suite_records\n"
        "for suite, entries in reversed(suite_records.read_records().items()):\n"
        "    for name in reversed(list(entries)[:12] if suite.startswith('random') else list(entries)):\n"
        "        assert suite_records.problem(name).hash == entries[name].hash, name\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_changes_are_seen() -> None:
    records = {"toy-v1": {**suite_records.read_records()["toy-v1"]}}
    name, record = next(iter(records["toy-v1"].items()))
    records["toy-v1"][name] = dataclasses.replace(record, hash="0" * 64)
    records["toy-v1"]["toy_gone"] = records["toy-v1"].pop(list(records["toy-v1"])[-1])
    found = [line for line in suite_records.differences(records) if line.startswith("toy-v1")]
    assert found[0] == f"toy-v1: {name} is another problem than recorded"
    assert found[1].endswith("has no record")
    assert found[2] == "toy-v1: toy_gone is gone"


@pytest.mark.parametrize("name", ["toy_blur", "harris"])
def test_records_are_measured_again(name: str) -> None:
    (recorded,) = [entries[name] for entries in suite_records.read_records().values() if name in entries]
    measured = suite_records.measure(name, episodes=20)
    assert (
        dataclasses.replace(
            recorded, episodes=20, median_legal=measured.median_legal, largest_legal=measured.largest_legal
        )
        == measured
    )
    assert measured.largest_legal <= recorded.largest_legal
    assert recorded.episodes == 1000


def test_damaged_records(tmp_path: Path) -> None:
    path = tmp_path / "suites.json"
    records = suite_records.read_records()
    suite_records.write_records(records, path)
    assert suite_records.read_records(path) == records
    path.write_text(path.read_text()[:-100])
    with pytest.raises(_core.FormatError, match="suites --write"):
        suite_records.read_records(path)
