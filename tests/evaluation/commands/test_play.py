"""`halidegym play`: a game by lines of the standard input."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.rest_of_schedule import RestOfSchedule
from halidegym.envs.problems.rules import Rules
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.cli import main
from halidegym.evaluation.viewing.game import Game
from halidegym.native._core import InvalidParameter

TARGET, CORES = "x86-64-linux-avx-avx2-f16c-fma-sse41", 4
SETTING = ("toy_blur", "--target", TARGET, "--parallelism", str(CORES))


def play(*lines: str) -> Result:
    result = CliRunner().invoke(main, ["play", *SETTING], input="".join(f"{line}\n" for line in lines))
    assert result.exit_code == 0, result.output
    return result


def plain(source: str) -> str:
    """Without the suffixes by which Halide keeps names unique in a process."""
    return re.sub(r"_\d+\b", "", source)


def statuses(result: Result) -> list[str]:
    return re.findall(r"^toy_blur: (.*)$", result.output, re.MULTILINE)


def test_the_cheapest_all_the_way_is_greedy_search() -> None:
    plan = Greedy().plan(load_problem("toy_blur", target=TARGET, parallelism=CORES))
    result = play(*[""] * 2, "s", "q")
    assert statuses(result)[-1].endswith(f"complete, cost {plan.cost:.6g}")
    assert plain(plan.schedule.cpp().strip()) in plain(result.output)
    assert "1 times as fast as greedy search" in result.output


def test_undo_leads_back_and_an_agent_finishes() -> None:
    first, taken, back, finished, again = statuses(play("3", "u", "f", "u", "q"))
    assert first == back == again
    assert taken != first
    assert "complete, cost" in finished


def test_decisions_are_listed_by_cost_or_in_order() -> None:
    result = play("o", "o", "m", "q")
    parts = re.split(r"# +cost +decision", result.output)[1:]
    lists = [re.findall(r"^ +(\d+) +[\d.e-]+ +cut", part, re.MULTILINE) for part in parts]
    by_cost, in_order, *_ = ([int(number) for number in found] for found in lists)
    assert in_order == sorted(in_order)
    assert sorted(by_cost) != by_cost


def test_a_picture_is_written(tmp_path: Path) -> None:
    file = tmp_path / "nest.svg"
    assert f"drawn in {file}" in play("f", f"p {file}").output
    assert ET.fromstring(file.read_text()).tag.endswith("svg")


def test_a_picture_is_drawn_anew_but_over_no_other_file(tmp_path: Path) -> None:
    file, mine = tmp_path / "nest.svg", tmp_path / "mine.svg"
    mine.write_text("mine")
    output = play(f"p {file}", "f", f"p {file}", f"p {mine}").output
    assert output.count(f"drawn in {file}") == 2
    assert f"{mine} exists, and is no picture of this game" in output
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["999"], "There is no decision 999: there are"),
        (["9" * 30], "There is no decision 9"),
        (["9" * 5000], "is no command"),
        (["u"], "nothing to undo"),
        (["hello"], "'hello' is no command"),
        (["f someone"], "no agent 'someone'"),
        (["f", ""], "complete"),
        (["f", "f"], "complete schedule"),
        (["f", "0"], "complete"),
        (["s"], "decisions"),
        (["p"], "Give a file"),
        (["p /no/such/folder/x.svg"], "Cannot write"),
        (["p /no/such/folder/x.png"], "/no/such/folder/x.png names no SVG"),
    ],
)
def test_what_cannot_be_done_is_said_and_the_game_goes_on(lines: list[str], said: str) -> None:
    result = play(*lines, "?", "q")
    assert said in result.output
    assert result.output.count("u          undo") == 2
    assert "Traceback" not in result.output


def test_all_finishers_complete_any_beginning() -> None:
    game = Game.start(Rules().space(load_problem("toy_diamond", target=TARGET, parallelism=CORES)).initial_state())
    end = game.finish(Greedy())
    assert end.state.is_complete and end.undo() == game
    with pytest.raises(InvalidParameter, match="nothing left to decide"):
        RestOfSchedule(end.state)
    result = play("f random", "u", "f beam", "q")
    costs = [float(status.rpartition(" ")[2]) for status in statuses(result) if "complete" in status]
    assert len(costs) == 2 and costs[1] <= costs[0]
