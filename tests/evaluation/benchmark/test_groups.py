"""What is compared in a report, on results that are made up."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks_for_tests import halidegym, run_suite
from halidegym.envs.timing.measurements import Comparison, Timing
from halidegym.evaluation.benchmark.attempts import search_budget
from halidegym.evaluation.benchmark.cells import Cell, CellResult
from halidegym.evaluation.benchmark.report import plots
from halidegym.evaluation.benchmark.report.groups import Group, Scores, groups_of
from halidegym.evaluation.benchmark.report.tables import effort_table, time_table
from halidegym.evaluation.benchmark.run import Run
from halidegym.evaluation.benchmark.suite import AgentSettings, BudgetSettings
from halidegym.evaluation.benchmark.timings import PipelineTimings
from halidegym.native._core import Error
from halidegym.native.weights import builtin_weights, make_weights, save_weights

PIPELINES = [f"p{number}" for number in range(6)]


def result(pipeline: str, key: str = "", *, seed: int = 0, cost: float | None = 1.0) -> CellResult:
    """Of a run that failed if it has no cost."""
    plan = {"cost": cost, "fingerprint": {"problem_hash": ""}}
    cell = {"pipeline": pipeline, "seed": seed}
    if cost is None:
        return CellResult(cell, {}, failure="nothing was found")
    return CellResult(cell, {}, schedule_key=key, plan=plan)


def everywhere(*ratios: float, pipelines: Sequence[str] = PIPELINES) -> Scores:
    return {pipeline: list(ratios) for pipeline in pipelines}


def group(
    agents: dict[str, list[CellResult]], speeds: dict[str, float] | None = None, seeds: Sequence[int] | None = None
) -> Group:
    """With the speeds of schedules by their keys, the same on each pipeline."""
    timing = Timing("ok", (1.0,), 0.0)
    compared = {key: Comparison(ratio, ratio, ratio, timing, timing) for key, ratio in (speeds or {}).items()}
    by_pipeline = {
        agent: {p: found for p in PIPELINES if (found := [each for each in results if each.cell["pipeline"] == p])}
        for agent, results in agents.items()
    }
    return Group("", False, "base", PIPELINES, by_pipeline, dict.fromkeys(PIPELINES, PipelineTimings(compared)), seeds)


def test_speeds_are_relative_to_the_baseline_of_the_group() -> None:
    """Times are relative to the baseline's first schedule, which is another budget's, or another seed's."""
    base = [result(p, key, seed=seed) for p in PIPELINES for seed, key in enumerate(("slow", "fast"))]
    found = group({"base": base, "agent": [result(p, "agent") for p in PIPELINES]}, {"slow": 2, "fast": 8, "agent": 2})
    for agent, ratios in (("base", [0.5, 2]), ("agent", [0.5])):
        assert [*found.speedups(agent).values()] == [pytest.approx(ratios)] * len(PIPELINES)
    header, lines = time_table(found)
    speeds = {line[1]: dict(zip(header, line, strict=True))["speed, of the baseline's"] for line in lines}
    assert speeds == {"base": "-", "agent": "0.500 [0.500, 0.500]"}


def test_searches_that_took_nothing_are_told_from_those_that_do_not_count() -> None:
    def counted(pipeline: str, expansions: int, measurements: int | None) -> CellResult:
        plan = {"seconds": 0.5, "evaluations": 1, "expansions": expansions, "measurements": measurements}
        return CellResult({"pipeline": pipeline}, {}, plan=plan)

    agents = {
        "base": [counted("p0", 4, None), counted("p1", 9, None)],
        "lucky": [counted("p0", 0, 0), counted("p1", 9, 0)],
    }
    header, lines = effort_table(group(agents))
    found = {line[0]: dict(zip(header, line, strict=True)) for line in lines}
    assert (found["base"]["expansions"], found["base"]["measurements"]) == ("6", "-")
    assert (found["lucky"]["expansions"], found["lucky"]["measurements"]) == ("0", "0")


def test_seeds_that_were_not_to_be_timed_are_out() -> None:
    """Some have a run time all the same: those that came upon the schedule of one that was to be."""
    agent = [result(p, "agent") for p in PIPELINES]
    agent += [result(p, "base" if p == "p0" else f"other {p}", seed=1) for p in PIPELINES[:-1]]
    agent += [result(PIPELINES[-1], seed=1, cost=None)]
    found = group({"base": [result(p, "base") for p in PIPELINES], "agent": agent}, {"base": 1, "agent": 2}, seeds=[0])
    assert found.speedups("agent") == everywhere(2)


def test_a_failure_of_the_baseline_leaves_nothing_to_compare_with() -> None:
    base = [result(p, "base", seed=seed) for p in PIPELINES for seed in range(2)]
    base[1] = result("p0", seed=1, cost=None)
    found = group({"base": base, "agent": [result(p, "agent") for p in PIPELINES]}, {"base": 1, "agent": 2})
    for ratios in (found.speedups, found.cost_ratios):
        assert set(ratios("agent")) == set(ratios("base")) == set(PIPELINES[1:])
    assert time_table(found)[1][1][5] == "-"


def test_what_is_still_to_come_is_not_compared() -> None:
    agent = [result(p, seed=seed) for p in PIPELINES for seed in range(2)][:-1]
    found = group({"base": [result(p) for p in PIPELINES], "agent": agent})
    assert found.cost_ratios("agent") == everywhere(1, 1, pipelines=PIPELINES[:-1])


