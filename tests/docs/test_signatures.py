"""The parameters of agents that pages show are those of the classes, in name, order and default."""

from __future__ import annotations

import ast
import inspect
import math
import re

import pytest

from agents_for_tests import make_agent
from halidegym import agents
from halidegym.agents.learned.guided import GuidedAgent
from halidegym.agents.reference import Reference
from halidegym.evaluation.arguments.agent import own_agents
from halidegym.native._core import InvalidParameter, SyntheticTree
from pages_for_tests import PAGES, ROOT, blocks, is_signature, shown_calls, source_of


def signatures() -> list[tuple[str, str]]:
    """The parameters that pages show, by the name of the class."""
    shown = [block for page in PAGES for block in blocks(source_of(page)) if is_signature(block)]
    return [found for block in shown for found in shown_calls(block)]


@pytest.mark.parametrize(("name", "parameters"), signatures())
def test_shown_parameters_are_those_of_the_class(name: str, parameters: str) -> None:
    definition = ast.parse(f"def shown({parameters}): ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    arguments, actual = definition.args, inspect.signature(getattr(agents, name)).parameters
    assert [argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)] == list(actual)
    defaults = [ast.literal_eval(value) for value in (*arguments.defaults, *filter(None, arguments.kw_defaults))]
    of_class = [parameter.default for parameter in actual.values() if parameter.default is not inspect.Parameter.empty]
    for shown, default in zip(defaults, of_class, strict=True):
        assert math.isclose(shown, default, rel_tol=1e-3) if isinstance(default, float) else shown == default


INDEX = (ROOT / "docs" / "agents" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "page"), re.findall(r"^\| \[`(\w+)`\]\((\w+\.md)\)", INDEX, re.MULTILINE))
def test_pages_name_the_parameters_of_their_agents(name: str, page: str) -> None:
    text = (ROOT / "docs" / "agents" / page).read_text(encoding="utf-8")
    own = inspect.get_annotations(getattr(agents, name))
    assert [parameter for parameter in own if not re.search(rf"\b{parameter}\b", text)] == []


@pytest.mark.parametrize("name", own_agents())
def test_the_index_tells_who_searches_no_other_spaces(name: str) -> None:
    (paragraph,) = re.findall(r"^- \*\*Other spaces\.\*\*.*?(?=^- )", INDEX, re.MULTILINE | re.DOTALL)
    is_told = f"`{name}`" in paragraph or issubclass(own_agents()[name], GuidedAgent | Reference)
    try:
        make_agent(name).solve(SyntheticTree(branching=2, depth=2), evaluations=1)
        refuses = False
    except InvalidParameter:
        refuses = True
    assert refuses == is_told
