"""Expert iteration, round by round, through kills and nights."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from halidegym.agents.learned.policy_file import load_policy_file
from halidegym.training.checkpoint import load_checkpoint, save_checkpoint
from halidegym.training.data.shard import TaughtPlan, TaughtProblem, digest
from halidegym.training.expert.buffer import Buffer
from halidegym.training.expert.improve import improved_plans
from halidegym.training.expert.settings import ExpertSettings
from halidegym.training.imitation.examples import replay
from halidegym.training.imitation.imitate import Imitated, device_of
from halidegym.training.imitation.losses import objective
from halidegym.training.imitation.trainer import Trainer
from halidegym.training.logs import Logs
from halidegym.training.networks.export import network_from, policy_file
from halidegym.training.validation import SCORE, roll_out
from halidegym.training.workers import connected

OnStep = Callable[[str], None]
OnBegin = Callable[[str, int], None]

# Settings that change nothing of the result.
_OF_THE_RUN = {"device", "threads", "wandb_project"}


def iterate(
    settings: ExpertSettings,
    policy: Path,
    train: Sequence[TaughtProblem],
    validation: Sequence[TaughtProblem],
    folder: Path,
    *,
    workers: Literal["ray"] | None = None,
    on_step: OnStep = lambda _text: None,
    on_begin: OnBegin = lambda _what, _steps: None,
) -> Imitated:
    """Improve a policy by what a search finds that it guides, until validation problems are scheduled no better.

    Args:
        settings: how.
        policy: file of the policy to begin with.
        train: problems to search, with the plans that are known of them.
        validation: problems to choose by.
        folder: of the best policy, the curve, the logs and the checkpoint that a killed training goes on from.
        workers: None to search on threads of this machine; the searches find the same wherever they are.
        on_step: called after each step.
        on_begin: called before a number of steps, with what they do.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with connected(workers):
        iteration = _Iteration(settings, policy, train, validation[: settings.rollouts.problems], folder, workers)
        return iteration.run(on_step, on_begin)


class _Iteration:
    def __init__(
        self,
        settings: ExpertSettings,
        policy: Path,
        train: Sequence[TaughtProblem],
        validation: Sequence[TaughtProblem],
        folder: Path,
        workers: Literal["ray"] | None,
    ) -> None:
        self._workers = workers
        self._settings, self._validation, self._folder = settings, validation, folder
        torch.set_num_threads(settings.num_threads)
        self._device = device_of(settings.device)
        self._checkpoint, self._current = folder / "checkpoint.pt", folder / "current.npz"
        start = load_policy_file(policy)
        self._network = network_from(start).to(self._device)
        self._started_from = dict(start.training)
        self._of_result = settings.model_dump(exclude=_OF_THE_RUN) | {
            "known_pipelines": len(train),
            "plans_sha256": digest(train),
            "policy_sha256": hashlib.sha256(policy.read_bytes()).hexdigest(),
        }
        self._buffer = Buffer(train, within=settings.within, weight=settings.weight)
        self._round, self._best, self._best_round = 0, math.inf, 0
        self._curve: list[dict[str, float]] = []
        state = load_checkpoint(self._checkpoint, self._of_result)
        if state is not None:
            self._network.load_state_dict(state["network"])
            self._buffer.go_on(state["buffer"])
            self._round, self._best, self._best_round = state["round"], state["best"], state["best_round"]
            self._curve = state["curve"]

    def run(self, on_step: OnStep, on_begin: OnBegin) -> Imitated:
        settings = self._settings
        with Logs(self._folder, self._curve, self._round, settings.wandb_project) as logs:
            if self._round == 0 and not logs.curve:
                self._judge(logs, {})
            while self._round < settings.rounds and self._round - self._best_round < settings.patience:
                start = time.perf_counter()
                figures = self._take_round(on_step, on_begin)
                self._round += 1
                self._judge(logs, figures)
                logs.add(self._round, {"throughput/seconds_per_round": time.perf_counter() - start})
            return Imitated(self._folder / "policy.npz", logs.curve)

    def _take_round(self, on_step: OnStep, on_begin: OnBegin) -> dict[str, float]:
        settings, random = self._settings, np.random.default_rng([self._settings.seed, self._round])
        order = [int(index) for index in random.permutation(len(self._buffer))]
        searched, rehearsed = order[: settings.pipelines], order[settings.pipelines :][: settings.rehearsed]
        on_begin(f"Round {self._round + 1}: searching", len(searched))
        found = self._search(searched, on_step)
        ratios = [math.log(plan.cost / self._buffer[i].cost) for i, plan in zip(searched, found, strict=True)]
        improved = sum(self._buffer.offer(i, plan) for i, plan in zip(searched, found, strict=True))
        examples = replay(
            [self._buffer[index] for index in (*searched, *rehearsed)],
            candidates=settings.candidates,
            loops=self._network.config.loops,
            seed=settings.seed + self._round,
            threads=settings.num_threads,
        )
        trainer = Trainer(
            self._network,
            examples.states,
            objective(examples, self._device),
            settings.optimizer,
            epochs=settings.epochs,
            batch=settings.batch,
            group=settings.group,
            seed=settings.seed + self._round,
            device=self._device,
        )
        on_begin(f"Round {self._round + 1}: learning", trainer.num_steps)
        learned = trainer.run(lambda: on_step(f"Round {self._round + 1}: learning"))
        return {
            "search/ratio_to_known": math.exp(float(np.mean(ratios))),
            "search/share_improved": improved / len(searched),
            "search/pipelines_improved": self._buffer.num_improved,
            **{f"train/{name}": value for name, value in learned.items()},
        }

    def _search(self, indices: Sequence[int], on_step: OnStep) -> list[TaughtPlan]:
        """The best schedules that the search finds."""
        policy_file(self._network).save(self._current)
        plans = improved_plans(
            [self._buffer[index] for index in indices],
            self._current,
            self._settings.improver,
            seed=self._round,
            threads=self._settings.num_threads,
            temperature=self._settings.temperature if self._settings.targets == "tree" else None,
            workers=self._workers,
        )
        found = []
        for plan in plans:
            found.append(plan)
            on_step(f"Round {self._round + 1}: searching")
        return found

    def _judge(self, logs: Logs, figures: dict[str, float]) -> None:
        """Add the round to the curve, keep the network if it is the best one, and save all."""
        policy_file(self._network, self._story()).save(self._current)
        figures = figures | dict(roll_out(self._current, self._validation, self._settings.rollouts))
        logs.add_to_curve(self._round, figures)
        if figures[SCORE] < self._best:
            self._best, self._best_round = figures[SCORE], self._round
            os.replace(self._current, self._folder / "policy.npz")
        state = {
            "network": self._network.state_dict(),
            "buffer": self._buffer.state(),
            "round": self._round,
            "best": self._best,
            "best_round": self._best_round,
            "curve": logs.curve,
        }
        save_checkpoint(self._checkpoint, self._of_result, state)

    def _story(self) -> dict[str, Any]:
        return {"recipe": "expert", "round": self._round, **self._of_result, "started_from": self._started_from}
