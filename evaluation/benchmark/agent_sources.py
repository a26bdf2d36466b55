"""The files that a Python file is made of: itself, and the modules beside it that it imports, however deep."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_INSTALLED = ("site-packages", "dist-packages")


def sources_of(file: Path) -> dict[Path, bytes]:
    """Contents by path, in a fixed order.

    Modules are beside a file if they are of its package, or, where it is in none, in its folder or below.

    Raises:
        OSError: one cannot be read.
        SyntaxError: one is no Python.
    """
    found: dict[Path, bytes] = {}
    ahead = [file.resolve()]
    for path in ahead:  # which grows
        if path not in found:
            found[path] = path.read_bytes()
            ahead += _imported(path, found[path])
    return found


def _imported(path: Path, source: bytes) -> Iterator[Path]:
    root = path.parent
    while (root / "__init__.py").exists():
        root = root.parent
    package = path.relative_to(root).parts[0] if root != path.parent else None
    for node in ast.walk(ast.parse(source)):
        for names, base in _names(node, path, root):
            is_beside = base != root or names[0] == package or (package is None and root.name not in _INSTALLED)
            for count in range(1, len(names) + 1) if is_beside else ():
                module = base.joinpath(*names[:count])
                yield from filter(Path.is_file, (module.with_suffix(".py"), module / "__init__.py"))


def _names(node: ast.AST, path: Path, root: Path) -> Iterator[tuple[list[str], Path]]:
    """The names that a statement may import, and the folders that they are in."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name.split("."), root
    elif isinstance(node, ast.ImportFrom):
        base = path.parents[node.level - 1] if node.level else root
        module = node.module.split(".") if node.module else []
        for alias in node.names:
            yield [*module, alias.name], base
