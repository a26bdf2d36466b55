"""Cost models from the first step to the last, through kills."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from halidegym.agents.learned.cost_models.batches import Batch, chunks, group_key
from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.agents.learned.cost_models.fine_tuning import adam, in_milliseconds, trainable
from halidegym.agents.learned.cost_models.losses import LOSSES
from halidegym.agents.learned.cost_models.network import CostNetwork, random_weights
from halidegym.agents.learned.cost_models.predicted import predicted_costs
from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.native._core import InvalidParameter, Weights
from halidegym.native.weights import builtin_weights, load_weights, weights_hash
from halidegym.training.checkpoint import load_checkpoint, save_checkpoint
from halidegym.training.cost_model.judgement import good_groups, judge
from halidegym.training.cost_model.settings import CostModelSettings
from halidegym.training.imitation.imitate import device_of
from halidegym.training.logs import Logs

SCORE = "validation/loss"
"""The figure that chooses between epochs and members: lower is better. Rank correlations jump about more."""

MIN_GROUPS = 2
"""Pipelines to learn from, and to choose by."""


@dataclass(frozen=True)
class TrainedCostModel:
    """What came of it.

    Attributes:
        members: the best weights of each member.
        scores: their losses on validation pipelines.
        curve: figures by member and epoch.
    """

    members: tuple[Weights, ...]
    scores: tuple[float, ...]
    curve: Sequence[dict[str, float]]

    @property
    def best(self) -> Weights:
        """The weights of the member that has the least loss on validation pipelines."""
        return self.members[int(np.argmin(self.scores))]


def train_cost_model(
    settings: CostModelSettings,
    train: Sequence[MeasuredSchedule],
    validation: Sequence[MeasuredSchedule],
    folder: Path,
    *,
    on_step: Callable[[str], None] = lambda _text: None,
    on_begin: Callable[[str, int], None] = lambda _what, _steps: None,
) -> TrainedCostModel:
    """Train a cost model to order schedules as they were measured.

    Args:
        settings: how.
        train: to learn from; those that failed teach nothing.
        validation: to choose by, of other pipelines.
        folder: of the curve, the logs and the checkpoint that a killed training goes on from.
        on_step: called after each epoch.
        on_begin: called before a number of epochs, with what they do.

    Raises:
        InvalidParameter: there are too few pipelines, or a run time is no positive number; or the folder holds a training
            with other settings or other schedules, or another process trains into it.
        FormatError: the weights to begin with, or the checkpoint, cannot be read.
    """
    torch.set_num_threads(settings.num_threads)
    learned_from, chosen_by = first_groups(train, settings.schedules), trainable(validation)
    _check_enough("train", learned_from)
    _check_enough("validation", chosen_by)
    with FolderLock(folder):
        return _Training(settings, learned_from, chosen_by, folder).run(on_step, on_begin)


def _check_enough(split: str, schedules: Sequence[MeasuredSchedule]) -> None:
    found = len(good_groups(schedules))
    if found < MIN_GROUPS:
        raise InvalidParameter(
            f"{found} pipelines of the {split} split have enough measured schedules; {MIN_GROUPS} are needed. "
            "Collect more: halidegym collect"
        )


def first_groups(schedules: Sequence[MeasuredSchedule], count: int | None) -> list[MeasuredSchedule]:
    """Those that ran of the first groups that together have so many; of all groups for None."""
    groups: dict[tuple[str, int], list[MeasuredSchedule]] = {}
    for measured in trainable(schedules):
        groups.setdefault(group_key(measured), []).append(measured)
    chosen = list[MeasuredSchedule]()
    for members in groups.values():
        if count is not None and len(chosen) >= count:
            break
        chosen += members
    return chosen


def start_weights(settings: CostModelSettings) -> Weights:
    """The weights to begin with.

    Raises:
        FormatError: they cannot be read.
    """
    if settings.start == "shipped":
        return builtin_weights()
    if settings.start == "example":
        return example_weights()
    if settings.start == "random":
        return random_weights(np.random.default_rng(settings.seed))
    return load_weights(settings.start)


class _Training:
    def __init__(
        self,
        settings: CostModelSettings,
        train: list[MeasuredSchedule],
        validation: list[MeasuredSchedule],
        folder: Path,
    ) -> None:
        self._settings, self._folder, self._train, self._validation = settings, folder, train, validation
        self._start = in_milliseconds(start_weights(settings), self._train)
        self._held_out = Batch.of(self._validation).to(device_of(settings.device))
        self._checkpoint = folder / "checkpoint.pt"
        self._of_result = settings.of_result() | {
            "learned_from": len(self._train),
            "chosen_by": len(self._validation),
            "schedules_sha256": _digest((*self._train, *self._validation)),
            "start_sha256": weights_hash(self._start),
        }
        self._members, self._scores = list[Weights](), list[float]()
        self._curve: list[dict[str, float]] = []
        self._unfinished: dict[str, Any] | None = None
        state = load_checkpoint(self._checkpoint, self._of_result)
        if state is not None:
            self._members = [Weights.from_bytes(member) for member in state["members"]]
            self._scores, self._curve, self._unfinished = state["scores"], state["curve"], state["unfinished"]

    def run(self, on_step: Callable[[str], None], on_begin: Callable[[str, int], None]) -> TrainedCostModel:
        settings = self._settings
        with Logs(self._folder, self._curve, settings.wandb_project) as logs:
            while len(self._members) < settings.members:
                number = len(self._members)
                member = _Member(settings, self._drawn(number), self._start, number)
                if self._unfinished is not None:
                    member.go_on(self._unfinished)
                else:
                    self._judge(member, {}, logs)
                on_begin(f"Training model {number + 1} of {settings.members}", settings.epochs - member.epoch)
                while not member.is_done:
                    self._judge(member, {"train/loss": member.take_epoch()}, logs)
                    on_step(f"Model {number + 1}, epoch {member.epoch}")
                self._members.append(member.best)
                self._scores.append(member.best_score)
                self._unfinished = None
                self._save(logs)
            return TrainedCostModel(tuple(self._members), tuple(self._scores), logs.curve)

    def _drawn(self, number: int) -> list[MeasuredSchedule]:
        """All schedules for the first member; for any other those of groups that a draw with replacement has."""
        if number == 0:
            return self._train
        names = list(dict.fromkeys(map(group_key, self._train)))
        random = np.random.default_rng([self._settings.seed, number])
        drawn = {names[index] for index in random.integers(len(names), size=len(names))}
        return [measured for measured in self._train if group_key(measured) in drawn]

    def _judge(self, member: _Member, figures: dict[str, float], logs: Logs) -> None:
        """Add an epoch to the curve, tell the member, and save all."""
        weights = member.network.weights()
        judged = judge(predicted_costs(weights, self._validation), self._validation)
        with torch.no_grad():
            loss = member.loss(self._held_out).item()
        figures = {"model": len(self._members), "epoch": member.epoch, **figures, SCORE: loss}
        figures |= {
            "validation/rank_correlation": judged.correlation,
            "validation/regret": judged.mean_regret,
            "validation/median_regret": float(np.median(judged.regrets)),
            "learning_rate": member.learning_rate,
        }
        logs.add_to_curve(len(logs.curve), figures)
        member.rated(weights, loss)
        self._unfinished = member.state()
        self._save(logs)

    def _save(self, logs: Logs) -> None:
        state = {
            "members": [member.to_bytes() for member in self._members],
            "scores": self._scores,
            "curve": logs.curve,
            "unfinished": self._unfinished,
        }
        save_checkpoint(self._checkpoint, self._of_result, state)


def _digest(schedules: Sequence[MeasuredSchedule]) -> str:
    """SHA-256 of what is learned of schedules."""
    sha = hashlib.sha256()
    for schedule in schedules:
        sha.update(repr((schedule.pipeline, schedule.threads, schedule.actions, schedule.run_time_s)).encode())
        sha.update(schedule.pipeline_features.tobytes() + schedule.schedule_features.tobytes())
    return sha.hexdigest()


class _Member:
    """One model on its way through the epochs, which can be left after any of them and gone on with."""

    def __init__(
        self, settings: CostModelSettings, schedules: Sequence[MeasuredSchedule], start: Weights, number: int
    ) -> None:
        self._settings, self._number = settings, number
        device = device_of(settings.device)
        random = np.random.default_rng([settings.seed, number, 0])
        self._batches = [batch.to(device) for batch in chunks(schedules, settings.groups, random)]
        self.network = CostNetwork(start).to(device)
        self._optimizer = adam(self.network, settings.learning_rate)
        self.epoch = self._best_epoch = 0
        self.best, self.best_score = start, math.inf

    @property
    def is_done(self) -> bool:
        settings = self._settings
        return self.epoch >= settings.epochs or self.epoch - self._best_epoch >= settings.patience

    @property
    def learning_rate(self) -> float:
        settings, progress = self._settings, self.epoch / max(1, self._settings.epochs - 1)
        share = 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
        return settings.final_learning_rate + share * (settings.learning_rate - settings.final_learning_rate)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Of a batch, a mean over its groups."""
        every = torch.ones_like(batch.times)
        return LOSSES[self._settings.loss](self.network(batch), batch, every) / batch.num_groups

    def take_epoch(self) -> float:
        """Learn from all schedules once; return the mean loss."""
        for group in self._optimizer.param_groups:
            group["lr"] = self.learning_rate
        order = np.random.default_rng([self._settings.seed, self._number, 1 + self.epoch]).permutation(
            len(self._batches)
        )
        total = 0.0
        for index in order:
            self._optimizer.zero_grad()
            loss = self.loss(self._batches[index])
            loss.backward()  # type: ignore[no-untyped-call]
            self._optimizer.step()
            total += loss.item()
        self.epoch += 1
        return total / len(order)

    def rated(self, weights: Weights, score: float) -> None:
        """Keep the weights of this epoch, if they are the best so far."""
        if score < self.best_score:
            self.best, self.best_score, self._best_epoch = weights, score, self.epoch

    def state(self) -> dict[str, Any]:
        """What `go_on` takes."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "epoch": self.epoch,
            "best": self.best.to_bytes(),
            "best_score": self.best_score,
            "best_epoch": self._best_epoch,
        }

    def go_on(self, state: dict[str, Any]) -> None:
        """Go on where another one was."""
        self.network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.epoch, self.best = state["epoch"], Weights.from_bytes(state["best"])
        self.best_score, self._best_epoch = state["best_score"], state["best_epoch"]
