"""A policy that is held near the one that it started from."""

from __future__ import annotations

import copy
import statistics
from typing import Any

import torch
from torch import Tensor

from halidegym.agents.learned.policy_file import PolicyFile
from halidegym.training.adapters.sb3_policy import Masks, PointerPolicy


class AnchoredPolicy(PointerPolicy):
    """Tells, in place of its entropy, what is wanted of it: entropy, and little divergence from its start.

    `MaskablePPO` adds one term to its loss besides those of actions and values, and calls it the entropy's. Give that
    `ent_coef=1`: the weights are here.

    Attributes:
        entropy_weight: of the entropy in nats.
        divergence_weight: of KL(policy || start) in nats.
    """

    entropy_weight = 0.0
    divergence_weight = 0.0

    def start_from(self, file: PolicyFile) -> None:
        """Take over the weights of a policy, and remember them.

        Raises:
            InvalidParameter, FormatError: see `PointerPolicy`.
        """
        super().start_from(file)
        self._start = (copy.deepcopy(self.network),)  # a tuple hides it: it is neither trained nor saved
        self._of_batches = list[tuple[float, float]]()

    def pop_means(self) -> dict[str, float]:
        """Entropy and divergence, means over the minibatches since this was asked last."""
        entropy, divergence = map(statistics.fmean, zip(*self._of_batches, strict=True))
        self._of_batches.clear()
        return {"train/entropy": entropy, "train/start_divergence": divergence}

    def evaluate_actions(
        self, obs: Any, actions: Tensor, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values, the logarithms of the actions' probabilities, and what is wanted, of each state."""
        unpadded: Any = self.extract_features(obs)
        logits, values = self._through(self.network, unpadded)
        with torch.no_grad():
            of_start, _ = self._through(self._start[0], unpadded)
        log_ratios = logits.log_softmax(1) - of_start.log_softmax(1)
        divergence = (logits.softmax(1) * log_ratios).sum(1)
        distribution = self._distribution(logits, action_masks)
        entropy = distribution.entropy()
        assert entropy is not None
        self._of_batches.append((entropy.mean().item(), divergence.mean().item()))
        wanted = self.entropy_weight * entropy - self.divergence_weight * divergence
        return values, distribution.log_prob(actions), wanted
