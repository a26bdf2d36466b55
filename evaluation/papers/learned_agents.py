"""Learned policies against search: each agent's schedules, and what it took to find them.

Target and number of cores are those of the reproductions, so the beam is the published one. All runs of an agent on a
pipeline are made in one process of their own; results are kept line by line, and a study that was ended goes on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halidegym.agents.agent import Agent
from halidegym.agents.learned.guided import GuidedAgent
from halidegym.agents.learned.guided_mcts import PolicyGuidedMCTS
from halidegym.agents.learned.guided_replay import GuidedReplay
from halidegym.agents.learned.policies import policies_of
from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mb2fbs import MB2FBS
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.soft_sampling import SoftSampling
from halidegym.envs.processes.isolated import run_isolated
from halidegym.evaluation.arguments.pipeline import load_problem
from halidegym.evaluation.output import kept_runs
from halidegym.evaluation.papers.mb2fbs import PARALLELISM, TARGET

BEAM = "beam 32 x 5"
GREEDY = "greedy"
EVALUATIONS = (256, 2_000, 10_000)
_READ_ALL = 1 << 20


@dataclass(frozen=True)
class Entrant:
    """An agent and the budget that it has.

    Attributes:
        agent: what plans.
        evaluations: that it may use; None for the agent's own end.
        beam_times: seconds that it may use, in units of those that the beam takes; None for no limit.
    """

    agent: Agent
    evaluations: int | None = None
    beam_times: float | None = None

    @property
    def has_seeds(self) -> bool:
        """Whether a seed makes a difference."""
        return not isinstance(self.agent, Greedy | BeamSearch | MB2FBS)

    @property
    def policy(self) -> str:
        """Names or paths of the policies that guide the agent; empty where there are none."""
        return ", ".join(map(str, policies_of(self.agent.policy))) if isinstance(self.agent, GuidedAgent) else ""


@dataclass(frozen=True)
class Run:
    """One agent on one pipeline with one seed.

    Attributes:
        pipeline, agent, policy, seed: what was run; the policy, a name or a path, is empty where there is none.
        cost: of the best schedule.
        evaluations, distinct_evaluations, forwards, seconds: what it took; seconds by the clock, on one thread.
    """

    pipeline: str
    agent: str
    policy: str
    seed: int
    cost: float
    evaluations: int
    distinct_evaluations: int
    forwards: int
    seconds: float

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What was run."""
        return self.pipeline, self.agent, self.policy, self.seed


def searches() -> dict[str, Entrant]:
    """The entrants that have not learned anything, by the names to show."""
    replay = MCTS.preset("mcts_replay", threads=1)
    return {
        BEAM: Entrant(BeamSearch()),
        GREEDY: Entrant(Greedy()),
        "random, best of 1,000": Entrant(RandomSearch()),
        "soft sampling, best of 64": Entrant(SoftSampling()),
        "mb2fbs": Entrant(MB2FBS.preset("controlled")),
        **{f"mcts_replay, {n:,} evaluations": Entrant(replay, evaluations=n) for n in EVALUATIONS},
        "mcts_replay, beam's seconds": Entrant(replay, beam_times=1),
    }


def learned(policy: str | Path) -> dict[str, Entrant]:
    """The entrants that use a policy, by the names to show."""
    search = PolicyGuidedMCTS(policy=policy)
    replay = GuidedReplay(policy=policy)
    shortlisted = dataclasses.replace(replay, shortlist=16)
    classes = {"blind": 0, "shortlist 16": 16}
    return {
        **{
            f"policy, {name}, argmax": Entrant(PolicyAgent(policy=policy, samples=1, temperature=0, shortlist=size))
            for name, size in (classes | {"full": _READ_ALL}).items()
        },
        **{
            f"policy, {name}, best of 64": Entrant(PolicyAgent(policy=policy, shortlist=size))
            for name, size in classes.items()
        },
        "policy, blind, half at 0.4, best of 64": Entrant(PolicyAgent(policy=policy, other_temperature=0.4)),
        "policy, shortlist 12 in three of four, best of 64": Entrant(
            PolicyAgent(policy=policy, shortlist=12, shortlist_share=0.75)
        ),
        **{
            f"{name}, {n} schedules": Entrant(dataclasses.replace(agent, schedules=n))
            for name, agent in (("guided replay", replay), ("guided replay, shortlist 16", shortlisted))
            for n in (64, 256)
        },
        **{
            f"{name}, {n:,} evaluations": Entrant(agent, evaluations=n)
            for name, agent in (("guided replay", replay), ("guided mcts", search))
            for n in EVALUATIONS
        },
        **{
            f"{name}, beam's seconds": Entrant(agent, beam_times=1)
            for name, agent in (
                ("guided replay", replay),
                ("guided replay, shortlist 16", shortlisted),
                ("guided mcts", search),
            )
        },
    }


