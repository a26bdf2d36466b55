"""Observations of `HalideSchedule` and the same without their padding: however large the room, the network sees the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from halidegym.native._core import InvalidParameter
from halidegym.training.networks.batches import (
    CONSUMERS,
    DECIDING,
    FIRST_PLACE,
    INLINED,
    NUM_GROUPS,
    Decisions,
    Problems,
    States,
)
from halidegym.training.networks.network import (
    NUM_ALGORITHM_FEATURES,
    NUM_CHILD_FEATURES,
    NUM_EDGE_FEATURES,
    NUM_STAGE_FEATURES,
    descriptor_size,
)

#: Columns of a descriptor before and after the trip counts.
_HEAD = 11
_TAIL = descriptor_size(0) - _HEAD
#: Of what does not change during an episode, and tells problems apart.
_OF_PROBLEM = ("algorithm_features", "stage_features", "stage_mask", "edges", "edge_features")
#: What is read of observations, one row of each; `decision_features`, too, if children are.
KEYS = (
    *_OF_PROBLEM,
    *("scheduled", "stage_costs", "deciding", "places", "phase", "decided"),
    *("decisions", "decision_stage", "action_mask"),
)


class Unpadded(NamedTuple):
    """What a batch of B observations shows, and where its decisions were."""

    problems: Problems
    states: States
    decisions: Decisions
    relative_cost: Tensor
    """[B], cost of what is scheduled / that of the reference."""
    action: Tensor
    """[D], the action behind each decision."""


def unpad(observation: Mapping[str, Tensor], loops: int) -> Unpadded:
    """A batch of observations, of whose descriptors `loops` loops are kept. Equal problems become one.

    Raises:
        InvalidParameter: an observation shows nothing.
    """
    chosen, problem = _problems(observation)
    room = _tables({key: observation[key][chosen] for key in _OF_PROBLEM})
    mask = room["stage_mask"] > 0
    sizes = mask.sum(1)
    if not sizes.all():
        raise InvalidParameter(
            "An observation shows no stages, as the zeros do with which Gymnasium's DelayObservation begins; leave that "
            "out, as legal actions are those of the present state"
        )
    offsets = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    of_edge, edge = torch.nonzero(room["edges"][:, :, 0] >= 0, as_tuple=True)
    problems = Problems(
        algorithm_features=room["algorithm_features"][mask],
        stage_features=room["stage_features"][mask],
        stage_problem=torch.nonzero(mask)[:, 0],
        edges=(room["edges"][of_edge, edge].long() + offsets[of_edge, None]).T,
        edge_features=room["edge_features"][of_edge, edge],
        offsets=offsets,
    )
    first = offsets[problem]
    states = _states(observation, problem, first)
    decisions, action = _decisions(observation, first, loops)
    scheduled = observation["scheduled"] > 0
    relative_cost = torch.where(scheduled, observation["stage_costs"].exp(), 0.0).sum(1)
    return Unpadded(problems, states, decisions, relative_cost, action)


def pad(logits: Tensor, unpadded: Unpadded, actions: int, padding: float) -> Tensor:
    """Logits of the decisions as a table [B, actions]."""
    table = logits.new_full((unpadded.states.count, actions), padding)
    return table.index_put((unpadded.decisions.state, unpadded.action), logits)


def _problems(observation: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """One observation of each problem, and the problem of each observation."""
    parts = [observation[key].float() for key in _OF_PROBLEM]
    bits = torch.cat([part.contiguous().view(torch.int32) for part in parts], 1).long()
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(2**62, (bits.shape[1],), generator=generator).to(bits.device)
    hashes, problem = torch.unique((bits * factors).sum(1), return_inverse=True)
    chosen = problem.new_empty(len(hashes))
    chosen[problem] = torch.arange(len(problem), device=problem.device)
    return chosen, problem


def _tables(flat: Mapping[str, Tensor]) -> dict[str, Tensor]:
    columns = {
        "algorithm_features": NUM_ALGORITHM_FEATURES,
        "stage_features": NUM_STAGE_FEATURES,
        "edges": 2,
        "edge_features": NUM_EDGE_FEATURES,
    }
    return {key: _rows(value, columns[key]) if key in columns else value for key, value in flat.items()}


def _rows(flat: Tensor, columns: int) -> Tensor:
    return flat.reshape(len(flat), -1, columns)


def _states(observation: Mapping[str, Tensor], problem: Tensor, first: Tensor) -> States:
    """States whose problems' stages begin at `first`."""
    deciding, places = observation["deciding"] > 0, observation["places"].long()
    producer, consumer = _rows(observation["edges"].long(), 2).unbind(2)
    is_edge = producer >= 0
    producer, consumer = producer.clamp(min=0), consumer.clamp(min=0)
    reads = is_edge & deciding.gather(1, producer) & ~deciding.gather(1, consumer)
    reads &= places.gather(1, consumer) != INLINED
    decider, decided_stage = torch.nonzero(deciding, as_tuple=True)
    reader, edge = torch.nonzero(reads, as_tuple=True)
    placer, placed = torch.nonzero(places >= INLINED, as_tuple=True)
    state = torch.cat([decider, reader, placer])
    stage = torch.cat([decided_stage, consumer[reader, edge], placed])
    group = torch.cat(
        [
            torch.full_like(decider, DECIDING),
            torch.full_like(reader, CONSUMERS),
            places[placer, placed] - INLINED + FIRST_PLACE,
        ]
    )
    return States(
        problem=problem,
        phase=observation["phase"].argmax(1),
        decided=observation["decided"].squeeze(1),
        num_legal=observation["action_mask"].float().sum(1),
        member_stage=stage + first[state],
        member_slot=NUM_GROUPS * state + group,
    )


def _decisions(observation: Mapping[str, Tensor], first: Tensor, loops: int) -> tuple[Decisions, Tensor]:
    state, action = torch.nonzero(observation["action_mask"] > 0, as_tuple=True)
    decisions = observation["decisions"]
    rows = _rows(decisions, decisions.shape[1] // observation["action_mask"].shape[1])[state, action]
    level = observation["decision_stage"][state, action].long()
    children = observation.get("decision_features")
    ragged = Decisions(
        state=state,
        descriptors=with_loops(rows, loops),
        stage=torch.where(level < 0, -1, level + first[state]),
        child_features=None if children is None else _rows(children, NUM_CHILD_FEATURES)[state, action],
    )
    return ragged, action


def with_loops(rows: Tensor, loops: int) -> Tensor:
    """Descriptors with trip counts of so many loops, the innermost ones; 0 where the rows have no more."""
    given = (rows.shape[1] - _HEAD - _TAIL) // 3
    if given == loops:
        return rows
    shown = min(given, loops)
    trips = rows.new_zeros(len(rows), 3, loops)
    trips[:, :, :shown] = rows[:, _HEAD:-_TAIL].reshape(len(rows), 3, given)[:, :, :shown]
    converted = torch.cat([rows[:, :_HEAD], trips.flatten(1), rows[:, -_TAIL:]], 1)
    assert converted.shape[1] == descriptor_size(loops)
    return converted
