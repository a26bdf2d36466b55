"""What may import what: the arrows that `docs/architecture.md` draws, held against the imports of the sources.

A drawing is a block of code marked ``arrows``:

    evaluation -> training -> agents -> envs -> native

    envs:     * -> rewards -> timing -> processes, schedules -> problems
              * -> pipelines -> problems

A line without a name before it is about the folders of the repository, a line after ``envs:`` about what lies in `envs/`:
a folder, a file without its ending, or `*`, the files that are not drawn by name. Who stands left of an arrow may import all
that can be reached along arrows, and nothing else of the same drawing; a name without an arrow stands alone.
"""

from __future__ import annotations

import ast
import graphlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeAlias

File: TypeAlias = PurePosixPath
"""A source, relative to the repository's root."""

Drawing: TypeAlias = Mapping[str, frozenset[str]]
"""For each name of one drawing, all names that can be reached from it."""

PACKAGE = "halidegym"
PYTHON_ROOMS = ("agents", "envs", "evaluation", "native", "training")


def read_drawings(markdown: str) -> dict[str, Drawing]:
    """The drawings in the ``arrows`` block of a page, by the folder they are about; "" for the repository.

    Raises:
        graphlib.CycleError: the arrows of a drawing make a circle.
    """
    (block,) = re.findall(r"^```arrows\n(.*?)^```", markdown, re.DOTALL | re.MULTILINE)
    below: dict[str, dict[str, set[str]]] = {}
    folder = ""
    for line in filter(str.strip, block.splitlines()):
        name, colon, chain = line.rpartition(":")
        folder = name.strip() if colon else folder if line.startswith(" ") else ""
        steps = [[unit.strip() for unit in step.split(",")] for step in chain.split("->")]
        drawing = below.setdefault(folder, {})
        for unit in itertools.chain(*steps):
            drawing.setdefault(unit, set())
        for upper, lower in itertools.pairwise(steps):
            for unit in upper:
                drawing[unit].update(lower)
    return {folder: _reachable(drawing) for folder, drawing in below.items()}


def _reachable(below: Mapping[str, set[str]]) -> Drawing:
    reached: dict[str, frozenset[str]] = {}
    for unit in graphlib.TopologicalSorter(below).static_order():
        reached[unit] = frozenset(below[unit]).union(*(reached[lower] for lower in below[unit]))
    return reached


Imports: TypeAlias = Mapping[File, frozenset[File]]
"""Which files of the repository a file imports or includes."""


def read_imports(root: Path) -> Imports:
    """The imports of all sources below `root`: of Python, and the includes of C++.

    Imports inside of functions and for type checkers alone count like any other: who names a thing depends on it.
    """
    python = {
        source: frozenset(python_imports(path.read_text(), root)) - {source} for source, path in _python_files(root)
    }
    return python | {source: frozenset(cpp_includes(path, root)) for source, path in _cpp_files(root)}


def _python_files(root: Path) -> Iterator[tuple[File, Path]]:
    for folder in (f"src/{PACKAGE}", *PYTHON_ROOMS):
        for path in sorted((root / folder).rglob("*.py*")):
            if path.suffix in (".py", ".pyi"):
                yield File(path.relative_to(root).as_posix()), path


def _cpp_files(root: Path) -> Iterator[tuple[File, Path]]:
    for path in sorted((root / "native").rglob("*")):
        if path.suffix in (".h", ".cpp"):
            yield File(path.relative_to(root).as_posix()), path


def python_imports(source: str, root: Path) -> Iterator[File]:
    """The files of the repository that a Python source imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name their module in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == PACKAGE:
                yield _module(name.split(".")[1:], root)


def _module(names: list[str], root: Path) -> File:
    """The file that the longest part of a dotted name stands for."""
    for length in range(len(names), -1, -1):
        folder = (
            File(*names[:length]) if length and names[0] in PYTHON_ROOMS else File(f"src/{PACKAGE}", *names[:length])
        )
        for file in (folder / "__init__.py", folder.with_suffix(".py"), folder.with_suffix(".pyi")):
            if (root / file).is_file():
                return file
    raise AssertionError(f"There is no module {'.'.join(names)}")


def cpp_includes(path: Path, root: Path) -> Iterator[File]:
    """The files of the repository that a C++ source includes: by their path in `native/`, or beside it."""
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(), re.MULTILINE):
        places = [root / "native" / name, path.parent / name]
        file = next((place for place in places if place.is_file()), None)
        assert file is not None, f"{path} includes {name}, which is not there"
        yield File(file.resolve().relative_to(root.resolve()).as_posix())


def unit_of(file: File, folder: str, drawing: Drawing) -> str | None:
    """What the drawing of a folder calls a file; None if it lies elsewhere."""
    parts = file.parts[1:] if file.parts[0] == "src" else file.parts
    inside = File(*parts).relative_to(folder) if File(*parts).is_relative_to(folder) else None
    if inside is None:
        return None
    name = File(inside.parts[0]).stem
    return name if len(inside.parts) > 1 or name in drawing else "*"


def against_the_arrows(folder: str, drawing: Drawing, imports: Imports) -> list[str]:
    """The imports that a drawing does not allow, and the folders that it lacks.

    The `__init__.py` of a folder gathers public names, and may import all that the folder holds.
    """
    faults = []
    for source, targets in imports.items():
        upper = unit_of(source, folder, drawing)
        if upper is None or (source.parent == File(folder) and source.name == "__init__.py"):
            continue
        if upper not in drawing:
            faults.append(f"{source} lies in {upper}, which is not drawn")
            continue
        for target in sorted(targets):
            lower = unit_of(target, folder, drawing)
            if lower not in (None, upper) and lower not in drawing[upper]:
                faults.append(f"{source} imports {target}, but no arrow leads from {upper} to {lower}")
    return faults


def unused_names(folder: str, drawing: Drawing, files: Iterable[File]) -> set[str]:
    """What a drawing names and no file belongs to."""
    return set(drawing) - {unit_of(file, folder, drawing) for file in files}


def circle(imports: Imports) -> list[File]:
    """Files that import each other in a circle; empty if there are none."""
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []
