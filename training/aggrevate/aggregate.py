"""AggreVaTe, round by round, through kills and nights."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import torch

from halidegym.agents.learned.policy_file import load_policy_file
from halidegym.native._core import InvalidParameter
from halidegym.training.aggrevate.examples import ValuedExamples, replay
from halidegym.training.aggrevate.labels import ValuedSchedule, valued_schedules
from halidegym.training.aggrevate.regrets import objective
from halidegym.training.aggrevate.settings import AggrevateSettings
from halidegym.training.checkpoint import load_checkpoint, save_checkpoint
from halidegym.training.data.shard import TaughtProblem, digest
from halidegym.training.imitation.imitate import Imitated, device_of
from halidegym.training.imitation.trainer import Trainer, mean_losses
from halidegym.training.logs import Logs
from halidegym.training.networks.export import network_from, policy_file
from halidegym.training.validation import SCORE, roll_out
from halidegym.training.workers import Failed, in_processes

OnStep: TypeAlias = Callable[[str], None]
OnBegin: TypeAlias = Callable[[str, int], None]
_Valued: TypeAlias = list[tuple[TaughtProblem, tuple[ValuedSchedule, ...]]]

# Settings that change nothing of the result.
_OF_THE_RUN = {"device", "threads", "wandb_project"}
_JUDGED_BY = ("blind_argmax", "shortlist_argmax")


def aggregate(
    settings: AggrevateSettings,
    policy: Path,
    train: Sequence[TaughtProblem],
    validation: Sequence[TaughtProblem],
    folder: Path,
    *,
    on_step: OnStep = lambda _text: None,
    on_begin: OnBegin = lambda _what, _steps: None,
) -> Imitated:
    """Let a policy learn what its own decisions lead to, and keep it as of the best round.

    Args:
        settings: how.
        policy: file of the policy to begin with.
        train: problems to learn from, of which each round takes the next ones.
        validation: problems to choose by.
        folder: of the best policy, the curve, the logs and the checkpoint that a killed training goes on from.
        on_step: called after each step.
        on_begin: called before a number of steps, with what they do.

    Raises:
        InvalidParameter: there are too few problems to learn from.
    """
    needed = settings.rounds * settings.pipelines
    if len(train) < needed:
        raise InvalidParameter(
            f"rounds={settings.rounds} of pipelines={settings.pipelines} need {needed:,} pipelines with plans, and there "
            f"are {len(train):,}; collect more, or give fewer"
        )
    folder.mkdir(parents=True, exist_ok=True)
    return _Aggregation(
        settings, policy, train[:needed], validation[: settings.rollouts.problems], folder, on_step, on_begin
    ).run()


class _Aggregation:
    def __init__(
        self,
        settings: AggrevateSettings,
        policy: Path,
        train: Sequence[TaughtProblem],
        validation: Sequence[TaughtProblem],
        folder: Path,
        on_step: OnStep,
        on_begin: OnBegin,
    ) -> None:
        self._settings, self._train, self._validation, self._folder = settings, train, validation, folder
        self._on_step, self._on_begin = on_step, on_begin
        torch.set_num_threads(1)  # which is fastest for matrices this small
        self._device = device_of(settings.device)
        self._checkpoint, self._current = folder / "checkpoint.pt", folder / "current.npz"
        start = load_policy_file(policy)
        self._network = network_from(start).to(self._device)
        self._started_from = dict(start.training)
        self._of_result = settings.model_dump(exclude=_OF_THE_RUN) | {
            "plans_sha256": digest(train),
            "policy_sha256": hashlib.sha256(policy.read_bytes()).hexdigest(),
        }
        self._held_out = self._find_out("validation", policy, validation, seed=0)
        self._valued: _Valued = []
        self._round, self._best = 0, math.inf
        self._curve: list[dict[str, float]] = []
        state = load_checkpoint(self._checkpoint, self._of_result)
        if state is not None:
            self._network.load_state_dict(state["network"])
            self._valued = [
                (train[index], tuple(ValuedSchedule(**schedule) for schedule in schedules))
                for index, schedules in state["valued"]
            ]
            self._round, self._best, self._curve = state["round"], state["best"], state["curve"]

    def run(self) -> Imitated:
        settings = self._settings
        with Logs(self._folder, self._curve, self._round, settings.wandb_project) as logs:
            if self._round == 0 and not logs.curve:
                self._judge(logs, {})
            while self._round < settings.rounds:
                start = time.perf_counter()
                figures = self._take_round()
                self._round += 1
                self._judge(logs, figures)
                logs.add(self._round, {"throughput/seconds_per_round": time.perf_counter() - start})
            return Imitated(self._folder / "policy.npz", logs.curve)

    def _take_round(self) -> Mapping[str, float]:
        settings = self._settings
        policy_file(self._network).save(self._current)
        first = self._round * settings.pipelines
        searched = self._train[first : first + settings.pipelines]
        self._valued += self._find_out(f"round {self._round + 1}", self._current, searched, seed=self._round + 1)
        examples = self._examples(self._valued)
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
        what = f"Learning, round {self._round + 1}"
        self._on_begin(what, trainer.num_steps)
        return {f"train/{name}": value for name, value in trainer.run(lambda: self._on_step(what)).items()}

    def _find_out(self, which: str, policy: Path, problems: Sequence[TaughtProblem], seed: int) -> _Valued:
        """The problems with what decisions are worth there; without those that killed their process."""
        settings, what = self._settings, f"Trying decisions, {which}"
        calls = [(problem, policy, settings.labels, _seed(settings.seed, seed, problem.name)) for problem in problems]
        self._on_begin(what, len(calls))
        valued: _Valued = []
        for problem, found in zip(problems, in_processes(valued_schedules, calls, settings.num_threads), strict=True):
            if not isinstance(found, Failed):
                valued.append((problem, found))
            self._on_step(what)
        return valued

    def _examples(self, valued: _Valued) -> ValuedExamples:
        return replay(valued, loops=self._network.config.loops, threads=self._settings.num_threads)

    def _judge(self, logs: Logs, figures: Mapping[str, float]) -> None:
        """Add the round to the curve, keep the network if it is the best one, and save all."""
        policy_file(self._network, self._story()).save(self._current)
        held_out = self._examples(self._held_out)
        regrets = mean_losses(self._network, objective(held_out, self._device), len(held_out), self._settings.batch)
        rolled_out = roll_out(self._current, self._validation, self._settings.rollouts, judged_by=_JUDGED_BY)
        logs.add_to_curve(
            self._round, {**figures, **{f"validation/{name}": value for name, value in regrets.items()}, **rolled_out}
        )
        if rolled_out[SCORE] < self._best:
            self._best = rolled_out[SCORE]
            os.replace(self._current, self._folder / "policy.npz")
        numbers = {problem.name: index for index, problem in enumerate(self._train)}
        state = {
            "network": self._network.state_dict(),
            "valued": [
                (numbers[problem.name], [dataclasses.asdict(schedule) for schedule in schedules])
                for problem, schedules in self._valued
            ],
            "round": self._round,
            "best": self._best,
            "curve": logs.curve,
        }
        save_checkpoint(self._checkpoint, self._of_result, state)

    def _story(self) -> dict[str, Any]:
        return {"recipe": "aggrevate", "round": self._round, **self._of_result, "started_from": self._started_from}


def _seed(*parts: object) -> int:
    """One of its own for each problem and round."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "little")
