"""The plots of a report can be read: names are whole, numbers stand side by side, agents are told apart."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from halidegym.evaluation.benchmark.report import plots
from halidegym.evaluation.benchmark.report.statistics import Summary
from halidegym.training.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytest.importorskip("matplotlib", reason="an optional dependency")


def means(values: list[float]) -> Figure:
    points = {f"agent {n}": Interval(value, value, value) for n, value in enumerate(values)}
    found = {agent: Summary(1, point, point, point, point) for agent, point in points.items()}
    return plots.means(found, plots.looks_of([*found]), "baseline's cost / cost")


@pytest.mark.parametrize("values", [[1.0], [1.0, 0.003], [1.0, 0.02, 1.5], [1.0, 0.1], [1.0, 0.6, 1.2], [1.0, 1.003]])
def test_numbers_of_an_axis_stand_side_by_side(values: list[float]) -> None:
    figure = means(values)
    figure.draw_without_rendering()
    (axis,) = figure.axes
    labels = [label for minor in (False, True) for label in axis.get_xticklabels(minor=minor) if label.get_text()]
    places = sorted((box.x0, box.x1) for label in labels for box in [label.get_window_extent()])
    seen = [(x0, x1) for x0, x1 in places if axis.bbox.x0 <= (x0 + x1) / 2 <= axis.bbox.x1]
    assert len(seen) >= 2
    assert all(end <= begin for (_, end), (begin, _) in pairwise(seen))


@pytest.mark.parametrize("length", [5, 30, 60, 100])
def test_legends_are_as_wide_as_their_plots(length: int) -> None:
    names = [f"{number:02}{'n' * length}" for number in range(22)]
    figure = plots.profile({name: {"p": [1.0]} for name in names}, plots.looks_of(names), "cost")
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
    assert figure.axes[0].bbox.height > 200


def test_agents_are_told_apart() -> None:
    """By the dash and the hatch at least, where the colour is nearly the same: as the blues of beam and UCT were."""
    from matplotlib.colors import to_rgb

    looks = [*plots.looks_of([str(number) for number in range(22)]).values()]
    for number, one in enumerate(looks):
        for other in looks[:number]:
            apart = sum(abs(a - b) for a, b in zip(to_rgb(one.colour), to_rgb(other.colour), strict=True))
            assert apart > 0.3 or (one.dash != other.dash and one.hatch != other.hatch)
