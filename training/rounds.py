"""Training in rounds: in each a policy meets some pipelines and learns from what came of it, through kills and nights."""

from __future__ import annotations

import hashlib
import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import torch

from halidegym.agents.learned.policy_file import load_policy_file
from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.native._core import InvalidParameter
from halidegym.training.checkpoint import check_kept_apart, load_checkpoint, save_checkpoint
from halidegym.training.data.shard import TaughtProblem, digest
from halidegym.training.imitation.imitate import Imitated, device_of
from halidegym.training.imitation.settings import RoundSettings
from halidegym.training.imitation.trainer import L, Objective, Trainer
from halidegym.training.logs import Logs
from halidegym.training.networks.batches import StateAt
from halidegym.training.networks.export import network_from, policy_file
from halidegym.training.seeds import derived_seed
from halidegym.training.validation import SCORE

OnStep: TypeAlias = Callable[[str], None]
OnBegin: TypeAlias = Callable[[str, int], None]

# Settings that change nothing of the result.
_OF_THE_RUN = {"device", "threads", "wandb_project"}


def check_enough(train: Sequence[TaughtProblem], needed: int, asked: str) -> None:
    """Refuse settings, told by `asked`, that need more problems than there are.

    Raises:
        InvalidParameter: they do.
    """
    if len(train) < needed:
        raise InvalidParameter(
            f"{asked} need {needed:,} pipelines with plans, and there are {len(train):,}; collect more, or give fewer"
        )


class Rounds(ABC):
    """A policy that is judged before the first round and after each; that of the best round is kept.

    Args:
        recipe: name of what is made of the rounds.
        settings: how the network learns.
        policy: file of the policy to begin with.
        train: problems to learn from.
        validation: problems to choose by; the first ones, as many as `settings` says.
        folder: of the best policy, the curve, the logs and the checkpoint that a killed training goes on from.
        on_step: called after each step.
        on_begin: called before a number of steps, with what they do.

    Raises:
        InvalidParameter: the policy to begin with is where the training keeps its own.
    """

    def __init__(
        self,
        recipe: str,
        settings: RoundSettings,
        policy: Path,
        train: Sequence[TaughtProblem],
        validation: Sequence[TaughtProblem],
        folder: Path,
        on_step: OnStep,
        on_begin: OnBegin,
    ) -> None:
        torch.set_num_threads(settings.num_threads)
        self.folder, self.on_step, self.on_begin = folder, on_step, on_begin
        self.current, self._kept = folder / "current.npz", folder / "policy.npz"
        check_kept_apart(policy, folder, self.current.name, self._kept.name)
        self.device = device_of(settings.device)
        self.validation = validation[: settings.rollouts.problems]
        self.round, self.best_round = 0, 0
        self._recipe, self._learning = recipe, settings
        start = load_policy_file(policy)
        self.network = network_from(start).to(self.device)
        self._started_from = dict(start.training)
        self._of_result = settings.model_dump(exclude=_OF_THE_RUN) | {
            "known_pipelines": len(train),
            "plans_sha256": digest(train),
            "validation_sha256": digest(self.validation),
            "policy_sha256": hashlib.sha256(policy.read_bytes()).hexdigest(),
        }
        self._best = math.inf

    @abstractmethod
    def take_round(self) -> Mapping[str, float]:
        """Take the next round with the network, whose file is `current`, and return figures of it."""

    @abstractmethod
    def judge(self) -> Mapping[str, float]:
        """Figures of the policy whose file is `current`; by `SCORE` the best round is chosen."""

    @abstractmethod
    def state(self) -> Mapping[str, Any]:
        """What the rounds so far have found out, by name, as tensors and plain values."""

    @abstractmethod
    def go_on(self, state: Mapping[str, Any]) -> None:
        """Take over what the rounds of a killed training had found out, which is in `state` beside other things."""

    @property
    def is_over(self) -> bool:
        """Whether no round is left."""
        return self.round >= self._learning.rounds

    def run(self) -> Imitated:
        """Take all rounds that are left.

        Raises:
            FormatError, InvalidParameter: see `load_checkpoint`; or another process trains into the folder.
        """
        with FolderLock(self.folder):
            return self._run()

    def _run(self) -> Imitated:
        checkpoint, curve = self.folder / "checkpoint.pt", list[dict[str, float]]()
        state = load_checkpoint(checkpoint, self._of_result, growing={"rounds": ""})
        if state is not None:
            self.network.load_state_dict(state["network"])
            self.round, self._best, self.best_round = state["round"], state["best"], state["best_round"]
            curve = state["curve"]
            self.go_on(state)
        with Logs(self.folder, curve, self._learning.wandb_project) as logs:
            if not logs.curve:
                self._end_round(logs, checkpoint, {})
            while not self.is_over:
                start = time.perf_counter()
                policy_file(self.network).save(self.current)
                figures = self.take_round()
                self.round += 1
                self._end_round(logs, checkpoint, figures)
                logs.add(self.round, {"throughput/seconds_per_round": time.perf_counter() - start})
            return Imitated(self._kept, logs.curve)

    def learn(self, states: Sequence[StateAt], objective: Objective[L]) -> Mapping[str, float]:
        """Let the network learn some states, and return the means of its losses."""
        settings = self._learning
        trainer = Trainer(
            self.network,
            states,
            objective,
            settings.optimizer,
            epochs=settings.epochs,
            batch=settings.batch,
            group=settings.group,
            seed=derived_seed(settings.seed, self.round),
            device=self.device,
        )
        what = f"Round {self.round + 1}: learning"
        self.on_begin(what, trainer.num_steps)
        return {f"train/{name}": value for name, value in trainer.run(lambda: self.on_step(what)).items()}

    def _end_round(self, logs: Logs, checkpoint: Path, figures: Mapping[str, float]) -> None:
        """Add the round to the curve, keep the network if it is the best one, and save all."""
        policy_file(self.network, self._story()).save(self.current)
        judged = self.judge()
        logs.add_to_curve(self.round, {**judged, **figures})
        if judged[SCORE] < self._best:
            self._best, self.best_round = judged[SCORE], self.round
            os.replace(self.current, self._kept)
        state = {
            **self.state(),
            "network": self.network.state_dict(),
            "round": self.round,
            "best": self._best,
            "best_round": self.best_round,
            "curve": logs.curve,
        }
        save_checkpoint(checkpoint, self._of_result, state)

    def _story(self) -> dict[str, Any]:
        return {"recipe": self._recipe, "round": self.round, **self._of_result, "started_from": self._started_from}
