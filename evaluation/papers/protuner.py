"""ProTuner (Haj-Ali et al. 2020): tree search against beam search, at equal time and with the budgets of its Table 1.

The target and the number of cores are those of the MB2FBS paper, in which our beam of 32 is the published one. All runs of
a pipeline come one after another, each in a process of its own, so that they meet the same load of the machine.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halidegym.agents.agent import Agent
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mb2fbs import MB2FBS
from halidegym.agents.planners.mcts import MCTS
from halidegym.envs.processes.isolated import run_isolated
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.output.plots import new_figure, save_svg
from halidegym.evaluation.papers.mb2fbs import PARALLELISM, TARGET

BEAM = "beam 32"


@dataclass(frozen=True)
class Rival:
    """An agent that is compared with the beam.

    Attributes:
        agent: what plans.
        beam_times: seconds that it may use, in units of those that the beam took; None for the agent's own limits.
    """

    agent: Agent
    beam_times: float | None = None


@dataclass(frozen=True)
class Run:
    """One agent on one pipeline.

    Attributes:
        pipeline, algorithm, seed: what was run.
        cost: of the best schedule.
        beam_cost: of the beam's best.
        seconds, beam_seconds: wall-clock times of both.
    """

    pipeline: str
    algorithm: str
    seed: int
    cost: float
    beam_cost: float
    seconds: float
    beam_seconds: float

    @property
    def ratio(self) -> float:
        """Cost of the beam's schedule over that of this one: above 1 where this one is better."""
        return self.beam_cost / self.cost


def equal_time(factors: Iterable[float] = (1,), threads: int = 1) -> dict[str, Rival]:
    """Tree search, the paper's and two of ours for small budgets, and MB2FBS, in multiples of the beam's time."""
    agents: dict[str, Agent] = {
        "mcts 15+1": MCTS(threads=threads),
        **{name: MCTS.preset(name, threads=threads) for name in ("mcts_replay", "mcts_beam")},
        "mb2fbs": MB2FBS.preset("controlled"),
        "mb2fbs by cost": MB2FBS.preset("controlled", priority="cost"),
    }
    return {
        f"{name}, {factor:g}x": Rival(agent, factor)
        for factor in factors
        for name, agent in agents.items()
        if factor == 1 or not isinstance(agent, MB2FBS)  # which ends by itself
    }


def figure_7(scale: float, threads: int = 1) -> dict[str, Rival]:
    """The configurations of Table 1 without measurements, their seconds multiplied by a factor, and greedy search."""
    rivals: dict[str, Rival] = {"greedy": Rival(Greedy())}
    for name in MCTS.presets():
        agent = MCTS.preset(name, threads=threads)
        if agent.seconds_per_decision is not None and not agent.measured:
            seconds = agent.seconds_per_decision * scale
            rivals[name] = Rival(dataclasses.replace(agent, seconds_per_decision=seconds))
    return rivals


def compare(
    pipelines: Iterable[str],
    rivals: Mapping[str, Rival],
    *,
    seeds: Sequence[int] = (0,),
    on_step: Callable[[str], None] = lambda text: None,
) -> list[Run]:
    """Run the beam and then the others on each pipeline.

    Args:
        pipelines: names of registered ones.
        rivals: by the name to show.
        seeds: of the agents; each is run once per seed. The beam has none.
        on_step: called with a text when a run begins.

    Raises:
        Error: a run fails.
    """
    runs = []
    for pipeline in pipelines:
        on_step(f"{pipeline}, {BEAM}")
        beam_cost, beam_seconds = run_isolated(_run, pipeline, BeamSearch(), None, 0)
        runs.append(Run(pipeline, BEAM, 0, beam_cost, beam_cost, beam_seconds, beam_seconds))
        for name, rival in rivals.items():
            budget = None if rival.beam_times is None else rival.beam_times * beam_seconds
            for seed in seeds:
                on_step(f"{pipeline}, {name}")
                cost, seconds = run_isolated(_run, pipeline, rival.agent, budget, seed)
                runs.append(Run(pipeline, name, seed, cost, beam_cost, seconds, beam_seconds))
    return runs


def _run(pipeline: str, agent: Agent, seconds: float | None, seed: int) -> tuple[float, float]:
    plan = agent.plan(load_problem(pipeline, target=TARGET, parallelism=PARALLELISM), seconds=seconds, seed=seed)
    assert plan.cost is not None and plan.seconds is not None, "planners state both"
    return plan.cost, plan.seconds


def ratios(runs: Iterable[Run]) -> dict[str, dict[str, float]]:
    """Return, by algorithm and pipeline, the geometric mean over the seeds of `Run.ratio`."""
    collected: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        collected.setdefault(run.algorithm, {}).setdefault(run.pipeline, []).append(run.ratio)
    return {
        algorithm: {pipeline: statistics.geometric_mean(values) for pipeline, values in row.items()}
        for algorithm, row in collected.items()
    }


def draw(title: str, runs: Iterable[Run], path: Path) -> None:
    """Draw a group of bars for each pipeline and one for the geometric mean: above 1, the beam is beaten.

    Raises:
        Error: matplotlib is not installed.
    """
    table = ratios(runs)
    table.pop(BEAM, None)
    labels = [*next(iter(table.values())), "geometric mean"]
    figure = new_figure(max(7.0, 1.1 * len(labels)), 4.5)
    axis = figure.subplots()
    width = 0.8 / len(table)
    for number, (algorithm, row) in enumerate(table.items()):
        values = [*row.values(), statistics.geometric_mean(row.values())]
        places = [place - 0.4 + (number + 0.5) * width for place in range(len(labels))]
        axis.bar(places, values, width, label=algorithm)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
    axis.set_ylabel("cost of beam 32 / cost")
    axis.set_title(title)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    save_svg(figure, path)
