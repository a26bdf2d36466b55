"""Trainers can be left after any step."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.native._core import InvalidParameter
from halidegym.training.imitation.losses import Losses, objective
from halidegym.training.imitation.settings import OptimizerSettings
from halidegym.training.imitation.trainer import Sums, Trainer, mean_losses, shuffled
from halidegym.training.networks import PolicyNetwork
from networks_for_tests import random_examples

CPU = torch.device("cpu")
SETTINGS = OptimizerSettings(
    learning_rate=0.002, final_learning_rate=0.00004, weight_decay=0.001, gradient_norm=1.0,
    blind_weight=1.0, child_weight=1.0, value_weight=0.3,
)  # fmt: skip


def trainer(epochs: int = 3, chosen: list[list[int]] | None = None, **changes: float) -> Trainer[Losses]:
    """The examples of each step are added to `chosen`."""
    torch.manual_seed(0)
    network, examples = PolicyNetwork(NetworkConfig(width=16, rounds=1)), random_examples(states=5)
    loss = objective(examples, CPU)

    def noted(network: PolicyNetwork, indices: NDArray[np.int64]) -> Losses:
        if chosen is not None:
            chosen.append(indices.tolist())
        return loss(network, indices)

    settings = SETTINGS.model_copy(update=changes)
    return Trainer(network, examples.states, noted, settings, epochs=epochs, batch=4, group=2, seed=0, device=CPU)


def run(trainer: Trainer[Losses], steps: int) -> list[float]:
    """The blind losses of so many steps."""
    found = list[float]()
    while trainer.step < trainer.num_steps:
        for losses in trainer.steps():
            found.append(losses.blind.item())
            if len(found) == steps:
                return found
    return found


def test_the_rate_falls_along_a_cosine() -> None:
    ours = trainer()
    assert ours.num_steps == 12 and ours.learning_rate == 0.002
    run(ours, 11)
    assert abs(ours.learning_rate - 0.00004) < 1e-9
    assert (ours.epoch, ours.is_between_epochs) == (2, False)


def weights(trainer: Trainer[Losses]) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().clone() for name, parameter in trainer.network.named_parameters()}


def largest_change(before: dict[str, torch.Tensor], after: dict[str, torch.Tensor]) -> float:
    return max(float((after[name] - tensor).abs().max()) for name, tensor in before.items())


def test_each_step_is_made_at_its_own_rate() -> None:
    """At the last one's, which is 0 here, nothing changes."""
    ours = trainer(final_learning_rate=0.0)
    run(ours, 11)
    before = weights(ours)
    run(ours, 1)
    assert ours.step == 12 and largest_change(before, weights(ours)) == 0


def test_each_epoch_has_all_examples_in_another_order() -> None:
    chosen = list[list[int]]()
    ours = trainer(epochs=2, chosen=chosen)
    run(ours, ours.num_steps)
    first, second = (list(itertools.chain(*epoch)) for epoch in (chosen[:4], chosen[4:]))
    assert sorted(first) == sorted(second) == list(range(15)) and first != second


def test_gradients_are_clipped() -> None:
    """Adam makes steps of about the rate, unless gradients are less than what it adds to their magnitude, 1e-8."""
    for norm, is_short in ((1.0, False), (1e-12, True)):
        ours = trainer(gradient_norm=norm, weight_decay=0.0)
        before = weights(ours)
        run(ours, 1)
        assert (largest_change(before, weights(ours)) < 1e-5) == is_short, norm


@pytest.mark.parametrize("head", ["blind", "child", "value"])
def test_each_head_learns_by_its_own_weight(head: str) -> None:
    layers = {"blind": "blind.logit.weight", "child": "child_reading.logit.weight", "value": "value_output.weight"}
    ours = trainer(weight_decay=0.0, **{f"{each}_weight": float(each == head) for each in layers})
    before = weights(ours)
    run(ours, 1)
    after = weights(ours)
    assert [each for each, name in layers.items() if not torch.equal(before[name], after[name])] == [head]


def test_what_was_left_goes_on_as_if_it_had_not_been() -> None:
    through = run(trainer(), 12)
    for steps in (1, 4, 7):
        first, second = trainer(), trainer()
        before = run(first, steps)
        second.go_on(first.state())
        assert before + run(second, 12) == through


def test_examples_are_learned() -> None:
    ours, examples = trainer(epochs=30), random_examples(states=5)
    before = mean_losses(ours.network, objective(examples, CPU), len(examples), 4)
    steps = list[None]()
    ours.run(lambda: steps.append(None))
    assert len(steps) == ours.num_steps
    after = mean_losses(ours.network, objective(examples, CPU), len(examples), 4)
    assert after["blind"] < 0.7 * before["blind"] and after["child"] < 0.7 * before["child"]
    assert after["value_r2"] > before["value_r2"] and after["child_accuracy"] > before["child_accuracy"]


def test_losses_on_other_examples_do_not_depend_on_the_batches_that_these_come_in() -> None:
    examples = random_examples(states=7)
    examples.weights[:7] = 0  # batches of these have no losses of decisions, and are none of a low one
    network, goal = trainer().network, objective(examples, CPU)
    weights = {"weights": examples.weights, "value_weights": examples.value_weights}
    found = [mean_losses(network, goal, len(examples), batch, **weights) for batch in (1, 2, 5, len(examples))]
    with torch.no_grad():
        alone = [goal(network, np.array([index])) for index in range(len(examples))]
    for name, by in (
        ("blind", examples.weights),
        ("child_accuracy", examples.weights),
        ("value", examples.value_weights),
    ):
        expected = np.average([float(getattr(one, name)) for one in alone], weights=by)
        assert [means[name] for means in found] == pytest.approx([expected] * 4, rel=1e-5), name
    unexplained = [1 - means["value_r2"] for means in found]
    mean = np.average(examples.values, weights=examples.value_weights)
    variance = np.average((examples.values - mean) ** 2, weights=examples.value_weights)
    assert unexplained == pytest.approx([found[0]["value"] / variance] * 4, rel=1e-4)


def test_a_training_that_diverges_ends_and_keeps_the_weights_that_it_diverged_from() -> None:
    ours = trainer(learning_rate=1.0, final_learning_rate=1.0, weight_decay=1e38)
    with pytest.raises(InvalidParameter, match=r"diverged: the loss is not finite\. Train anew, with a lower"):
        run(ours, 12)
    assert ours.step < 12


def test_sums_go_on_too() -> None:
    ours = trainer()
    found = next(ours.steps())
    sums = Sums()
    sums.add(found, 3)
    again = Sums(sums.values)
    again.add(found, 1)
    assert abs(again.means()["blind"] - found.blind.item()) < 1e-6


def test_states_of_a_problem_follow_each_other_in_groups() -> None:
    examples = random_examples(problems=4, states=5)
    order = shuffled(examples.states, 2, np.random.default_rng(0))
    assert sorted(order) == list(range(20))
    problems = [examples.states[index].problem for index in order]
    changes = 1 + sum(one != other for one, other in itertools.pairwise(problems))
    assert 4 < changes <= 12
    assert list(order) != list(shuffled(examples.states, 2, np.random.default_rng(1)))
    assert list(shuffled(examples.states, 1, np.random.default_rng(0))) != list(order)
