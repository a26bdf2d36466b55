"""A network, an optimizer, and the way through the examples, which can be left after any step and gone on with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from halidegym.training.divergence import check_finite
from halidegym.training.imitation.settings import OptimizerSettings
from halidegym.training.networks.batches import StateAt
from halidegym.training.networks.network import PolicyNetwork


class HeadLosses(Protocol):
    """What is minimized: of each of the three heads, a mean over the examples of a batch."""

    @property
    def blind(self) -> Tensor:
        """Of the head that reads descriptors."""

    @property
    def child(self) -> Tensor:
        """Of the head that reads children."""

    @property
    def value(self) -> Tensor:
        """Of the values."""


L = TypeVar("L", bound=HeadLosses)

Objective: TypeAlias = Callable[[PolicyNetwork, NDArray[np.int64]], L]
"""From a network and the indices of some examples to its losses there."""


class Trainer(Generic[L]):
    """Optimizes a network.

    Attributes:
        network: that learns.
        step: how many steps were made.
        num_steps: how many there are to make.
    """

    def __init__(
        self,
        network: PolicyNetwork,
        states: Sequence[StateAt],
        objective: Objective[L],
        settings: OptimizerSettings,
        *,
        epochs: int,
        batch: int,
        group: int,
        seed: int,
        device: torch.device,
    ) -> None:
        self.network = network.to(device)
        self.step = 0
        self._steps_per_epoch = math.ceil(len(states) / batch)
        self.num_steps = epochs * self._steps_per_epoch
        self._states, self._objective, self._settings = states, objective, settings
        self._batch, self._group, self._seed = batch, group, seed
        self._optimizer = torch.optim.AdamW(
            network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )

    @property
    def epoch(self) -> int:
        """How often all examples were gone through."""
        return self.step // self._steps_per_epoch

    @property
    def is_between_epochs(self) -> bool:
        """Whether the next step is the first one of an epoch."""
        return self.step % self._steps_per_epoch == 0

    @property
    def learning_rate(self) -> float:
        """Of the next step."""
        settings, progress = self._settings, self.step / max(1, self.num_steps - 1)
        share = 0.5 * (1 + math.cos(math.pi * progress))
        return settings.final_learning_rate + share * (settings.learning_rate - settings.final_learning_rate)

    def steps(self) -> Iterator[L]:
        """Make the steps that are left of this epoch, and yield the losses before each.

        Raises:
            InvalidParameter: the training has diverged.
        """
        order = shuffled(self._states, self._group, np.random.default_rng([self._seed, self.epoch]))
        start = self.step % self._steps_per_epoch
        for position in range(start, self._steps_per_epoch):
            yield self._take(order[position * self._batch : (position + 1) * self._batch])

    def run(self, on_step: Callable[[], None]) -> dict[str, float]:
        """Make all steps that are left, and return the mean of each loss.

        Args:
            on_step: called after each step.

        Raises:
            InvalidParameter: the training has diverged.
        """
        sums = Sums()
        while self.step < self.num_steps:
            for found in self.steps():
                sums.add(found, 1)
                on_step()
        return sums.means()

    def _take(self, chosen: NDArray[np.int64]) -> L:
        settings = self._settings
        for group in self._optimizer.param_groups:
            group["lr"] = self.learning_rate
        self.network.train()
        found = self._objective(self.network, chosen)
        total = (
            settings.blind_weight * found.blind
            + settings.child_weight * found.child
            + settings.value_weight * found.value
        )
        check_finite("the loss is", total)
        self._optimizer.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), settings.gradient_norm)
        self._optimizer.step()
        self.step += 1
        return found

    def state(self) -> dict[str, Any]:
        """What `go_on` takes."""
        return {"step": self.step, "network": self.network.state_dict(), "optimizer": self._optimizer.state_dict()}

    def go_on(self, state: dict[str, Any]) -> None:
        """Go on where another one was."""
        self.step = state["step"]
        self.network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])


def shuffled(states: Sequence[StateAt], group: int, random: np.random.Generator) -> NDArray[np.int64]:
    """All states in random order, but that so many of the same problem follow each other, whose batch encodes it once."""
    order = random.permutation(len(states))
    problems = np.array([state.problem for state in states])
    order = order[np.argsort(problems[order], kind="stable")]
    _, starts, counts = np.unique(problems[order], return_index=True, return_counts=True)
    groups = [
        order[first : min(first + group, start + count)]
        for start, count in zip(starts, counts, strict=True)
        for first in range(start, start + count, group)
    ]
    return np.concatenate([groups[index] for index in random.permutation(len(groups))])


def mean_losses(
    network: PolicyNetwork,
    objective: Objective[L],
    count: int,
    batch: int,
    *,
    weights: NDArray[np.float32] | None = None,
    value_weights: NDArray[np.float32] | None = None,
) -> dict[str, float]:
    """The losses on other examples, those of one batch of them all.

    Args:
        network: to judge.
        objective: of which examples.
        count: how many there are.
        batch: how many are looked at together, which changes nothing of the result.
        weights: by which the losses of decisions are means over the examples of a batch; None for equal ones.
        value_weights: the same of values.
    """
    network.eval()
    of_decisions, of_values = Sums(), Sums()
    with torch.no_grad():
        for start in range(0, count, batch):
            chosen = np.arange(start, min(start + batch, count))
            found = objective(network, chosen)
            for sums, of_examples in ((of_decisions, weights), (of_values, value_weights)):
                sums.add(found, len(chosen) if of_examples is None else float(of_examples[chosen].sum()))
    means = of_values.means()
    return {**of_decisions.means(), **{name: means[name] for name in ("value", "value_r2")}}


class Sums:
    """Losses of many batches, added up; `values` can be kept and given back."""

    def __init__(self, values: dict[str, float] | None = None) -> None:
        self.values = dict(values or {})

    def add(self, found: HeadLosses, count: float) -> None:
        """Add the losses of a batch that counts as much as so many examples."""
        for name, value in {**vars(found), "count": torch.ones(())}.items():
            self.values[name] = self.values.get(name, 0.0) + count * value.item()

    def means(self) -> dict[str, float]:
        """The mean of each loss; with the share of the values' variance that is explained."""
        count = self.values["count"]
        means = {name: value / count for name, value in self.values.items() if name != "count"}
        variance = means.pop("mean_squared_value") - means.pop("mean_value") ** 2
        return {**means, "value_r2": 1 - means["value"] / variance if variance > 0 else 0.0}
