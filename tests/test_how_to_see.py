"""The commands and snippets of docs/how-to/see-schedules.md and docs/agents/language_model.md work as they are printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from halidegym.agents.planners.beam import BeamSearch
from halidegym.envs.sources import load_problem
from halidegym.envs.views import draw_nest, outline, status_words, to_svg
from halidegym.evaluation.cli import main

FOLDER = Path(__file__).parents[1] / "docs" / "how-to"
PAGE = (FOLDER / "see-schedules.md").read_text(encoding="utf-8")


LANGUAGE_MODEL = (FOLDER.parent / "agents" / "language_model.md").read_text(encoding="utf-8")


def snippets(heading: str) -> list[str]:
    """The blocks of Python under a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return blocks(section, "python")


def blocks(page: str, language: str = "") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def plain(text: str) -> str:
    """Without the suffixes by which Halide keeps names unique in a process."""
    return re.sub(r"[_$]\d+\b", "", text)


def test_the_environment_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for snippet in snippets("In an environment"):
        exec(snippet, names)  # the second one goes on with what the first one made
    assert plain(capsys.readouterr().out).startswith("(720, 960, 3)\n  1 100.0%  harris: ")
    assert (tmp_path / "nest.svg").read_text(encoding="utf-8").startswith("<svg ")


def test_the_picture_is_that_of_a_beam_search() -> None:
    problem = load_problem("harris", target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=16)
    plan = BeamSearch().plan(problem)
    state = plan.rules.space(problem).initial_state()
    for action in plan.actions:
        state = state.apply(action)
    picture = to_svg(draw_nest(outline(state), f"harris: {status_words(state, 0)}"))
    assert plain(picture) + "\n" == plain((FOLDER / "harris.svg").read_text(encoding="utf-8"))


def test_an_episode_can_be_a_file() -> None:
    (lines,) = re.findall(r"`printf '([^']*)' \| halidegym play harris`", PAGE)
    result = CliRunner().invoke(main, ["play", "harris"], input=lines.replace("\\n", "\n"))
    assert result.exit_code == 0
    assert re.search(r"^harris\w*\n    \.split\(", result.output, re.MULTILINE)


def test_a_search_is_explored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    halidegym (schedule|explore) (.*)$", PAGE, re.MULTILINE)
    for command, arguments in commands:
        result = CliRunner().invoke(main, [command, *arguments.split()])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "harris.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_language_model_plays(capsys: pytest.CaptureFixture[str]) -> None:
    agent, _, text = blocks(LANGUAGE_MODEL, "python")
    exec(agent, {})
    cost, forwards = capsys.readouterr().out.split()
    assert float(cost) > 0 and int(forwards) > 0
    exec(text, {})
    (printed,) = re.findall(r"```\n(Pipeline .*?)```", LANGUAGE_MODEL, re.DOTALL)
    assert plain(capsys.readouterr().out).strip() == plain(printed).strip()
