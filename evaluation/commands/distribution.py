"""`halidegym distribution`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from halidegym.envs.pipelines import generated
from halidegym.evaluation.arguments.options import Integer
from halidegym.evaluation.arguments.paths import OutputFile, WritingCommand
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.plots import check_plot_file, new_figure, save_figure
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.studies.distribution import Facts, families, quantiles, survey

_FRACTIONS = (0.0, 0.25, 0.5, 0.75, 1.0)


@click.command(cls=WritingCommand)
@click.option(
    "--suite",
    type=click.Choice(list(generated.SUITES)),
    default=next(iter(generated.SUITES)),
    show_default=True,
    help="Which of the suites of generated pipelines.",
)
@click.option("--pipelines", type=Integer(1), default=500, show_default=True, help="How many of them.")
@click.option("--plot", type=OutputFile(), help="Also draw a plot into this file.")
def distribution(suite: str, pipelines: int, plot: Path | None) -> None:
    """Describe the distribution of the generated pipelines.

    The first pipelines of the suite are generated and analysed. Shown are quartiles of their sizes, and which share of
    all their Funcs has which type, number of dimensions and kind. A plot needs matplotlib, which comes with the extra
    halidegym[bench].
    """
    if plot is not None:
        check_plot_file(plot)
    with steps_bar(pipelines) as on_step:
        surveyed = survey(suite, pipelines, on_step)
    console = output_console()
    for table in _tables(suite, surveyed):
        console.print(table)
    if plot is not None:
        _draw(suite, surveyed, plot)


def _tables(suite: str, surveyed: Sequence[Facts]) -> list[Table]:
    sizes = Table(
        *name_columns(""),
        *number_columns("Least", "25 %", "Median", "75 %", "Most", "Mean"),
        title=f"{suite}: {len(surveyed)} pipelines",
        title_justify="left",
    )
    for quantity in surveyed[0].sizes:
        values = [facts.sizes[quantity] for facts in surveyed]
        sizes.add_row(
            quantity, *(_number(value) for value in [*quantiles(values, _FRACTIONS), sum(values) / len(values)])
        )
    kinds = _total(facts.kinds for facts in surveyed)
    return [
        sizes,
        _shares("Type", _total(facts.types for facts in surveyed)),
        _shares("Dimensions", _total(facts.ranks for facts in surveyed)),
        _shares("Family", families(kinds)),
        _shares("Kind", kinds),
    ]


def _total(counters: Iterable[Counter[Any]]) -> Counter[Any]:
    return sum(counters, Counter())


def _shares(title: str, counts: Counter[Any]) -> Table:
    table = Table(*name_columns(title), *number_columns("Funcs", "Share"))
    for key, count in sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))):
        table.add_row(str(key), str(count), f"{count / sum(counts.values()):.1%}")
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.2f}"


def _draw(suite: str, surveyed: Sequence[Facts], path: Path) -> None:
    figure = new_figure(11, 6)
    figure.suptitle(f"{suite}: {len(surveyed)} pipelines")
    axes = figure.subplots(2, 3).flat
    for quantity, axis in zip(
        ("Funcs (nodes)", "stages", "skip edges", "legal decisions of a state"), axes, strict=False
    ):
        values = [facts.sizes[quantity] for facts in surveyed]
        axis.hist(values, bins=range(int(min(values)), int(max(values)) + 2) if max(values) < 50 else 30)
        axis.set_xlabel(quantity)
        axis.set_ylabel("pipelines")
    counted = (_total(facts.types for facts in surveyed), families(_total(facts.kinds for facts in surveyed)))
    for label, counts, axis in zip(("type", "family"), counted, list(figure.axes)[4:], strict=True):
        ordered = counts.most_common()
        axis.barh([str(key) for key, _ in ordered][::-1], [count for _, count in ordered][::-1])
        axis.set_xlabel(f"Funcs by {label}")
    save_figure(figure, path, dpi=120)
