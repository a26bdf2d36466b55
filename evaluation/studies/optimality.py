"""How far agents are from the optimum, on the toy problems whose optimum is proven."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from halidegym.agents.agent import Agent
from halidegym.agents.iterated import IteratedSearch
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mb2fbs import MB2FBS, PRESETS
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.tag import TAG
from halidegym.agents.planners.uct import UCT
from halidegym.envs.pipelines import toys
from halidegym.envs.pipelines.toys import Optimum
from halidegym.native._core import InternalError

#: The agents that `halidegym optimality` compares, by the name to show.
AGENTS: Mapping[str, Agent] = {
    "random": RandomSearch(),
    "greedy": Greedy(),
    "beam 32": BeamSearch(),
    **{
        f"MB2FBS {preset}": MB2FBS.preset(preset, **({"memory": 32} if preset == "memory_bounded_best_first" else {}))
        for preset in PRESETS
        if preset not in ("greedy", "beam")  # the same as those above, but for the passes of a beam
    },
    "MCTS": MCTS(threads=1),
    "MCTS replay": MCTS.preset("mcts_replay", threads=1),
    "TAG": TAG(),
    "TAG, tree": TAG(merge=False),
    "UCT": UCT(),
    "UCT, graph": UCT(merge=True),
    "greedy iterated": IteratedSearch(Greedy(random_dropout=30)),
    "beam 8 iterated": IteratedSearch(BeamSearch(beam_size=8, random_dropout=30)),
}


def prove_optimum(name: str) -> Optimum:
    """Find the optimum of a toy problem by trying all its schedules.

    Raises:
        ValueError: there is no toy of this name.
        KeyboardInterrupt: Ctrl-C ended the search, so nothing is proven.
    """
    plan = ExhaustiveSearch().plan(toys.problem(name))
    if plan.ended_by != "finished":
        raise KeyboardInterrupt
    weights_hash = plan.fingerprint.weights_hash
    if plan.cost is None or plan.evaluations is None or weights_hash is None:
        raise InternalError("an exhaustive search without a cost model")
    return Optimum(
        num_schedules=plan.evaluations,
        cost=plan.cost,
        actions=plan.actions,
        # Without the suffixes by which Halide keeps names unique in this process.
        loop_nest=tuple(re.sub(r"\$\d+", "", plan.loop_nest).splitlines()),
        problem_hash=plan.fingerprint.problem_hash,
        weights_hash=weights_hash,
        proof=f"halidegym optima --check {name}",
    )


def write_optima(optima: Mapping[str, Optimum], path: Path = toys.OPTIMA_FILE) -> None:
    """Write optima as JSON, for people to read as well: costs exact, one line a level of the loop nest."""
    document = {
        "kind": "halidegym optima",
        "target": toys.TARGET,
        "parallelism": toys.PARALLELISM,
        "optima": {name: dataclasses.asdict(optimum) for name, optimum in optima.items()},
    }
    text = json.dumps(document, indent=2)
    numbers_in_one_line = re.sub(
        r"\[[\d\s,]+\]", lambda found: re.sub(r"\s+", " ", found[0]).replace("[ ", "[").replace(" ]", "]"), text
    )
    path.write_text(numbers_in_one_line + "\n", encoding="utf-8")


@dataclasses.dataclass(frozen=True)
class Gap:
    """The result of an agent on a toy problem.

    Attributes:
        pipeline: name of the toy.
        agent: name of the agent.
        costs: of its schedules, one per seed.
        optimum: the lowest cost of all schedules.
    """

    pipeline: str
    agent: str
    costs: tuple[float, ...]
    optimum: float

    @property
    def gap(self) -> float:
        """Mean over the seeds of cost / optimum - 1: 0 for the optimum, 0.1 for ten percent more."""
        return sum(cost / self.optimum - 1 for cost in self.costs) / len(self.costs)


def optimality_gaps(
    agents: Mapping[str, Agent] = AGENTS,
    names: Iterable[str] | None = None,
    seeds: Iterable[int] = (0,),
    *,
    evaluations: int | None = None,
) -> list[Gap]:
    """Run agents on toy problems, each pair once per seed, and compare the costs with the optima.

    Args:
        agents: by name; they must rate schedules with the pretrained cost model, and search the default space.
        names: of toys; None for all.
        seeds: of the agents.
        evaluations: the budget of each agent and seed; None for none.

    Returns:
        One entry per toy and agent, by toy.

    Raises:
        ValueError: there is no toy of some name, or an agent has no cost model.
    """
    chosen_seeds = tuple(seeds)
    gaps = []
    for name in toys.BUILDERS if names is None else names:
        problem, optimum = toys.problem(name), toys.optimum(name)
        for agent_name, agent in agents.items():
            plans = (agent.plan(problem, evaluations=evaluations, seed=seed) for seed in chosen_seeds)
            costs = tuple(_cost(plan.cost, agent_name) for plan in plans)
            gaps.append(Gap(name, agent_name, costs, optimum.cost))
    return gaps


def _cost(cost: float | None, agent: str) -> float:
    if cost is None:
        raise ValueError(f"The agent {agent} does not rate its schedules, so they cannot be compared with the optimum")
    return cost
