"""Schedules that differ from a given one by a decision, and what follows from it."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence

from halidegym.agents.proposals.descents import Choice, descend, nearly_cheapest
from halidegym.agents.proposals.proposal import Proposal
from halidegym.native._core import Decision, Expansion, SearchExhausted, State

_REPETITIONS = 100


def neighbours(proposal: Proposal, seed: int = 0) -> Iterator[Proposal]:
    """Neighbours of a schedule, drawn without end; none if it is the only one.

    One decision is taken in another way: half of the time by any of the ten cheapest, else by any at all, so that what the
    cost model thinks little of is met, too, such as few tasks or long strips. The decisions after it are those of the
    schedule where they are legal, else the cheapest. Decisions about tasks are changed as often as those about places,
    although they have fewer alternatives.
    """
    generator, failures = random.Random(seed), 0
    base = _path(proposal)
    choices = [index for index, (_, expansion) in enumerate(base) if len(expansion) > 1]
    phases = [[index for index in choices if base[index][0].next_phase == phase] for phase in ("place", "parallelize")]
    phases = [indices for indices in phases if indices]
    decisions = proposal.state.decisions_made
    while phases and failures <= _REPETITIONS:
        failures += 1
        changed = generator.choice(generator.choice(phases))
        _, expansion = base[changed]
        action = _another(expansion, proposal.actions[changed], generator)
        with contextlib.suppress(SearchExhausted):
            child = expansion.child(action)
            neighbour = descend("neighbour", child, (*proposal.actions[:changed], action), _replay(decisions))
            failures = 0
            yield neighbour


def _path(proposal: Proposal) -> list[tuple[State, Expansion]]:
    state, path = proposal.state.space.initial_state(), []
    for action in proposal.actions:
        expansion = state.expand()
        path.append((state, expansion))
        state = expansion.child(action)
    return path


def _another(expansion: Expansion, action: int, generator: random.Random) -> int:
    is_cheap = generator.random() < 0.5
    while True:
        drawn = nearly_cheapest(expansion, generator) if is_cheap else generator.randrange(len(expansion))
        if drawn != action:
            return drawn


def _replay(decisions: Sequence[Decision]) -> Choice:
    """Take the known decision where it is legal, else the cheapest."""

    def choose(state: State, expansion: Expansion) -> int:
        known = decisions[state.num_decisions_made]
        if state.child_if_legal(known) is not None:
            return expansion.index_of(known)
        return int(expansion.costs().argmin())

    return choose
