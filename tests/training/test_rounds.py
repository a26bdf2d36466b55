"""Rounds whose policies are worth what a script says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from halidegym.agents.learned.policy_file import load_policy_file
from halidegym.training.imitation.settings import RoundSettings
from halidegym.training.networks.network import PolicyNetwork
from halidegym.training.rounds import Rounds
from halidegym.training.validation import SCORE
from policies_for_tests import untrained_policy
from trainings_for_tests import AGGREVATE


class Scripted(Rounds):
    """Each round adds 1 to the bias of the value, and to a sum; Ctrl-C comes in the round that is told."""

    def __init__(self, folder: Path, policy: Path, scores: Sequence[float], interrupted: int | None = None) -> None:
        own = {name: value for name, value in AGGREVATE.items() if name in RoundSettings.model_fields}
        settings = RoundSettings.model_validate({**own, "rounds": len(scores) - 1})
        super().__init__("scripted", settings, policy, [], [], folder, lambda _: None, lambda *_: None)
        self.sum = 0
        self._scores, self._interrupted = scores, interrupted

    def take_round(self) -> Mapping[str, float]:
        if self.round == self._interrupted:
            raise KeyboardInterrupt
        self.sum += 1
        with torch.no_grad():
            self.network.value_output.bias += 1
        return {"sum": float(self.sum)}

    def judge(self) -> Mapping[str, float]:
        return {SCORE: self._scores[self.round]}

    def state(self) -> Mapping[str, Any]:
        return {"sum": self.sum}

    def go_on(self, state: Mapping[str, Any]) -> None:
        self.sum = state["sum"]


def bias(network: PolicyNetwork) -> float:
    return network.value_output.bias.item()


@pytest.mark.parametrize("interrupted", [2, None])
@pytest.mark.parametrize(("scores", "best"), [([0.5, 0.1, 0.4, 0.2], 1), ([0.1, 0.5, 0.5, 0.1], 0), ([4, 3, 2, 1], 3)])
def test_the_policy_of_the_best_round_is_kept_whenever_a_training_is_cut_off(
    scores: list[float], best: int, interrupted: int | None, tmp_path: Path
) -> None:
    policy = untrained_policy(tmp_path, seed=0)
    folder = tmp_path / "trained"
    folder.mkdir()
    if interrupted is not None:
        with pytest.raises(KeyboardInterrupt):
            Scripted(folder, policy, scores, interrupted).run()
    rounds = Scripted(folder, policy, scores)
    begin = bias(rounds.network)
    trained = rounds.run()
    kept = load_policy_file(trained.policy)
    assert (kept.training["round"], rounds.best_round, rounds.sum) == (best, best, 3)
    assert kept.arrays["value_output.bias"].item() == pytest.approx(begin + best)
    assert bias(rounds.network) == pytest.approx(begin + 3)
    assert [(line["step"], line[SCORE], line.get("sum", 0)) for line in trained.curve] == [
        (number, score, number) for number, score in enumerate(scores)
    ]