def together(policies: Sequence[str | Path]) -> dict[str, Entrant]:
    """The entrants to which several policies draw together, by the names to show."""
    draws = PolicyAgent(policy=policies)
    replay = GuidedReplay(policy=policies)
    return {
        "policies by lot, blind, best of 64": Entrant(draws),
        "policies by lot, shortlist 16, best of 64": Entrant(dataclasses.replace(draws, shortlist=16)),
        "policies by lot, blind, half at 0.4, best of 64": Entrant(dataclasses.replace(draws, other_temperature=0.4)),
        "policies by lot, shortlist 12 in three of four, best of 64": Entrant(
            dataclasses.replace(draws, shortlist=12, shortlist_share=0.75)
        ),
        **{
            f"guided replay by lot, {n} schedules": Entrant(dataclasses.replace(replay, schedules=n)) for n in (64, 256)
        },
        **{f"guided replay by lot, {n:,} evaluations": Entrant(replay, evaluations=n) for n in EVALUATIONS[1:]},
        "guided replay by lot, beam's seconds": Entrant(replay, beam_times=1),
    }


def compare(
    pipelines: Iterable[str],
    entrants: Mapping[str, Entrant],
    *,
    seeds: Sequence[int],
    known: Iterable[Run] = (),
    on_step: Callable[[str], None] = lambda text: None,
) -> Iterator[Run]:
    """Run each entrant on each pipeline, the beam first, whose time is the measure for others.

    Args:
        pipelines: names of registered ones.
        entrants: by the name to show; must have the beam.
        seeds: of those entrants that have any.
        known: runs that need not be made again.
        on_step: called with a text when an agent begins.

    Raises:
        Error: a run fails.
    """
    done = {run.key: run for run in known}
    for pipeline in pipelines:
        beam_seconds = float("nan")
        for name, entrant in entrants.items():
            on_step(f"{pipeline}, {name}")
            policy = entrant.policy
            wanted = list(seeds if entrant.has_seeds else seeds[:1])
            missing = [seed for seed in wanted if (pipeline, name, policy, seed) not in done]
            seconds = None if entrant.beam_times is None else entrant.beam_times * beam_seconds
            made = run_isolated(_runs, pipeline, name, policy, entrant, seconds, missing) if missing else []
            yield from made
            if name == BEAM:
                beam_seconds = (made or [done[pipeline, name, policy, wanted[0]]])[0].seconds


def _runs(
    pipeline: str, name: str, policy: str, entrant: Entrant, seconds: float | None, seeds: Sequence[int]
) -> list[Run]:
    problem = load_problem(pipeline, target=TARGET, parallelism=PARALLELISM)
    runs = []
    for seed in seeds:
        plan = entrant.agent.plan(problem, evaluations=entrant.evaluations, seconds=seconds, seed=seed)
        assert plan.cost is not None and plan.seconds is not None, "planners state both"
        assert plan.evaluations is not None and plan.distinct_evaluations is not None, "planners count"
        runs.append(
            Run(
                pipeline, name, policy, seed, plan.cost, plan.evaluations, plan.distinct_evaluations, plan.forwards,
                plan.seconds,
            )
        )  # fmt: skip
    return runs


def read_runs(path: Path) -> list[Run]:
    """Read what `append_runs` has written; see `kept_runs.read_runs`."""
    return kept_runs.read_runs(path, Run)


def append_runs(path: Path, runs: Iterable[Run]) -> Iterator[Run]:
    """Write each run to the end of a file as soon as it is there, and pass it on. A last line that was cut short is removed.

    Several processes may write to one file.

    Raises:
        FormatError: the file is none of that kind.
        OSError: the file cannot be written.
    """
    kept_runs.begin_runs(path, Run)
    for run in runs:
        kept_runs.append_run(path, run)
        yield run
