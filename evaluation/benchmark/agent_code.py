"""Which version of somebody's agent has run a cell: the files of its classes, as they are edited between two runs."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from halidegym.evaluation.arguments.agent import agent_class, is_own
from halidegym.evaluation.benchmark.agent_sources import sources_of
from halidegym.evaluation.benchmark.suite import AgentSettings
from halidegym.native._core import Error


def agent_code(settings: AgentSettings) -> str:
    """Digest of the files of an agent's class, and of agents within it; empty if all are of this package."""
    sources: dict[Path, bytes] = {}
    for name in _names(settings.agent, settings.parameters):
        file = None if is_own(name) else inspect.getsourcefile(agent_class(name))
        if file is not None:
            sources |= sources_of(Path(file))
    return hashlib.sha256(b"".join(sources.values())).hexdigest()[:16] if sources else ""


def current_code(settings: AgentSettings) -> str | None:
    """The same; None if the agent cannot be loaded any more."""
    try:
        return agent_code(settings)
    except (Error, OSError, TypeError, SyntaxError):
        return None


def _names(name: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    yield name
    for value in parameters.values():
        yield from _within(value)


def _within(value: Any) -> Iterator[str]:
    """The agents within a value; it walks as `load_agent` does."""
    if isinstance(value, Mapping) and "agent" in value:
        yield from _names(value["agent"], value.get("parameters") or {})
    elif isinstance(value, list):
        for each in value:
            yield from _within(each)
