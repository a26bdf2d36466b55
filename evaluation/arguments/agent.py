"""What may stand for AGENT on the command line and in suites."""

from __future__ import annotations

import importlib.metadata
import inspect
from collections.abc import Mapping
from typing import Any

from halidegym import agents
from halidegym.agents.agent import Agent
from halidegym.evaluation.arguments.pipeline import named_in_module
from halidegym.native._core import InvalidParameter
from halidegym.native.checks import shown

ENTRY_POINTS = "halidegym.agents"
"""The group of entry points by which other packages make their agents known."""


def own_agents() -> Mapping[str, type[Agent]]:
    """The agents of this package by their names, those of `agents.reference` with that before them."""
    references = {
        f"reference.{name}": getattr(agents.reference, name) for name in ("Adams2019", "Li2018", "Mullapudi2016")
    }
    return {name: found for name in agents.__all__ if _is_agent(found := getattr(agents, name))} | references


def is_own(name: str, parameters: Mapping[str, Any] | None = None) -> bool:
    """Whether an agent and all agents within it are of this package, so that `load_agent` runs no code of a user."""
    return name in own_agents() and all(map(_is_harmless, (parameters or {}).values()))


def load_agent(name: str, parameters: Mapping[str, Any] | None = None, preset: str | None = None) -> Agent:
    """Make the agent that the text stands for.

    Args:
        name: of a class of `halidegym.agents`, those of Halide's own autoschedulers with `reference.` before it;
            `module:Class`, or `file.py:Class`; or an entry point of the group `ENTRY_POINTS`.
        parameters: of its class, or on top of the preset. One that is a mapping with an `agent` is an agent itself, and may
            have `parameters` and a `preset` likewise.
        preset: one of the class's presets.

    Raises:
        InvalidParameter: the text stands for nothing, or not for an agent; or the class has no such preset or parameter.
    """
    kind = agent_class(name)
    values = {parameter: _value(value) for parameter, value in (parameters or {}).items()}
    make: Any = kind
    if preset is not None:
        make = getattr(kind, "preset", None)
        if make is None:
            raise InvalidParameter(f"The agent {name} has no presets; leave out preset={shown(preset)}")
        values["name"] = preset
    else:
        _check_parameters(name, kind, values)
    try:
        return make(**values)  # type: ignore[no-any-return]
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"Cannot make the agent {name}: {error}") from error


def agent_class(name: str) -> type[Agent]:
    """The class that the text stands for; see `load_agent`."""
    known = own_agents()
    if name in known:
        return known[name]
    try:
        found = _found(name)
    except InvalidParameter:
        raise
    except Exception as error:  # whatever the user's file does
        raise InvalidParameter(f"Cannot import the agent {name}: {type(error).__name__}: {error}") from error
    if not _is_agent(found):
        raise InvalidParameter(
            f"{name} is no agent: derive the class from halidegym.agents.Agent, and implement search"
        )
    return found  # type: ignore[no-any-return]


def _found(name: str) -> Any:
    module, separator, attribute = name.rpartition(":")
    if separator:
        return named_in_module(module, attribute)
    entries = {entry.name: entry for entry in importlib.metadata.entry_points(group=ENTRY_POINTS)}
    if name not in entries:
        raise InvalidParameter(
            f"There is no agent {shown(name)}: give one of {', '.join([*own_agents(), *entries])}; or module:Class, "
            "or file.py:Class"
        )
    return entries[name].load()


def _is_agent(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, Agent) and found is not Agent


def _check_parameters(name: str, kind: type[Agent], values: Mapping[str, Any]) -> None:
    known = inspect.signature(kind).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for parameter in values:
        if parameter not in known:
            raise InvalidParameter(
                f"The agent {name} has no parameter {parameter}; leave it out, or give one of {', '.join(known) or '(none)'}"
            )


def _is_harmless(value: Any) -> bool:
    """Whether all agents within a value are of this package; it walks as `_value` does."""
    if isinstance(value, Mapping) and "agent" in value:
        return is_own(value["agent"], value.get("parameters"))
    return all(map(_is_harmless, value)) if isinstance(value, list) else True


def _value(value: Any) -> Any:
    """What a value of YAML stands for: a mapping may be an agent, and sequences are immutable."""
    if isinstance(value, Mapping) and "agent" in value:
        unknown = set(value) - {"agent", "parameters", "preset"}
        if unknown:
            raise InvalidParameter(
                f"An agent within an agent has no {min(unknown)}; give agent, parameters and preset only"
            )
        return load_agent(value["agent"], value.get("parameters"), value.get("preset"))
    return tuple(map(_value, value)) if isinstance(value, list) else value
