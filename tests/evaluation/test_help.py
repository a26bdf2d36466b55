"""What the helps of all commands say of arguments, options and other commands is so."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from halidegym.evaluation.benchmark.suite import SUITES, load_suite
from halidegym.evaluation.cli import main
from pages_for_tests import ROOT


def walk(command: click.Command, name: str = "halidegym") -> Iterator[tuple[str, click.Command]]:
    yield name, command
    for part, one in command.commands.items() if isinstance(command, click.Group) else ():
        yield from walk(one, f"{name} {part}")


COMMANDS = dict(walk(main))
each_command = pytest.mark.parametrize("name", COMMANDS)

QUOTED = re.compile(r"`(halidegym [^`]*)`")


def help_of(name: str) -> str:
    """On one line a paragraph."""
    return COMMANDS[name].get_help(click.Context(COMMANDS[name], info_name=name, terminal_width=10_000))


def options_of(name: str) -> set[str]:
    parameters = COMMANDS[name].get_params(click.Context(COMMANDS[name]))
    return {option for parameter in parameters for option in parameter.opts if option.startswith("-")}


def options_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*\b", text))


def called(call: str) -> str:
    """The name of the command that a call is of."""
    words = call.split()
    return next(name for end in (3, 2, 1) if (name := " ".join(words[:end])) in COMMANDS)


@each_command
def test_usage_tells_what_may_be_left_out(name: str) -> None:
    context = click.Context(COMMANDS[name])
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Argument):
            shown = parameter.make_metavar(context)
            assert shown.startswith("[") == (not parameter.required), shown


@each_command
def test_what_a_list_of_commands_says_of_one_is_whole(name: str) -> None:
    """Its first sentence, which for click ends with the first word that a full stop follows, such as "al."."""
    words = COMMANDS[name].get_short_help_str(limit=10_000)
    assert words.count("(") == words.count(")"), words


@each_command
def test_options_that_a_help_names_are_there(name: str) -> None:
    text = QUOTED.sub("", help_of(name))
    of_generators = {"-e"}  # a program of the user's
    assert options_in(text) - options_of(name) - of_generators == set()


@each_command
def test_commands_that_a_help_names_are_there(name: str) -> None:
    for call in QUOTED.findall(help_of(name)):
        assert called(call) != "halidegym", call
        assert options_in(call) <= options_of(called(call)), call


def test_helps_name_commands_at_all() -> None:
    assert sum(len(QUOTED.findall(help_of(name))) for name in COMMANDS) > 30


@each_command
def test_what_may_stand_for_a_pipeline_comes_with_its_options(name: str) -> None:
    if "PIPELINE is one of" in help_of(name):
        assert {"--param", "--estimate", "--estimate-from", "--option"} <= options_of(name)


def test_all_shipped_suites_are_named() -> None:
    shipped = {path.stem for path in SUITES.glob("*.yaml")}
    (named,) = re.findall(r"one that is shipped \((.*?)\)", help_of("halidegym bench"))
    assert set(named.split(", ")) == shipped
    page = (ROOT / "docs" / "how-to" / "your-own-agent.md").read_text(encoding="utf-8")
    rows = "".join(re.findall(r"^\| (`.*?) \|", page.partition("## The shipped suites")[2], re.MULTILINE))
    assert set(re.findall(r"`([\w-]+)`", rows)) == shipped


def test_the_demo_is_as_large_as_is_said() -> None:
    suite = load_suite("quick")
    assert (len(suite.pipelines), len(suite.agents)) == (6, 11)
    for text in (help_of("halidegym demo"), *((ROOT / file).read_text("utf-8") for file in ("Makefile", "README.md"))):
        assert re.search("chedules? six pipelines in eleven ways", text)
