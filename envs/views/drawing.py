"""A loop nest as a picture: boxes in boxes, in the order of execution, with the share of the cost beside each.

A box is a loop level, what lies in it is done in each of its iterations: producers are seen inside their consumers' loops.
The sign before a name shows the loops as a grid, blue for parallel tasks, grey for tiles, green for the lanes of a vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from halidegym.envs.views.outline import Level, folded
from halidegym.envs.views.words import level_words
from halidegym.native.checks import check_given

INK, GREY, LINE = "#1f2328", "#656d76", "#d0d7de"
TASKS, LOOPS, LANES, KEPT, COST, COST_INSIDE = "#2f6fde", "#8c959f", "#2da44e", "#8250df", "#e8590c", "#f0b78e"
PAPERS = ("#ffffff", "#f6f8fa")  # of boxes, by depth

_ROW, _INDENT, _GAP, _MARGIN = 22, 12, 3, 16
_SIGN, _MAX_CELLS = 14, 6
_BARS, _NUMBERS = 150, 56  # widths of the columns at the right
_HEAD = 60  # title and legend


@dataclass(frozen=True)
class Box:
    """A rectangle; `title` is shown where a reader points at it."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    outline: str = ""
    title: str = ""


@dataclass(frozen=True)
class Text:
    """A line of text of several colours that begins at x, on the middle line y, cut at `width`."""

    x: float
    y: float
    runs: tuple[tuple[str, str], ...]
    size: float
    width: float


Shape: TypeAlias = Box | Text


