"""The agents of `halidegym schedule` by their names, and which options each of them takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import click

from halidegym.agents.learned.guided import GuidedAgent
from halidegym.agents.learned.guided_mcts import PolicyGuidedMCTS
from halidegym.agents.learned.guided_replay import GuidedReplay
from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.learned.sgbs import SGBS
from halidegym.agents.native_search import NativeSearch
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mb2fbs import MB2FBS
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.tag import TAG
from halidegym.agents.tuner.autotune import Autotune

Given: TypeAlias = int | str | Path | tuple[str, ...] | None
"""The value of an option; None if it was not given."""


def _guided(kind: type[GuidedAgent], **parameters: str) -> Callable[..., GuidedAgent]:
    return lambda policy="default", shortlist=0: kind.load(policy, shortlist=shortlist, **parameters)


# How to make each agent, from the parameters that it has.
_AGENTS: Mapping[str, Callable[..., NativeSearch | Autotune]] = {
    "autotune": Autotune,
    "beam": lambda beam=32, passes=None: BeamSearch(beam_size=beam, passes=passes),
    "mb2fbs": lambda passes=5: MB2FBS(passes=passes),
    "mcts": lambda: MCTS.preset("mcts_0.5s"),
    "tag": TAG,
    "policy": _guided(PolicyAgent),
    "guided": _guided(PolicyGuidedMCTS),
    "guided-replay": _guided(GuidedReplay),
    "puct": _guided(PolicyGuidedMCTS, selection="puct"),
    "gumbel": _guided(PolicyGuidedMCTS, root="gumbel"),
    "sgbs": _guided(SGBS),
    "greedy": Greedy,
    "random": RandomSearch,
}

SEARCHES = tuple(_AGENTS)
"""The names."""

GUIDED = ("policy", "guided", "guided-replay", "puct", "gumbel", "sgbs")
"""Those that a policy guides."""

_OTHERS = tuple(name for name in _AGENTS if name != "autotune")
_TAKERS = {
    "beam": ("beam",),
    "passes": ("beam", "mb2fbs"),
    "policy": GUIDED,
    "shortlist": GUIDED,
    "evaluations": _OTHERS,
    "guide": ("autotune",),
    "measurements": ("autotune",),
    "database": ("autotune",),
}


def check_takers(name: str, **options: object) -> None:
    """Refuse options that the agent of this name does not have.

    Raises:
        UsageError: one was given.
    """
    for option, value in options.items():
        if value is not None and name not in _TAKERS[option]:
            *others, last = _TAKERS[option]
            takers = f"{', '.join(others)} or {last}" if others else last
            raise click.UsageError(f"--agent {name} has no --{option}; leave it out, or search by --agent {takers}.")


def search_agent(name: str, top: int, **options: Given) -> NativeSearch | Autotune:
    """Make the agent of this name, which finds so many schedules at least, from those options that were given."""
    given = {option: value for option, value in options.items() if value is not None}
    if name == "autotune":
        given["finalists"] = max(top, Autotune.finalists)
    return _AGENTS[name](**given)
