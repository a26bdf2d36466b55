"""Figures 4 and 5 of ProTuner (Haj-Ali et al. 2020): what greedy trees are good for in an ensemble of 16.

Figure 4 counts the decisions that greedy trees made: those whose deciding schedule a greedy tree found first. Figure 5
compares run times of the schedules; here it is their costs. Target and number of cores are as in `reproduce_mb2fbs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from halidegym.envs.problems.rules import Rules
from halidegym.envs.processes.isolated import run_isolated
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.output.plots import new_figure, save_svg
from halidegym.evaluation.papers.mb2fbs import PARALLELISM, TARGET
from halidegym.native._core import MctsOptions, mcts

#: The paper's applications and numbers of greedy trees.
PIPELINES: Sequence[str] = ("bilateral_grid", "nl_means", "iir_blur", "max_filter")
TREES = 16
GREEDY_TREES: Sequence[int] = (0, 1, 4, 8, 12, 15, 16)

#: Of the paper, per decision.
SECONDS = 30.0


@dataclass(frozen=True)
class EnsembleRun:
    """One search.

    Attributes:
        pipeline, greedy_trees, seed: what was run.
        cost: of the best schedule.
        decisions: how many a tree decided.
        greedy_decisions: how many of these a greedy tree.
    """

    pipeline: str
    greedy_trees: int
    seed: int
    cost: float
    decisions: int
    greedy_decisions: int


@dataclass(frozen=True)
class Ensemble:
    """One number of greedy trees on one pipeline, over all seeds.

    Attributes:
        greedy_share: of the decisions.
        relative_cost: least cost of all ensembles / cost, geometric mean; 1 is the best.
    """

    greedy_share: float
    relative_cost: float


def label(greedy_trees: int) -> str:
    """Return X_Y for X standard and Y greedy trees, as the paper writes."""
    return f"{TREES - greedy_trees}_{greedy_trees}"


def run(
    pipelines: Iterable[str] = PIPELINES,
    *,
    scale: float,
    threads: int = 1,
    seeds: Sequence[int] = (0,),
    on_step: Callable[[str], None] = lambda text: None,
) -> list[EnsembleRun]:
    """Search with each number of greedy trees, one after another, each in a process of its own.

    Args:
        pipelines: names of registered ones.
        scale: factor of the paper's seconds per decision.
        threads: of the ensemble.
        seeds: of the searches.
        on_step: called with a text when a search begins.

    Raises:
        Error: a search fails.
    """
    runs = []
    for pipeline in pipelines:
        for greedy_trees in GREEDY_TREES:
            for seed in seeds:
                on_step(f"{pipeline}, {label(greedy_trees)}")
                runs.append(run_isolated(_run, pipeline, greedy_trees, seed, SECONDS * scale, threads))
    return runs


def _run(pipeline: str, greedy_trees: int, seed: int, seconds: float, threads: int) -> EnsembleRun:
    options = MctsOptions(
        trees=TREES, greedy_trees=greedy_trees, seconds_per_decision=seconds, threads=threads, seed=seed
    )
    result = mcts(Rules().space(load_problem(pipeline, target=TARGET, parallelism=PARALLELISM)), options)
    deciders = [tree for tree in result.deciding_trees if tree >= 0]
    by_greedy = sum(tree < greedy_trees for tree in deciders)
    return EnsembleRun(pipeline, greedy_trees, seed, result.solutions[0].cost, len(deciders), by_greedy)


def summarize(runs: Iterable[EnsembleRun]) -> dict[str, dict[int, Ensemble]]:
    """Return, by pipeline and number of greedy trees, the mean over the seeds."""
    collected: dict[str, dict[int, list[EnsembleRun]]] = {}
    for search in runs:
        collected.setdefault(search.pipeline, {}).setdefault(search.greedy_trees, []).append(search)
    summary: dict[str, dict[int, Ensemble]] = {}
    for pipeline, ensembles in collected.items():
        least = min(search.cost for searches in ensembles.values() for search in searches)
        summary[pipeline] = {
            greedy_trees: Ensemble(
                sum(search.greedy_decisions for search in searches)
                / max(sum(search.decisions for search in searches), 1),
                geometric_mean(least / search.cost for search in searches),
            )
            for greedy_trees, searches in ensembles.items()
        }
    return summary


def draw(runs: Iterable[EnsembleRun], path: Path) -> None:
    """Draw Figure 4 above Figure 5, a column for each pipeline.

    Raises:
        Error: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    summary = summarize(runs)
    figure = new_figure(max(4.0, 3.2 * len(summary)), 5.5)
    upper, lower = figure.subplots(2, len(summary), sharex=True, sharey="row", squeeze=False)
    for shares, costs, (pipeline, ensembles) in zip(upper, lower, summary.items(), strict=True):
        labels = [label(greedy_trees) for greedy_trees in ensembles]
        greedy = [100 * ensemble.greedy_share for ensemble in ensembles.values()]
        shares.bar(labels, greedy, label="greedy")
        shares.bar(labels, [100 - share for share in greedy], bottom=greedy, label="standard")
        shares.set_title(pipeline)
        costs.bar(labels, [ensemble.relative_cost for ensemble in ensembles.values()], color="C2")
        costs.tick_params("x", rotation=45)
    upper[0].set_ylabel("decisions, %")
    lower[0].set_ylabel("least cost / cost")
    figure.legend(*upper[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    save_svg(figure, path)
