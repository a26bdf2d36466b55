"""`halidegym play`: one episode in the terminal, decision by decision."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import click
from rich.table import Table

from halidegym.agents.agent import Agent
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.views import decision_words, draw_nest, nest_words, outline, status_words, to_svg
from halidegym.evaluation.arguments.options import Integer, parallelism_option, pipeline_options, target_option
from halidegym.evaluation.arguments.pipeline import Details, load_problem, with_pipeline_help
from halidegym.evaluation.output.console import number_columns, output_console
from halidegym.evaluation.viewing.game import Game
from halidegym.native._core import Error, InvalidParameter
from halidegym.native.checks import shown
from halidegym.native.files import write_atomically
from halidegym.native.weights import resolve_weights

_FINISHERS: Mapping[str, Agent] = {
    "greedy": Greedy(),
    "beam": BeamSearch(beam_size=8, passes=1),
    "random": RandomSearch(num_schedules=1),
}
_MOST_DIGITS = 100  # of a number; Python refuses to read one of thousands
_HELP = """\
  NUMBER     take this decision         ENTER      take the cheapest one
  u          undo                       f [AGENT]  let an agent finish: greedy, beam or random
  m          show more decisions        o          list them in the autoscheduler's order, or by cost
  p FILE     picture of the nest (SVG)  s          the schedule as source code, once it is complete
  ?          this help                  q          quit"""


@click.command()
@click.argument("pipeline")
@click.option("--show", type=Integer(1), default=12, show_default=True, help="Decisions to list at once.")
@target_option
@parallelism_option
@pipeline_options
@with_pipeline_help
def play(pipeline: str, show: int, target: str, parallelism: int | None, details: Details) -> None:
    """Schedule a PIPELINE yourself, one decision after another.

    Shows the loop nest so far, the next Func, and the legal decisions with the cost that the model gives to what they
    lead to. Pick one by its number, take it back, or let an agent finish. Commands come from the standard input, one a
    line.
    """
    problem = load_problem(pipeline, target=target, parallelism=parallelism, details=details)
    _Play(PreparedProblem(problem, Rules(), resolve_weights(None)), show).run()


class _Quit(Exception):  # noqa: N818
    """The player has had enough."""


class _Play:
    """The conversation with one player."""

    def __init__(self, problem: PreparedProblem, show: int) -> None:
        self._problem = problem
        self._page = show
        self._shown = show
        self._by_cost = True
        self._game = Game.start(problem.initial_state)
        self._drawn: set[Path] = set()

    def run(self) -> None:
        click.echo(_HELP)
        self._tell()
        words: Mapping[str, Callable[[str], None]] = {
            "": self._cheapest, "u": self._undo, "f": self._finish, "m": self._more, "o": self._order,
            "p": self._picture, "s": self._source, "?": lambda _: click.echo(_HELP), "q": _quit,
        }  # fmt: skip
        for line in iter(_ask, None):
            command, _, argument = line.strip().partition(" ")
            try:
                if command.isdecimal() and len(command) <= _MOST_DIGITS:
                    self._go(self._game.take(int(command)))
                elif command in words:
                    words[command](argument.strip())
                else:
                    click.echo(f"{shown(command)} is no command; ? lists them")
            except _Quit:
                return
            except Error as error:
                click.echo(str(error))

    def _go(self, game: Game) -> None:
        self._game, self._shown = game, self._page
        self._tell()

    def _cheapest(self, _: str) -> None:
        if self._game.state.is_complete:
            raise InvalidParameter("The schedule is complete: u takes back a decision, q quits")
        costs = self._game.state.expand().costs()
        if len(costs) == 0:
            raise InvalidParameter("There is no legal decision; u takes back the last one")
        self._go(self._game.take(int(costs.argmin())))

    def _undo(self, _: str) -> None:
        self._go(self._game.undo())

    def _finish(self, name: str) -> None:
        agent = _FINISHERS.get(name or "greedy")
        if agent is None:
            raise InvalidParameter(f"There is no agent {name!r} to finish; take {', '.join(_FINISHERS)}")
        self._go(self._game.finish(agent))

    def _more(self, _: str) -> None:
        self._shown += self._page
        self._decisions()

    def _order(self, _: str) -> None:
        self._by_cost = not self._by_cost
        self._decisions()

    def _picture(self, file: str) -> None:
        if not file:
            raise InvalidParameter("Give a file for the picture, such as: p nest.svg")
        path = Path(os.path.realpath(file))
        if path.suffix != ".svg":
            raise InvalidParameter(f"{file} names no SVG, which pictures are; give a file such as nest.svg")
        if path.exists() and path not in self._drawn:
            raise InvalidParameter(f"{file} exists, and is no picture of this game; remove it, or give another file")
        try:
            write_atomically(path, f"{to_svg(draw_nest(outline(self._game.state), self._status()))}\n".encode())
        except OSError as error:
            raise InvalidParameter(f"Cannot write {file}: {error.strerror}") from error
        self._drawn.add(path)
        click.echo(f"The nest is drawn in {file}")

    def _source(self, _: str) -> None:
        click.echo(Schedule.from_state(self._problem.problem, self._game.state).cpp().rstrip())

    def _status(self) -> str:
        state = self._game.state
        return f"{self._problem.problem.name}: {status_words(state, 0 if state.is_complete else state.expand().count)}"

    def _tell(self) -> None:
        state = self._game.state
        click.echo(f"\n{self._status()}")
        for line in nest_words(outline(state)):
            click.echo(line)
        if state.is_complete:
            speedup = self._problem.speedup(state.cost())
            click.echo(f"\n{speedup:.3g} times as fast as greedy search by the model. s shows the source, u goes back.")
        else:
            self._decisions()

    def _decisions(self) -> None:
        state = self._game.state
        if state.is_complete:
            raise InvalidParameter("The schedule is complete: there is nothing left to decide")
        expansion = state.expand()
        costs = expansion.costs()
        order = costs.argsort(kind="stable") if self._by_cost else range(expansion.count)
        table = Table(*number_columns("#", "cost"), "decision", box=None)
        for index in order[: self._shown]:
            cost = "-" if math.isnan(costs[index]) else f"{costs[index]:.5g}"
            table.add_row(str(index), cost, decision_words(expansion.describe(int(index))))
        click.echo("")
        output_console().print(table)
        if expansion.count > self._shown:
            click.echo(f"  ... and {expansion.count - self._shown} more (m)")


def _quit(_: str) -> None:
    raise _Quit


def _ask() -> str | None:
    """The next line of the player; None at the end of the input."""
    try:
        return input("> ")
    except EOFError:
        click.echo("")
        return None
