"""The agent of a plan, made again of what the plan tells of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from halidegym.native._core import Error

T = TypeVar("T")

_OF_THE_SPACE = {"subtiling", "memory_limit", "max_recompute", "weights"}
_WHERE_IT_RAN = {"threads", "backend", "workers"}  # on which nothing depends that is found


def recorded_agent(
    text: str, agents: Mapping[str, Callable[..., T]], parts: Mapping[str, Callable[..., Any]] | None = None
) -> T | None:
    """The agent of a representation, on one thread; without rules and weights, which the space has.

    Args:
        text: `Plan.agent`.
        agents: classes by name.
        parts: classes of parameters that are objects themselves.

    Returns:
        None for an agent of another class, or one of another version.
    """
    try:
        name, given = _call(ast.parse(text, mode="eval").body, parts or {})
        return agents[name](**given)
    except (SyntaxError, ValueError, TypeError, KeyError, Error):
        return None


def _call(node: ast.expr, parts: Mapping[str, Callable[..., Any]]) -> tuple[str, dict[str, Any]]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError("no call of a class")
    given = {str(given.arg): given.value for given in node.keywords}
    needed = given.keys() - _OF_THE_SPACE - _WHERE_IT_RAN
    return node.func.id, {name: _value(given[name], parts) for name in needed}


def _value(node: ast.expr, parts: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(node, ast.Call):
        name, given = _call(node, parts)
        return parts[name](**given)
    return ast.literal_eval(node)
