"""Whether a plan was made by the agent that its cell names, and what to say if that agent has changed since."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from halidegym.evaluation.benchmark.problems.claims import FalseClaimError, check_equal


def check_agent(claimed: str, here: str) -> None:
    """Compare an agent on record with that of this version, both as `repr` tells them.

    Raises:
        FalseClaimError: they differ: in a value, or because the class has got or lost parameters since.
    """
    there, now = _call(claimed), _call(here)
    differences = list(_differences(there, now)) if there and now and there.name == now.name else []
    if now is None or not differences:
        check_equal("agent", claimed, here)
        return
    for difference in differences:
        if difference.there and difference.here:
            raise FalseClaimError(f"its agent has {difference.there} there, and {difference.here} here")
    new = ", ".join(difference.here for difference in differences if difference.here)
    unknown = ", ".join(difference.there for difference in differences if difference.there)
    changes = [f"is new here: {new}"] * bool(new) + [f"is unknown here: {unknown}"] * bool(unknown)
    raise FalseClaimError(
        f"it was made by another version of {now.name}, of whose parameters this {'; this '.join(changes)}. "
        "Remove the file, and give the same `halidegym bench` again, which runs this cell anew"
    )


@dataclass(frozen=True)
class _Call:
    """A class and its parameters, as their source code; those that are calls themselves are one."""

    name: str
    parameters: Mapping[str, str | _Call]


@dataclass(frozen=True)
class _Difference:
    """A parameter with its value there and here; empty where it is missing."""

    there: str
    here: str


def _call(text: str) -> _Call | None:
    try:
        found = _parsed(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return None
    return found if isinstance(found, _Call) else None


def _parsed(node: ast.expr) -> str | _Call:
    if isinstance(node, ast.Call) and not node.args and all(keyword.arg for keyword in node.keywords):
        return _Call(ast.unparse(node.func), {str(keyword.arg): _parsed(keyword.value) for keyword in node.keywords})
    return ast.unparse(node)


def _differences(there: _Call, here: _Call, within: str = "") -> Iterator[_Difference]:
    for name in dict.fromkeys([*there.parameters, *here.parameters]):
        a, b = there.parameters.get(name), here.parameters.get(name)
        if isinstance(a, _Call) and isinstance(b, _Call) and a.name == b.name:
            yield from _differences(a, b, f"{within}{name}.")
        elif a != b:
            yield _Difference(_shown(within + name, a), _shown(within + name, b))


def _shown(name: str, value: str | _Call | None) -> str:
    return "" if value is None else f"{name}={value.name + '(...)' if isinstance(value, _Call) else value}"
