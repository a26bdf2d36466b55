"""Expert iteration, round by round."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from halidegym.training.data.shard import TaughtPlan, TaughtProblem
from halidegym.training.expert.buffer import Buffer
from halidegym.training.expert.improve import improved_plans
from halidegym.training.expert.settings import ExpertSettings
from halidegym.training.imitation.examples import replay
from halidegym.training.imitation.imitate import Imitated
from halidegym.training.imitation.losses import objective
from halidegym.training.rounds import OnBegin, OnStep, Rounds, check_enough
from halidegym.training.seeds import derived_seed
from halidegym.training.validation import roll_out
from halidegym.training.workers import connected


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

    Raises:
        InvalidParameter: there are too few problems for a round.
    """
    asked = f"pipelines={settings.pipelines} and rehearsed={settings.rehearsed}"
    check_enough(train, settings.pipelines + settings.rehearsed, asked)
    with connected(workers):
        return _Iteration(settings, policy, train, validation, folder, workers, on_step, on_begin).run()


class _Iteration(Rounds):
    def __init__(
        self,
        settings: ExpertSettings,
        policy: Path,
        train: Sequence[TaughtProblem],
        validation: Sequence[TaughtProblem],
        folder: Path,
        workers: Literal["ray"] | None,
        on_step: OnStep,
        on_begin: OnBegin,
    ) -> None:
        super().__init__("expert", settings, policy, train, validation, folder, on_step, on_begin)
        self._settings, self._workers = settings, workers
        self._buffer = Buffer(train, within=settings.within, weight=settings.weight)

    @property
    def is_over(self) -> bool:
        return super().is_over or self.round - self.best_round >= self._settings.patience

    def take_round(self) -> Mapping[str, float]:
        settings, random = self._settings, np.random.default_rng([self._settings.seed, self.round])
        order = [int(index) for index in random.permutation(len(self._buffer))]
        searched, rehearsed = order[: settings.pipelines], order[settings.pipelines :][: settings.rehearsed]
        found = self._search(searched)
        ratios = [math.log(plan.cost / self._buffer[i].cost) for i, plan in zip(searched, found, strict=True)]
        improved = sum(self._buffer.offer(i, plan) for i, plan in zip(searched, found, strict=True))
        examples = replay(
            [self._buffer[index] for index in (*searched, *rehearsed)],
            candidates=settings.candidates,
            loops=self.network.config.loops,
            seed=derived_seed(settings.seed, self.round),
            threads=settings.num_threads,
        )
        return {
            "search/ratio_to_known": math.exp(float(np.mean(ratios))),
            "search/share_improved": improved / len(searched),
            "search/pipelines_improved": self._buffer.num_improved,
            **self.learn(examples.states, objective(examples, self.device)),
        }

    def judge(self) -> Mapping[str, float]:
        return roll_out(self.current, self.validation, self._settings.rollouts)

    def state(self) -> Mapping[str, Any]:
        return {"buffer": self._buffer.state()}

    def go_on(self, state: Mapping[str, Any]) -> None:
        self._buffer.go_on(state["buffer"])

    def _search(self, indices: Sequence[int]) -> list[TaughtPlan]:
        """The best schedules that the search finds."""
        what = f"Round {self.round + 1}: searching"
        self.on_begin(what, len(indices))
        plans = improved_plans(
            [self._buffer[index] for index in indices],
            self.current,
            self._settings.improver,
            seed=derived_seed(self._settings.seed, self.round),
            threads=self._settings.num_threads,
            temperature=self._settings.temperature if self._settings.targets == "tree" else None,
            workers=self._workers,
        )
        found = []
        for plan in plans:
            found.append(plan)
            self.on_step(what)
        return found
