"""Agents of every kind."""

from __future__ import annotations

from typing import Any

from halidegym.agents import Agent, RandomSearch
from halidegym.evaluation.arguments.agent import own_agents

#: Arguments that have no default.
_NEEDED: dict[str, dict[str, Any]] = {
    "IteratedSearch": {"agent": RandomSearch()},
    "LanguageModelAgent": {"model": str},
}


def make_agent(name: str, **parameters: Any) -> Agent:
    """The agent of this name with these parameters, and the simplest ones that it cannot do without."""
    return own_agents()[name](**{**_NEEDED.get(name, {}), **parameters})
