"""Searches on recorded times: all plans of 16, 32 and 64 in the space "basic", and of 16 in "lanes"."""

from __future__ import annotations

import lzma
import statistics
from pathlib import Path

import pytest

from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.agents.planners.tag import TAG
from halidegym.agents.planners.uct import UCT
from halidegym.envs.timing.database import TimingDatabase
from halidegym.envs.transform.records import TransformReplay
from halidegym.native._core import TransformSpace

RECORD = Path(__file__).with_name("small-plans.jsonl.xz")
RECORDED = [(16, "basic", 43), (32, "basic", 171), (64, "basic", 683), (16, "lanes", 672)]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("record")
    (folder / "lines").write_bytes(lzma.decompress(RECORD.read_bytes()))
    with TimingDatabase(folder / "times.db") as opened:
        opened.import_(folder / "lines")
    return folder / "times.db"


def recorded(database: Path, n: int, space: str) -> TransformReplay:
    return TransformReplay(n, database, space=space, lanes=(1, 2, 4))  # of the machine that recorded


@pytest.mark.parametrize(("n", "space", "plans"), RECORDED)
def test_each_plan_is_on_record(database: Path, n: int, space: str, plans: int) -> None:
    times = recorded(database, n, space).recorded
    assert len(times) == plans == TransformSpace(n, space=space).count_plans()  # type: ignore[arg-type]
    assert 3 < statistics.median(times.values()) / min(times.values()) < 20


@pytest.mark.parametrize(("n", "space", "plans"), RECORDED)
def test_searches_find_the_fastest_plan_on_record(database: Path, n: int, space: str, plans: int) -> None:
    replay = recorded(database, n, space)
    least = min(replay.recorded.values())
    tree = TransformSpace(n, space=space, order="first", cost=replay.cost)  # type: ignore[arg-type]
    exhaustive = ExhaustiveSearch().solve(tree)
    assert exhaustive.cost == least and exhaustive.distinct_evaluations <= plans
    assert replay.recorded[exhaustive.state.text] == least
    graph = TransformSpace(n, space=space, order="any", cost=replay.cost)  # type: ignore[arg-type]
    for found in (UCT().solve(tree, evaluations=3000), TAG().solve(graph, evaluations=3000)):
        assert found.cost <= 1.1 * least


def test_equal_questions_get_equal_answers(database: Path) -> None:
    first, second = recorded(database, 64, "basic"), recorded(database, 64, "basic")
    plans = list(first.recorded)
    assert first.costs(plans) == second.costs(plans) == list(second.recorded.values())
