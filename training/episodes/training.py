"""A training on own episodes, rollout by rollout, through kills and nights."""

from __future__ import annotations

import hashlib
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.agents.learned.policies import load_policy
from halidegym.agents.learned.policy_file import PolicyFile
from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.native._core import InvalidParameter
from halidegym.training.checkpoint import check_kept_apart, load_checkpoint, save_checkpoint
from halidegym.training.episodes.environments import make_environments
from halidegym.training.episodes.judge import Judge
from halidegym.training.episodes.outcomes import Outcomes
from halidegym.training.episodes.settings import EpisodeSettings
from halidegym.training.imitation.imitate import Imitated
from halidegym.training.logs import Logs
from halidegym.training.networks.export import policy_file
from halidegym.training.networks.network import PolicyNetwork
from halidegym.training.validation import SCORE

# Settings that change nothing of the result.
_OF_THE_RUN = {"device", "threads", "wandb_project"}

S = TypeVar("S", bound=EpisodeSettings)


class EpisodeTraining(ABC, Generic[S]):
    """Rollouts, each of which ends with a line of the curve and a checkpoint; recipes say how one learns.

    What a rollout does depends on the state before it, the settings and its number alone.

    Args:
        settings: how.
        start: the policy to begin with.
        envs: environments whose episodes are learned from.
        folder: of the policy, the curve, the logs and the checkpoint.
    """

    recipe: ClassVar[str]

    def __init__(self, settings: S, start: PolicyFile | None, envs: VecEnv, folder: Path) -> None:
        self._settings, self._envs, self._folder = settings, envs, folder
        self._checkpoint = folder / "checkpoint.pt"
        self._of_result: dict[str, Any] = settings.model_dump(exclude=_OF_THE_RUN)
        if settings.weights is not None:
            self._of_result["weights_sha256"] = hashlib.sha256(Path(settings.weights).read_bytes()).hexdigest()
        self._started_from: dict[str, Any] | None = None
        if start is not None:
            self._started_from = dict(start.training)
            self._of_result["start_sha256"] = _digest(start)
        self._judge = None if settings.judging is None else Judge(settings)
        self._rollout = 0
        self._best = float("inf")
        self._curve: list[dict[str, float]] = []

    @classmethod
    def train(
        cls,
        settings: S,
        folder: Path,
        on_step: Callable[[str], None],
        on_begin: Callable[[str, int], None],
        group_size: int = 1,
        workers: Literal["ray"] | None = None,
    ) -> Imitated:
        """Make the environments, groups of which may share the pipeline of each episode, and run all rollouts.

        Args:
            settings: how.
            folder: see the class.
            on_step: called after each step of the environments.
            on_begin: called before a number of steps, with what they do.
            group_size: of the environments.
            workers: where the environments are: on a Ray cluster, or None for this process.

        Raises:
            InvalidParameter: another process trains into the folder, or the policy to begin with is where it keeps its own.
        """
        if settings.start is not None:
            check_kept_apart(Path(settings.start), folder, "policy.npz", "candidate.npz")
        with FolderLock(folder):
            torch.set_num_threads(settings.num_threads)
            start = None if settings.start is None else load_policy(settings.start)
            envs = _environments(settings, group_size, workers)
            try:
                return cls(settings, start, envs, folder).run(on_step, on_begin)
            finally:
                envs.close()

    def run(self, on_step: Callable[[str], None], on_begin: Callable[[str, int], None]) -> Imitated:
        """All rollouts that are left.

        Raises:
            FormatError, InvalidParameter: see `load_checkpoint`; or there are more steps than before, and what was done so
                far depends on how many there were.
        """
        settings = self._settings
        state = load_checkpoint(self._checkpoint, self._of_result, growing={"steps": settings.why_no_more_steps})
        if state is not None:
            self._rollout, self._best, self._curve = state["rollout"], state["best"], state["curve"]
            self._go_on(state["learner"])
        left = settings.num_rollouts - self._rollout
        if left and self._rollout and SCORE in self._curve[-1] and not self._is_turn_to_judge:
            raise InvalidParameter(
                f"steps={settings.steps}: the training in {self._folder} ended after {self._rollout} rollouts and was "
                "judged out of turn, as it would not have been with more steps; train into another folder"
            )
        on_begin("Learning", left * settings.rollout_steps)
        with Logs(self._folder, self._curve, settings.wandb_project) as logs:
            for _ in range(left):
                start, outcomes = time.perf_counter(), Outcomes(on_step)
                self._begin_rollout(self._rollout / max(settings.num_rollouts - 1, 1))
                learned = self._learn(outcomes)
                self._rollout += 1
                rate = settings.rollout_size / (time.perf_counter() - start)
                logs.add(self._steps, {"throughput/steps_per_second": rate})
                logs.add_to_curve(self._steps, {**outcomes.figures(), **learned, **self._keep_policy()})
                self._save(logs)
            return Imitated(self._folder / "policy.npz", logs.curve)

    @property
    @abstractmethod
    def _network(self) -> PolicyNetwork:
        """The network as it is now."""

    @abstractmethod
    def _begin_rollout(self, progress: float) -> None:
        """Begin new episodes and seed all generators with `_seed`, after this share of the rollouts."""

    @abstractmethod
    def _learn(self, outcomes: Outcomes) -> dict[str, float]:
        """One rollout; figures of what was learned, by name."""

    @abstractmethod
    def _learner(self) -> dict[str, Any]:
        """What `_go_on` needs, as tensors and plain values."""

    @abstractmethod
    def _go_on(self, state: dict[str, Any]) -> None:
        """Go on after the rollouts that `_learner` was told of."""

    @property
    def _steps(self) -> int:
        """Of all environments so far."""
        return self._rollout * self._settings.rollout_size

    @property
    def _seed(self) -> int:
        """Of all that a rollout draws."""
        return int(np.random.default_rng([self._settings.seed, self._rollout]).integers(2**31))

    @property
    def _is_turn_to_judge(self) -> bool:
        """Whether the policy is judged now, or kept without, even if this is not the last rollout."""
        judging = self._settings.judging
        return judging is None or self._rollout % judging.every == 0

    def _keep_policy(self) -> dict[str, float]:
        """Keep the policy if it is the best one so far, or if nothing judges it; figures of the judgement."""
        policy = self._folder / "policy.npz"
        if self._rollout < self._settings.num_rollouts and not self._is_turn_to_judge:
            return {}
        candidate = self._folder / "candidate.npz"
        policy_file(self._network, self._story()).save(candidate)
        figures = {} if self._judge is None else dict(self._judge.figures(candidate))
        if self._judge is None or figures[SCORE] < self._best:
            self._best = figures.get(SCORE, self._best)
            os.replace(candidate, policy)
        candidate.unlink(missing_ok=True)
        return figures

    def _save(self, logs: Logs) -> None:
        state = {"learner": self._learner(), "rollout": self._rollout, "best": self._best, "curve": logs.curve}
        save_checkpoint(self._checkpoint, self._of_result, state)

    def _story(self) -> dict[str, Any]:
        story = {"recipe": self.recipe, "step": self._steps, **self._of_result}
        return story if self._started_from is None else {**story, "started_from": self._started_from}


def _environments(settings: EpisodeSettings, group_size: int, workers: Literal["ray"] | None) -> VecEnv:
    if workers is None:
        return make_environments(settings, group_size)
    from halidegym.training.episodes.rollout_actors import RolloutActors  # brings ray, which others need not have

    return RolloutActors(settings, group_size)


def network_config(settings: EpisodeSettings, start: PolicyFile | None) -> NetworkConfig:
    """Of the policy that a training begins with, or as the settings say."""
    return start.config if start else NetworkConfig(**settings.network.model_dump())


def silent_logger() -> Logger:
    """For models of stable-baselines3; without one, each call of their `learn` leaves a folder among the temporary files."""
    return Logger(folder=None, output_formats=[])


def _digest(policy: PolicyFile) -> str:
    digest = hashlib.sha256(json.dumps(dict(policy.training), sort_keys=True).encode())
    for name, array in sorted(policy.arrays.items()):
        digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()
