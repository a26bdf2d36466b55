"""Padded rows and ragged ones: the same to the network."""

from __future__ import annotations

import numpy as np
import torch

from halidegym.training.networks import PolicyNetwork, StateAt, join, join_problems
from halidegym.training.networks.padded import unpad
from networks_for_tests import padded, random_problem, random_replay


def test_padding_makes_no_difference() -> None:
    rng = np.random.default_rng(0)
    problems = [random_problem(rng, stages) for stages in (1, 7, 12)]
    replays = [random_replay(rng, len(problem["stage_features"]), 4) for problem in problems]
    which = [StateAt(p, replays[p], row) for p, row in ((2, 0), (0, 1), (1, 1), (2, 3), (2, 1), (1, 0))]
    room = {"stages": 20, "edges": 90, "loops": 9, "decisions": 30}
    shown = [padded(problems[at.problem], at.replayed, at.row, **room) for at in which]
    unpadded = unpad({key: torch.from_numpy(np.stack([o[key] for o in shown])) for key in shown[0]}, loops=8)
    assert unpadded.problems.count == len(problems)
    states, decisions = join(problems, which)
    torch.manual_seed(0)
    network = PolicyNetwork()
    for head in (network.blind_logits, network.child_logits):
        ours, theirs = (
            head(encoded := network.encode(of), network.context(encoded, at), rows)
            for of, at, rows in (
                (unpadded.problems, unpadded.states, unpadded.decisions),
                (join_problems(problems), states, decisions),
            )
        )
        torch.testing.assert_close(ours, theirs)
