"""Imitation from the first step to the last, through kills and nights."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.training.checkpoint import load_checkpoint, save_checkpoint
from halidegym.training.data.shard import TaughtProblem, digest
from halidegym.training.imitation.examples import Examples, replay
from halidegym.training.imitation.losses import objective
from halidegym.training.imitation.settings import ImitationSettings
from halidegym.training.imitation.trainer import Sums, Trainer, mean_losses
from halidegym.training.logs import Logs
from halidegym.training.networks.export import policy_file
from halidegym.training.networks.network import PolicyNetwork
from halidegym.training.validation import SCORE, roll_out

# Settings that change nothing of the result.
_OF_THE_RUN = {"checkpoint_steps", "device", "threads", "wandb_project"}


@dataclass(frozen=True)
class Imitated:
    """What came of it.

    Attributes:
        policy: file of the best policy, or of the last one where nothing judges them.
        curve: figures by epoch, round or rollout.
    """

    policy: Path
    curve: Sequence[dict[str, float]]

    def __post_init__(self) -> None:
        if not self.policy.is_file():
            raise FormatError(
                f"The training in {self.policy.parent} has ended, but its {self.policy.name} is gone; remove "
                "checkpoint.pt there to train anew"
            )


def imitate(
    settings: ImitationSettings,
    train: Sequence[TaughtProblem],
    validation: Sequence[TaughtProblem],
    folder: Path,
    *,
    on_step: Callable[[str], None] = lambda _text: None,
    on_begin: Callable[[str, int], None] = lambda _what, _steps: None,
) -> Imitated:
    """Train a network to take the decisions of the plans, and keep that of the best epoch.

    Args:
        settings: how.
        train: to learn from.
        validation: to choose by.
        folder: of the policy, the curve, the logs and the checkpoint that a killed training goes on from.
        on_step: called after each step.
        on_begin: called before a number of steps, with what they do.

    Raises:
        FormatError, InvalidParameter: see `load_checkpoint`; or another process trains into the folder.
    """
    with FolderLock(folder):
        return _imitate(settings, train, validation, folder, on_step, on_begin)


def _imitate(
    settings: ImitationSettings,
    train: Sequence[TaughtProblem],
    validation: Sequence[TaughtProblem],
    folder: Path,
    on_step: Callable[[str], None],
    on_begin: Callable[[str, int], None],
) -> Imitated:
    torch.set_num_threads(settings.num_threads)
    on_begin("Replaying plans", len(train) + len(validation))
    examples, held_out = (
        replay(
            taught,
            candidates=settings.candidates,
            loops=settings.network.loops,
            seed=settings.seed,
            threads=settings.num_threads,
            on_problem=on_step,
        )
        for taught in (train[: settings.problems], validation)
    )
    learned_from = {
        "states": len(examples),
        "plans_sha256": digest(train[: settings.problems]),
        "validation_sha256": digest(validation),
    }
    return _Imitation(settings, examples, held_out, validation[: settings.rollouts.problems], folder, learned_from).run(
        on_step, on_begin
    )


class _Imitation:
    def __init__(
        self,
        settings: ImitationSettings,
        examples: Examples,
        held_out: Examples,
        rolled_out: Sequence[TaughtProblem],
        folder: Path,
        learned_from: Mapping[str, Any],
    ) -> None:
        self._settings, self._held_out, self._rolled_out, self._folder = settings, held_out, rolled_out, folder
        self._checkpoint = folder / "checkpoint.pt"
        self._of_result = settings.model_dump(exclude=_OF_THE_RUN) | dict(learned_from)
        self._device = device_of(settings.device)
        torch.manual_seed(settings.seed)
        self._trainer = Trainer(
            PolicyNetwork(NetworkConfig(**settings.network.model_dump())),
            examples.states,
            objective(examples, self._device),
            settings.optimizer,
            epochs=settings.epochs,
            batch=settings.batch,
            group=settings.group,
            seed=settings.seed,
            device=self._device,
        )
        self._sums = Sums()
        self._best = float("inf")
        self._curve: list[dict[str, float]] = []
        state = load_checkpoint(self._checkpoint, self._of_result)
        if state is not None:
            self._trainer.go_on(state["trainer"])
            self._sums, self._best, self._curve = Sums(state["sums"]), state["best"], state["curve"]

    def run(self, on_step: Callable[[str], None], on_begin: Callable[[str, int], None]) -> Imitated:
        trainer, settings = self._trainer, self._settings
        on_begin("Imitating", trainer.num_steps - trainer.step)
        with Logs(self._folder, self._curve, settings.wandb_project) as logs:
            while trainer.step < trainer.num_steps:
                start, first = time.perf_counter(), trainer.step
                for found in trainer.steps():
                    self._sums.add(found, 1)
                    on_step(f"Imitating, epoch {trainer.epoch + 1}")
                    if trainer.step % settings.checkpoint_steps == 0 and not trainer.is_between_epochs:
                        self._save(logs)
                rate = (trainer.step - first) * settings.batch / (time.perf_counter() - start)
                logs.add(trainer.step, {"throughput/states_per_second": rate})
                self._judge(logs)
                self._sums = Sums()
                self._save(logs)
            return Imitated(self._folder / "policy.npz", logs.curve)

    def _judge(self, logs: Logs) -> None:
        """Add the epoch to the curve, and keep the network if it is the best one."""
        trainer, settings = self._trainer, self._settings
        figures = {f"train/{name}": value for name, value in self._sums.means().items()}
        held_out = mean_losses(
            trainer.network,
            objective(self._held_out, self._device),
            len(self._held_out),
            settings.batch,
            weights=self._held_out.weights,
            value_weights=self._held_out.value_weights,
        )
        figures |= {f"validation/{name}": value for name, value in held_out.items()}
        figures["learning_rate"] = trainer.learning_rate
        is_last = trainer.step == trainer.num_steps
        if trainer.epoch % settings.rollout_epochs == 0 or is_last:
            candidate = self._folder / "candidate.npz"
            policy_file(trainer.network, self._story()).save(candidate)
            figures |= roll_out(candidate, self._rolled_out, settings.rollouts)
            if figures[SCORE] < self._best:
                self._best = figures[SCORE]
                os.replace(candidate, self._folder / "policy.npz")
            candidate.unlink(missing_ok=True)
        logs.add_to_curve(trainer.step, figures)

    def _story(self) -> dict[str, Any]:
        return {"recipe": "imitate", "step": self._trainer.step, **self._of_result}

    def _save(self, logs: Logs) -> None:
        state = {
            "trainer": self._trainer.state(),
            "sums": self._sums.values,
            "best": self._best,
            "curve": logs.curve,
        }
        save_checkpoint(self._checkpoint, self._of_result, state)


def device_of(name: str) -> torch.device:
    """The device of this name; "auto" for a GPU where there is one.

    Raises:
        InvalidParameter: there is none that this torch can use.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise InvalidParameter(
            f"device={name!r}: torch {torch.__version__} finds no GPU here; give auto or cpu, or install a build for GPUs"
        )
    return torch.device(name)
