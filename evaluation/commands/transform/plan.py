"""`halidegym transform plan`."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.agents.agent import Agent
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.dynamic_programming import DynamicProgramming
from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mb2fbs import MB2FBS
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.tag import TAG
from halidegym.agents.planners.uct import UCT
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.plan_task import SpaceName, indented
from halidegym.envs.transform.timer import TransformTimer
from halidegym.evaluation.arguments.options import SEED, Integer
from halidegym.evaluation.arguments.transform import SPACES, order_of
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.native._core import TransformSpace, available_lanes
from halidegym.native.checks import INT64_MAX

AGENTS: dict[str, Agent] = {
    "random": RandomSearch(),
    "greedy": Greedy(),
    "beam": BeamSearch(),
    "mb2fbs": MB2FBS(),
    "mcts": MCTS(),
    "uct": UCT(),
    "uct-graph": UCT(merge=True),
    "tag": TAG(),
    "tag-tree": TAG(merge=False),
    "exhaustive": ExhaustiveSearch(),
}
DP = "dp"
_EVALUATIONS = 2000
_ROUNDS = 7  # beside the libraries


@click.command()
@click.argument("n", metavar="N", type=int)
@click.option("--agent", "name", type=click.Choice([*AGENTS, DP]), default="tag", show_default=True)
@click.option("--evaluations", type=Integer(1, INT64_MAX), help="Plans to measure; dp measures as many as "
              "it needs.  [default: 2000]")  # fmt: skip
@click.option("--space", "space_name", type=click.Choice(SPACES), default="basic", show_default=True)
@click.option("--cost", type=click.Choice(["measured", "model"]), default="measured", show_default=True)
@click.option("--context", type=click.FloatRange(min=0), default=0.0, show_default=True, help="Of the model.")
@click.option("--database", type=click.Path(path_type=Path, dir_okay=False), help="Record measurements here.")
@click.option("--seed", type=SEED, default=0, show_default=True)
def plan(
    n: int,
    name: str,
    evaluations: int | None,
    space_name: SpaceName,
    cost: str,
    context: float,
    database: Path | None,
    seed: int,
) -> None:
    """Search for a fast plan of a transform of N complex numbers.

    By measured run time, the best plans that the search has come by race at its end, together with the one that dynamic
    programming over the model's costs finds, and the winner is timed beside FFTW, pocketfft and scipy.fft; by the model, the
    search's plan stands beside the exact optimum.
    """
    if cost == "model" and database is not None:
        raise click.UsageError(
            "--database records measurements, of which --cost model makes none; leave one of them out."
        )
    if cost == "measured" and context:
        raise click.UsageError("--context is of --cost model; leave it out, or give that, too.")
    if name == DP:
        if evaluations is not None:
            raise click.UsageError(
                "--evaluations is not for --agent dp, which measures as many as it needs; leave it out."
            )
    elif evaluations is None:
        evaluations = _EVALUATIONS
    if cost == "model":
        _plan_by_model(n, name, evaluations, space_name, context, seed)
        return
    model = TransformSpace(n, space=space_name, lanes=available_lanes())
    reference = model.root().plan
    with TransformTimer(TransformPlan(n, reference), space=space_name, database=database) as timer:
        agent = DynamicProgramming(timer=timer) if name == DP else AGENTS[name]
        measured = TransformSpace(n, space=space_name, order=order_of(agent), lanes=available_lanes(), cost=timer.cost)
        found = agent.solve(measured, evaluations=evaluations, seed=seed)
        texts = [_text(measured, candidate.actions) for candidate in found.candidates[: timer.settings.finalists]]
        standings = timer.race([*texts, reference])
    flops = TransformPlan(n, reference).flops
    table = Table(*number_columns("us", "GFLOP/s", "Ratio", "From", "To"), *name_columns("Plan"), box=None)
    for standing in standings:
        numbers = (standing.ratio, standing.low, standing.high)
        what = standing.plan + (" (model's)" if standing.plan == reference else "")
        speed = f"{flops / standing.cost / 1e3:.1f}"
        table.add_row(f"{standing.cost:.3f}", speed, *(f"{number:.2f}" for number in numbers), what)
    console = output_console()
    console.print(f"{found.agent}: {found.evaluations} evaluations, {found.seconds:.1f} s", soft_wrap=True)
    console.print(table)
    console.print(_beside_libraries(n, standings[0].plan), soft_wrap=True, markup=False)
    console.print(indented(standings[0].plan), soft_wrap=True)


def _beside_libraries(n: int, plan: str) -> str:
    try:
        from halidegym.evaluation.studies.transform_libraries import compare_libraries
    except ModuleNotFoundError as error:
        return f"Not compared with FFTW and pocketfft, for want of {error.name}; run pip install 'halidegym[bench]'"
    ratios = compare_libraries(n, plan, _ROUNDS).ratios
    speeds = (f"{r.median:.2f} [{r.low:.2f}, {r.high:.2f}] times {name}'s" for name, r in ratios.items())
    return "Speed: " + ", ".join(speeds)


def _plan_by_model(
    n: int, name: str, evaluations: int | None, space_name: SpaceName, context: float, seed: int
) -> None:
    agent = DynamicProgramming() if name == DP else AGENTS[name]
    space = TransformSpace(n, space=space_name, order=order_of(agent), context=context)
    found = agent.solve(space, evaluations=evaluations, seed=seed)
    optimum, _ = space.optimum()
    console = output_console()
    console.print(f"{found.agent}: {found.evaluations} evaluations, {found.seconds:.1f} s", soft_wrap=True)
    console.print(f"{found.cost:.4g} us by the model, {found.cost / optimum:.3f} of the optimum's")
    console.print(found.state.text, soft_wrap=True)
    console.print(indented(found.state.text), soft_wrap=True)


def _text(space: TransformSpace, actions: tuple[int, ...]) -> str:
    state = space.root()
    for action in actions:
        state = space.apply(state, action)
    return state.text