def test_failures_are_within_no_factor_of_the_best() -> None:
    agent = [result(p, "agent", cost=0.5 if p == "p0" else None) for p in PIPELINES]
    none = [result(p, cost=None) for p in PIPELINES]
    base = [result(p, "base") for p in PIPELINES]
    found = group({"base": base, "agent": agent, "none": none}, {"base": 1, "agent": 2})
    for ratios in (found.speedups, found.cost_ratios):
        assert ratios("agent") == {"p0": [2]}
        with_failures = {name: ratios(name, with_failures=True) for name in found.agents}
        assert with_failures["agent"] == {"p0": [2]} | everywhere(0, pipelines=PIPELINES[1:])
        (axis,) = plots.profile(with_failures, plots.looks_of([*found.agents]), "cost").axes
        highest = {line.get_label(): max(line.get_ydata()) for line in axis.lines}
        assert highest == pytest.approx({"base": 1, "agent": 1 / 6})


def test_schedules_that_fail_when_timed_are_failures() -> None:
    agent = [result(p, "crashes" if p == "p0" else "agent") for p in PIPELINES]
    speeds = {"base": 1, "agent": 2, "crashes": float("nan")}
    found = group({"base": [result(p, "base") for p in PIPELINES], "agent": agent}, speeds)
    assert found.speedups("agent") == everywhere(2, pipelines=PIPELINES[1:])
    assert found.speedups("agent", with_failures=True)["p0"] == [0]


def test_a_mean_of_some_pipelines_is_no_bar() -> None:
    agent = [result(p, cost=0.5 if p == "p0" else None) for p in PIPELINES]
    found = group({"base": [result(p) for p in PIPELINES], "agent": agent})
    ratios = {name: found.cost_ratios(name) for name in found.agents}
    (axis,) = plots.bars(found, ratios, plots.looks_of([*ratios]), "cost").axes
    last = {bars.get_label(): bars[-1].get_height() for bars in axis.containers}
    assert last["agent"] == 0 < last["base"] < 1


def test_curves_in_units_of_what_the_baseline_does_not_count_are_left_out() -> None:
    step = {"seconds": 1.0, "evaluations": 1, "expansions": 1, "cost": 1.0}
    found = group({"base": [result(p) for p in PIPELINES], "agent": [result(p) for p in PIPELINES]})
    for by_pipeline in found.agents.values():
        for (each,) in by_pipeline.values():
            assert each.plan
            each.plan.update(history=[step], seconds=1.0, distinct_evaluations=None)
    looks = plots.looks_of([*found.agents])
    assert plots.curves(found, "evaluations", looks)
    in_units = dataclasses.replace(found, in_units_of_baseline=True)
    assert plots.curves(in_units, "evaluations", looks) is None
    assert plots.curves(in_units, "seconds", looks)


def test_budgets_in_units_of_what_the_baseline_does_not_count_are_told_from_failures() -> None:
    cell = Cell("p0", "agent", AgentSettings(agent="Greedy"), BudgetSettings(baseline_evaluations=2), 0, "host", 1)
    base = result("p0")
    assert base.plan
    base.plan["distinct_evaluations"] = 50
    assert search_budget(cell, base) == {"evaluations": 100}
    base.plan["distinct_evaluations"] = None
    for baseline, message in ((base, "counts no evaluations"), (result("p0", cost=None), "failed"), (None, "failed")):
        with pytest.raises(Error, match=f"the baseline {message}"):
            search_budget(cell, baseline)


def test_costs_by_other_weights_than_the_baselines_are_not_compared(tmp_path: Path) -> None:
    tensors = {name: tensor.copy() for name, tensor in builtin_weights().tensors().items()}
    tensors["conv1_bias"] -= 1
    save_weights(make_weights(tensors), tmp_path / "other.weights")
    beam = {"agent": "BeamSearch", "parameters": {"beam_size": 2}}
    other = {"agent": "BeamSearch", "parameters": {"beam_size": 2, "weights": str(tmp_path / "other.weights")}}
    suite = {"pipelines": ["toy_blur"], "budgets": None}
    run = run_suite(tmp_path, agents={"beam": beam, "other": other}, **suite)
    (found,) = groups_of(Run(run))
    assert (found.cost_ratios("other"), found.has_no_costs("other"), found.has_no_costs("beam")) == ({}, True, False)
    assert halidegym("report", run).exit_code == 0
    assert "Not compared by cost" in (run / "report" / "report.md").read_text()
    assert "1 replayed, 1 believed, 0 failed, 0 false" in halidegym("validate", run).output
    (tmp_path / "alike").mkdir()
    alike = run_suite(tmp_path / "alike", agents={"beam": other, "other": other}, **suite)
    (found,) = groups_of(Run(alike))
    assert found.cost_ratios("other") == {"toy_blur": [pytest.approx(1)]}, "all by the same weights"


@pytest.mark.parametrize("last", [[result("p5", cost=None)], []])
def test_an_agent_that_failed_somewhere_or_is_not_done_has_no_curve(last: list[CellResult]) -> None:
    """It would be that of the pipelines that it copes with, or has met."""
    step = {"seconds": 1.0, "evaluations": 1, "expansions": 1, "cost": 1.0}
    agent = [*(result(p, cost=0.5) for p in PIPELINES[:-1]), *last]
    found = group({"base": [result(p) for p in PIPELINES], "agent": agent})
    for by_pipeline in found.agents.values():
        for (each,) in by_pipeline.values():
            if each.plan is not None:
                each.plan["history"] = [step | {"cost": each.cost}]
    figure = plots.curves(found, "evaluations", plots.looks_of([*found.agents]))
    assert figure
    assert [line.get_label() for line in figure.axes[0].lines][:-1] == ["base"]
