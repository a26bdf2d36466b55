"""Files and parameter lists stay as short as a reader can hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "native", "envs", "agents", "training", "evaluation", "tests")
MAX_LINES, MAX_PARAMETERS = 400, 21

LONG_FILES = {"native/_core.pyi"}  # of one module; a stub in parts would need a package
LONG_PARAMETER_LISTS: set[str] = set()


def files(*suffixes: str) -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def parameters_of_python(source: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            yield node.name, len([argument for argument in named if argument.arg not in ("self", "cls")])


def parameters_of_cpp(source: str) -> Iterator[tuple[str, int]]:
    """Of definitions and of lambdas, both of which have a block behind the parameters; and keywords of bindings."""
    source = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', " ", source)
    for found in re.finditer(r"(\w+|\])\s*\(", source):
        text, end = _in_parentheses(source, found.end())
        if re.match(r"\s*(const|noexcept|override|mutable|->[^{;]*|:[^{;]*|\s)*\{", source[end:]):
            yield found[1], _count_top_level(text)
        if found[1] == "def":
            yield "def", text.count("py::arg(")


def _in_parentheses(source: str, start: int) -> tuple[str, int]:
    depth, end = 1, start
    while depth and end < len(source):
        depth += {"(": 1, ")": -1}.get(source[end], 0)
        end += 1
    return source[start : end - 1], end


def _count_top_level(text: str) -> int:
    depth, count = 0, 1
    for character in text:
        depth += (character in "(<[{") - (character in ")>]}")
        count += depth == 0 and character == ","
    return count if text.strip() else 0


def test_no_file_is_too_long() -> None:
    found = {
        name_of(path)
        for path in files(".py", ".pyi", ".h", ".cpp")
        if len(path.read_text(encoding="utf-8").splitlines()) > MAX_LINES
    }
    assert found == LONG_FILES


def test_no_parameter_list_is_too_long() -> None:
    readers = {".py": parameters_of_python, ".pyi": parameters_of_python}
    found = {
        f"{name_of(path)}: {name}"
        for path in files(".py", ".pyi", ".h", ".cpp")
        for name, count in readers.get(path.suffix, parameters_of_cpp)(path.read_text(encoding="utf-8"))
        if count > MAX_PARAMETERS
    }
    assert found == LONG_PARAMETER_LISTS


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int f(std::map<int, int> a, int b = g(1, 2)) { return h(3, 4); }", [("f", 2)]),
        ("void A::f() const {}\nauto g = [](int a, int b) -> int { return a; };", [("f", 0), ("]", 2)]),
        ('module.def("f", &f, py::arg("a"), py::arg("b"));', [("def", 2)]),
    ],
)
def test_parameters_of_cpp_are_counted(source: str, expected: list[tuple[str, int]]) -> None:
    assert list(parameters_of_cpp(source)) == expected


def test_parameters_of_python_are_counted() -> None:
    source = "class A:\n    def f(self, a, /, b, *c, d=1, **e): ...\n\nasync def g(): ...\n"
    assert sorted(parameters_of_python(source)) == [("f", 3), ("g", 0)]
