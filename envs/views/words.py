"""Decisions and nests in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from halidegym.envs.views.outline import Level
from halidegym.native._core import State


def status_words(state: State, num_legal_decisions: int) -> str:
    """How far a schedule is, and what comes next."""
    made = f"{state.num_decisions_made} of {state.num_decisions} decisions made"
    if state.is_complete:
        return f"{made}; complete, cost {state.cost():.6g}"
    if num_legal_decisions == 0:
        return f"{made}; no legal decision left"
    return f"{made}; next: {state.next_phase} {state.next_func}, {num_legal_decisions} legal decisions"


def decision_words(description: Mapping[str, Any]) -> str:
    """A decision as `Expansion.describe` gives it, as a sentence without an end."""
    kind, func = description["kind"], description["func"]
    if kind == "pass":
        return f"{func}: nothing to decide"
    if kind == "inline":
        return f"inline {func} into its consumers"
    if kind == "parallelize":
        return f"cut {func} into {_by(description['tasks'])} parallel tasks"
    depth = description["depth"]
    place = "at the root" if depth == 0 else f"inside {description['level']} at depth {depth}"
    words = {
        "compute_at_level": "compute {func} {place}",
        "compute_at_tile": "tile the loops {place} by {outer}, compute {func} in each tile",
        "store_at_tile": "tile the loops {place} by {outer}, store {func} in each tile, compute it one level deeper",
        "store_at_tile_split": "tile the loops {place} by {outer}, store {func} in each tile, compute it in tiles of these "
        "by {inner}",
        "store_at_level": "store {func} {place}, compute it one level deeper",
        "store_at_level_split": "store {func} {place}, compute it in tiles of the level below by {inner}",
    }[kind]
    return words.format(
        func=func,
        place=place,
        outer=_by(description.get("outer_tile", ())),
        inner=_by(description.get("inner_tile", ())),
    ) + (f", vectors along dimension {description['vector_dim']}" if description["vector_dim"] > 0 else "")


def _by(counts: Sequence[int]) -> str:
    return " x ".join(map(str, counts))


def level_words(level: Level) -> str:
    """What a level does, without its name."""
    parts = [_loop_words(level)]
    if level.kept:
        parts.append(f"keeps {', '.join(level.kept)}")
    return ", ".join(filter(None, parts))


def _loop_words(level: Level) -> str:
    counts = ", ".join(f"{variable} {count}" for variable, count in level.loops)
    tail = f", {level_words(level.computes)}" if level.computes else _tile_words(level)
    if level.kind == "tasks":
        return f"parallel tasks: {counts or 1}{tail}"
    if level.kind == "loops":
        return f"loops: {counts}{tail}" if counts else tail.removeprefix(", ") or "one iteration"
    if level.kind == "compute":
        lanes = f"vectors of {level.lanes} along {level.vector}" if level.lanes > 1 else "point by point"
        return f"computes {lanes}" + (f", loops: {counts}" if counts else "")
    if level.kind == "inlined":
        return f"inlined, {level.calls} {'call' if level.calls == 1 else 'calls'}"
    return f"{level.name} cheaper parts" if level.kind == "folded" else ""


def _tile_words(level: Level) -> str:
    points = [count for _, count in level.tile]
    return f", tiles of {' x '.join(map(str, points))}" if max(points, default=1) > 1 else ""


def nest_words(level: Level) -> Iterator[str]:
    """A nest as text: a line a level with its depth, indented, and the share of the cost that lies in it."""
    total = level.cost
    for inside in _rows(level):
        share = f"{inside.cost / total:6.1%}" if total > 0 else " " * 6
        yield f"{inside.depth:3} {share}  {'  ' * max(inside.depth - 1, 0)}{inside.name}: {level_words(inside)}"


def _rows(level: Level) -> Iterator[Level]:
    if level.kind != "root":
        yield level
    if level.computes is None:
        for part in level.parts:
            yield from _rows(part)
