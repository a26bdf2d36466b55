"""The experiment of TAG's paper, on costs that need no clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from halidegym.agents import DynamicProgramming
from halidegym.evaluation.papers import tag_library, tag_library_report
from halidegym.evaluation.papers.tag_library import CAREFUL, QUICK, Improvement, Search
from halidegym.native._core import TransformSpace

LANES = (1, 2, 4)


class _Model:
    """The model's costs, counted."""

    def __init__(self, n: int) -> None:
        self.asked: list[str] = []
        self._space = TransformSpace(n, context=1.0)

    def cost(self, plan: str) -> float:
        self.asked.append(plan)
        return self._space.state(plan).model_cost


def searches(n: int, measurements: int) -> list[Search]:
    found = []
    for seed, name in enumerate((CAREFUL, QUICK, QUICK)):
        plan = DynamicProgramming().solve(TransformSpace(n)).state.text
        cost = _Model(n).cost(plan)
        found.append(Search(n, name, seed, 200, 1.0, (Improvement(200, 1.0, cost, plan),)))
    for name in tag_library.AGENTS:
        for seed in range(3):
            found.append(tag_library.search(n, "basic", name, seed, measurements, _Model(n), LANES))
    return found


@pytest.mark.parametrize("agent", tag_library.AGENTS)
def test_searches_measure_each_plan_once_and_no_more_than_they_may(agent: str) -> None:
    model = _Model(64)
    found = tag_library.search(64, "basic", agent, 0, 40, model, LANES)
    assert found.measurements == len(model.asked) == len(set(model.asked)) <= 40
    assert found.measurements == 40 or agent == "beam"
    costs = [model.cost(plan) for plan in model.asked[:40]]
    assert found.improvements[-1].cost == min(costs)
    assert [i.cost for i in found.improvements] == sorted(
        {min(costs[: k + 1]) for k in range(len(costs))}, reverse=True
    )
    for improvement in found.improvements:
        assert model.asked[improvement.measurements - 1] == improvement.plan
    assert found.executed_s == pytest.approx(found.measurements * 8 * 5e-5)
    assert found == tag_library.search(64, "basic", agent, 0, 40, _Model(64), LANES)


def test_small_spaces_are_exhausted() -> None:
    found = tag_library.search(16, "basic", "TAG, graph", 0, 1000, _Model(16), LANES)
    assert found.measurements == TransformSpace(16).count_plans()


def test_tables() -> None:
    found = searches(64, 60)
    race = {plan: _Model(64).cost(plan) for plan in tag_library.finalists(found, (20, 60))}
    rows = tag_library.rows(found, (20, 60), race)
    assert [row.agent for row in rows] == [CAREFUL, QUICK, *(name for name in tag_library.AGENTS for _ in range(2))]
    for row in rows:
        assert row.worst <= row.speed <= row.best
        own = [search for search in found if search.agent == row.agent]
        best_plans = [found_then.plan for search in own if (found_then := search.best_after(row.measurements))]
        speeds = [race[found[0].improvements[-1].plan] / race[plan] for plan in best_plans]
        assert len(speeds) == len(own)
        assert (min(speeds), max(speeds)) == (row.worst, row.best)
    assert rows[0].speed == 1
    best = min(race.values())
    for entry in tag_library.reached(found, race):
        own = [search for search in found if search.agent == entry.agent]
        there = [search for search in own if race[search.improvements[-1].plan] <= best / entry.share]
        assert entry.seeds == len(there)
        assert (entry.measurements >= 0) == (2 * len(there) > len(own))


@pytest.mark.parametrize(("there", "middle"), [((1, 2, 3, 4), 3), ((1, 2, 3, None), 3), ((1, 2, None, None), -1)])
def test_of_an_even_number_of_seeds_more_than_half_must_get_there(there: tuple[int | None, ...], middle: int) -> None:
    found = [
        Search(64, "random", seed, 9, 1.0, (Improvement(count or 9, 1.0, 2.0 if count is None else 1.0, plan),))
        for seed, count in enumerate(there)
        for plan in ("slow" if count is None else "fast",)
    ]
    entries = tag_library.reached(found, {"slow": 2.0, "fast": 1.0})
    assert {(entry.measurements, entry.seeds) for entry in entries} == {(middle, len(there) - there.count(None))}


def test_files(tmp_path: Path) -> None:
    found = searches(32, 30)
    race = {plan: _Model(32).cost(plan) for plan in tag_library.finalists(found, (30,))}
    rows, shares = tag_library.rows(found, (30,), race), tag_library.reached(found, race)
    tag_library_report.write_all(rows, shares, found, tmp_path, "tag-library")
    lines = (tmp_path / "tag-library-searches.tsv").read_text().splitlines()
    assert len(lines) == 1 + sum(len(search.improvements) for search in found)
    assert lines[1].split("\t") == ["32", CAREFUL, "0", "200", "1.0", "200", "1.0", *lines[1].split("\t")[-2:]]
    assert len((tmp_path / "tag-library.csv").read_text().splitlines()) == 1 + len(rows)
    assert len((tmp_path / "tag-library-shares.csv").read_text().splitlines()) == 1 + len(rows)
    assert "TAG, graph" in (tmp_path / "tag-library.svg").read_text()


def test_curves_go_on_to_the_ends_of_their_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that finds nothing better after its second plan, out of nine, has not ended there."""
    pytest.importorskip("matplotlib", reason="an optional dependency")
    from matplotlib.axes import Axes

    drawn: list[list[float]] = []
    monkeypatch.setattr(Axes, "step", lambda self, marks, *_, **__: drawn.append(list(marks)))
    improvements = (Improvement(1, 0.1, 3.0, "slow"), Improvement(2, 0.2, 2.0, "fast"))
    found = [Search(64, CAREFUL, 0, 20, 2.0, (Improvement(20, 2.0, 2.0, "fast"),))]
    found += [Search(64, "random", seed, 9, 0.9, improvements) for seed in range(2)]
    tag_library_report.draw(found, tmp_path / "tag-library.svg")
    assert drawn == [[1, 2, 9], [0.1, 0.2, 0.9]]