@dataclass(frozen=True)
class Picture:
    """Shapes on white paper, in the order in which they are drawn; lengths are pixels."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


def draw_nest(nest: Level, title: str, *, width: float = 960, max_rows: int = 120) -> Picture:
    """Draw a nest.

    Args:
        nest: to draw.
        title: the first line.
        width: of the picture.
        max_rows: what is cheapest is folded until no more lines are needed.

    Raises:
        InvalidParameter: `nest` is none; `outline` makes one of a state.
    """
    check_given(Level, nest=nest)
    nest = folded(nest, max_rows)
    shapes = [*_head(title, width, nest.cost)]
    y = float(_HEAD)
    for part in nest.parts:
        drawn, height = _draw(part, _MARGIN, y, width, nest.cost)
        shapes += drawn
        y += height + 2 * _GAP
    if not nest.parts:
        shapes.append(Text(_MARGIN, y + _ROW / 2, (("Nothing is scheduled yet.", GREY),), 12, width))
        y += _ROW
    return Picture(width, y + _MARGIN - 2 * _GAP, tuple(shapes))


def _head(title: str, width: float, cost: float) -> Iterator[Shape]:
    yield Text(_MARGIN, 20, ((title, INK),), 15, width - 2 * _MARGIN)
    x = float(_MARGIN)
    for sign, words in (
        (_grid(x, 36, (2, 4), TASKS), "parallel tasks"),
        (_grid(x + 120, 36, (3, 3), LOOPS), "tiles, loops"),
        (_grid(x + 226, 36, (6, 1), LANES), "vector"),
        ([Box(x + 300, 41, _SIGN, 5, KEPT)], "kept between iterations"),
    ):
        yield from sign
        left = min(box.x for box in sign)
        yield Text(left + _SIGN + 6, 43, ((words, GREY),), 11, 170)
    bars = _bars_at(width)
    share = "share of the cost: own" if cost > 0 else "no cost yet"
    yield Text(
        bars, 43, ((share, COST), (" / with all inside", COST_INSIDE) if cost > 0 else ("", COST)), 11, _BARS + 70
    )


def _bars_at(width: float) -> float:
    return width - _MARGIN - _BARS - _NUMBERS


def _draw(level: Level, x: float, y: float, width: float, total: float) -> tuple[list[Shape], float]:
    """The shapes of a level whose box begins at (x, y), and the height of the box."""
    rows: list[Shape] = []
    bottom = y + _ROW
    for part in () if level.computes else level.parts:
        drawn, height = _draw(part, x + _INDENT, bottom, width, total)
        rows += drawn
        bottom += height + _GAP
    right = _bars_at(width) - _MARGIN / 2 - (x - _MARGIN) / 3
    paper = _heat(level.own_cost / total) if total > 0 and _is_own(level) else PAPERS[level.depth % 2]
    box = Box(x, y, right - x, bottom - y, paper, TASKS if level.kind == "tasks" else LINE, _tooltip(level, total))
    return [box, *_row(level, x, y + _ROW / 2, right, width, total), *rows], bottom - y


def _is_own(level: Level) -> bool:
    """Whether the cost of a level is not that of others inside."""
    return level.kind in ("compute", "inlined", "folded") or level.computes is not None


def _heat(share: float) -> str:
    """White, and the more orange the greater the share; half of the cost is as orange as it gets."""
    strength = min(share / 0.5, 1.0)
    return "#" + "".join(f"{round(255 - strength * (255 - full)):02x}" for full in (255, 205, 160))


def _row(level: Level, x: float, middle: float, right: float, width: float, total: float) -> Iterator[Shape]:
    signs = list(_signs(level))
    for k, (counts, colour) in enumerate(signs):
        yield from _grid(x + 5 + k * (_SIGN + 4), middle - _SIGN / 2, counts, colour)
    left = x + 5 + max(len(signs), 1) * (_SIGN + 4) + 3
    name = "" if level.kind == "folded" else f"{level.name}  "
    words, kept, names = level_words(level).partition("keeps ")
    yield Text(left, middle, ((name, INK), (words, GREY), (kept + names, KEPT)), 12, right - left - 4)
    own = _is_own(level)
    share, bars = (level.own_cost if own else level.cost) / total if total > 0 else 0.0, _bars_at(width)
    if share > 0:
        height = 12 if own else 4
        yield Box(bars, middle - height / 2, max(share * _BARS, 1), height, COST if own else COST_INSIDE)
        label = f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"
        yield Text(bars + _BARS + 8, middle, ((label, INK if own else GREY),), 11, _NUMBERS)


def _signs(level: Level) -> Iterator[tuple[tuple[int, int], str]]:
    if level.kind in ("tasks", "loops") and level.loops:
        counts = dict(level.loops)
        plane = [counts.get(variable, 1) for variable, _ in level.tile[:2]]
        if max(plane) == 1:  # loops over other dimensions than those that are seen first
            plane = list(counts.values())[:2]
        yield (plane[0], plane[1] if len(plane) > 1 else 1), TASKS if level.kind == "tasks" else LOOPS
    inner = level if level.kind == "compute" else level.computes
    if inner is not None and inner.lanes > 1:
        yield (min(inner.lanes, _MAX_CELLS), 1), LANES


def _grid(x: float, y: float, counts: tuple[int, int], colour: str) -> list[Box]:
    """The iterations of two loops as cells of a square; no more cells than can be told apart."""
    columns, rows = (min(count, _MAX_CELLS) for count in counts)
    width, height = _SIGN / columns, _SIGN / rows
    gap = 1.0
    return [
        Box(x + i * width, y + j * height, width - gap, height - gap, colour)
        for j in range(rows)
        for i in range(columns)
    ]


def _tooltip(level: Level, total: float) -> str:
    points = ", ".join(f"{variable} {count}" for variable, count in level.tile)
    lines = [f"{level.name}: {level_words(level)}"]
    if points and level.kind != "compute":
        lines.append(f"each iteration covers {points}")
    if total > 0:
        lines.append(f"cost {level.cost:.4g} of {total:.4g}")
    return "\n".join(lines)


def texts(shapes: Sequence[Shape]) -> list[str]:
    """All that is written in a picture, for whoever cannot see it."""
    return ["".join(run for run, _ in shape.runs) for shape in shapes if isinstance(shape, Text)]
