"""What cannot be a parameter of an agent is refused when the agent is made, as docs/agents/index.md promises."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from halidegym.agents import Agent, RandomSearch
from halidegym.evaluation.arguments.agent import own_agents
from halidegym.native._core import InvalidParameter

#: What has no default.
NEEDED: dict[str, dict[str, Any]] = {
    "IteratedSearch": {"agent": RandomSearch()},
    "LanguageModelAgent": {"model": str},
}

#: Names of files, which any text may be; they are read when the search begins.
FILES = {"weights", "weights_path", "policy"}


def test_an_agent_is_made_of_its_defaults() -> None:
    for name, kind in own_agents().items():
        kind(**NEEDED.get(name, {}))


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        pytest.param(name, field, id=f"{name}-{field.name}")
        for name, kind in own_agents().items()
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]  # all of them are dataclasses
    ],
)
def test_nonsense_is_refused(name: str, parameter: dataclasses.Field[Any]) -> None:
    nonsense = [object(), [], -1, b"no such thing"]
    nonsense += [] if parameter.name in FILES else ["no such thing"]
    nonsense += [] if "None" in str(parameter.type) else [None]
    for value in nonsense:
        with pytest.raises(InvalidParameter):
            made(name, **{parameter.name: value})


def made(name: str, **parameters: Any) -> Agent:
    return own_agents()[name](**{**NEEDED.get(name, {}), **parameters})
