"""What cannot be a parameter of an agent is refused when the agent is made, as docs/agents/index.md promises."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from agents_for_tests import make_agent
from halidegym.evaluation.arguments.agent import own_agents
from halidegym.native._core import InvalidParameter

#: Names of files, which any text may be; they are read when the search begins.
FILES = {"weights", "weights_path", "guide", "policy"}


def test_an_agent_is_made_of_its_defaults() -> None:
    for name in own_agents():
        make_agent(name)


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
            make_agent(name, **{parameter.name: value})
