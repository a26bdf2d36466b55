"""What pages name in passing is there: modules and classes, attributes, arguments, options, code in the file beside it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import halidegym
from halidegym import agents
from halidegym.agents.reference.autoschedulers import ReferencePlan
from halidegym.evaluation.cli import main
from halidegym.native import _core
from pages_for_tests import PAGES, ROOT, name_of, source_of

MODULES = (halidegym, agents, agents.reference, halidegym.rewards, halidegym.wrappers, _core)

#: Words that stand for an object of one of these classes.
OBJECTS: dict[str, tuple[type, ...]] = {
    "plan": (agents.TunedPlan, ReferencePlan),
    "schedule": (halidegym.Schedule,),
    "state": (_core.State,),
    "timing": (halidegym.Timing,),
    "comparison": (halidegym.Comparison,),
}

#: Options of other programs: of ray, and of those with which Halide's own cost model is trained.
FOREIGN = {"--resources", "--best_benchmark", "--best_schedule", "--epochs", "--initial_weights"}
FOREIGN |= {"--num_cores", "--randomize_weights", "--rates", "--weights_out"}

CODE = re.compile(r"`([^`\n]+)`")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
DOTTED = re.compile(r"(?<![\w./-])halidegym(?:\.\w+)+(?![\w/])")
ATTRIBUTE = re.compile(r"(?<![\w./])(\w+)\.([a-z_]\w*)(?![\w/])")
FILE = r"(?:native|envs|agents|training|evaluation|src)/[\w/]+\.\w+"
IN_FILE = re.compile(rf"`(?:\w+\.)*(\w[\w:]*)(?:\(\w*\))?`\s+(?:in\s+|\()`({FILE})`")


def faults(page: str) -> Iterator[str]:
    for code in CODE.findall(FENCED.sub("", page)):
        yield from (f"{name} is not there" for name in DOTTED.findall(code) if not is_there(name))
        yield from (
            f"{name} has no {attribute}" for name, attribute in ATTRIBUTE.findall(code) if lacks(name, attribute)
        )
        yield from (f"{name} has no argument {argument}" for name, argument in unknown_arguments(code))
        if code.startswith("--") and re.split("[ =]", code)[0] not in options(main) | FOREIGN:
            yield f"no command has {code}"
    for name, file in IN_FILE.findall(page):
        if not re.search(rf"\b{name}\b", (ROOT / file).read_text(encoding="utf-8")):
            yield f"{file} has no {name}"


def is_there(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def public(name: str) -> Any:
    """What a name stands for; None if it is none of ours."""
    return next((getattr(module, name) for module in MODULES if hasattr(module, name)), None)


def lacks(name: str, attribute: str) -> bool:
    """Whether a name is that of a class, or of an object, that has no such attribute."""
    found = public(name)
    owners = OBJECTS.get(name) or ((found,) if isinstance(found, type) else ())
    fields = {field.name for owner in owners if dataclasses.is_dataclass(owner) for field in dataclasses.fields(owner)}
    return bool(owners) and attribute not in fields and not any(hasattr(owner, attribute) for owner in owners)


def unknown_arguments(code: str) -> Iterator[tuple[str, str]]:
    """Names of arguments, in calls of ours, that what is called has not."""
    try:
        calls = [node for node in ast.walk(ast.parse(code.replace("…", "..."))) if isinstance(node, ast.Call)]
    except SyntaxError:
        return
    for call in calls:
        called = public(call.func.id) if isinstance(call.func, ast.Name) else None
        if callable(called) and called.__module__ != _core.__name__:  # whose signatures say nothing
            known = inspect.signature(called).parameters
            yield from ((called.__name__, given.arg) for given in call.keywords if given.arg and given.arg not in known)


def options(command: click.Command) -> set[str]:
    own = {option for parameter in command.get_params(click.Context(command)) for option in parameter.opts}
    return own.union(*map(options, command.commands.values() if isinstance(command, click.Group) else ()))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_names_is_there(page: Path) -> None:
    assert list(faults(source_of(page))) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`halidegym.agents.MCTS`, `halidegym.agents.none`", ["halidegym.agents.none is not there"]),
        ("`plan.cost`, `plan.costs()`, `Timing.median`", ["plan has no costs", "Timing has no median"]),
        ("`MCTS(trees=1)`, `MCTS(tree=1)`", ["MCTS has no argument tree"]),
        ("`--beam 4`, `--beem`", ["no command has --beem"]),
        ("`Plan.save` (`agents/plan.py`), `Flan`\nin `agents/plan.py`", ["agents/plan.py has no Flan"]),
        ("`Episode::step` (`native/env/episode.cpp`)", []),
        ("```python\nplan.costs()\n```\n", []),
    ],
)
def test_faults_are_found(text: str, expected: list[str]) -> None:
    assert list(faults(text)) == expected
