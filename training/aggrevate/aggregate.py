"""AggreVaTe, round by round."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from halidegym.native._core import Error
from halidegym.training.aggrevate.examples import ValuedExamples, replay
from halidegym.training.aggrevate.labels import ValuedSchedule, valued_schedules
from halidegym.training.aggrevate.losses import Losses, objective
from halidegym.training.aggrevate.settings import AggrevateSettings
from halidegym.training.data.shard import TaughtProblem
from halidegym.training.imitation.imitate import Imitated
from halidegym.training.imitation.trainer import Objective, mean_losses
from halidegym.training.rounds import OnBegin, OnStep, Rounds, check_enough
from halidegym.training.seeds import derived_seed
from halidegym.training.validation import roll_out
from halidegym.training.workers import Failed, in_processes

_Valued: TypeAlias = list[tuple[TaughtProblem, tuple[ValuedSchedule, ...]]]

# To draw schedules, that choose the best round: one draw counts as much as the best of several.
_WAYS = ("blind_argmax", "shortlist_argmax", "blind_best", "shortlist_best")


def aggregate(
    settings: AggrevateSettings,
    policy: Path,
    train: Sequence[TaughtProblem],
    validation: Sequence[TaughtProblem],
    folder: Path,
    *,
    workers: int = 1,
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
        workers: processes that try decisions.
        on_step: called after each step.
        on_begin: called before a number of steps, with what they do.

    Raises:
        InvalidParameter: there are too few problems to learn from.
        Error: no decision could be tried.
    """
    asked = f"rounds={settings.rounds} of pipelines={settings.pipelines}"
    check_enough(train, settings.rounds * settings.pipelines, asked)
    return _Aggregation(settings, policy, train, validation, folder, workers, on_step, on_begin).run()


class _Aggregation(Rounds):
    def __init__(
        self,
        settings: AggrevateSettings,
        policy: Path,
        train: Sequence[TaughtProblem],
        validation: Sequence[TaughtProblem],
        folder: Path,
        workers: int,
        on_step: OnStep,
        on_begin: OnBegin,
    ) -> None:
        super().__init__("aggrevate", settings, policy, train, validation, folder, on_step, on_begin)
        self._settings, self._policy, self._train, self._workers = settings, policy, train, workers
        self._valued: _Valued = []
        self._before = copy.deepcopy(self.network)  # the round

    def take_round(self) -> Mapping[str, float]:
        first = self.round * self._settings.pipelines
        problems = self._train[first : first + self._settings.pipelines]
        valued = self._try_decisions(f"Round {self.round + 1}", self.current, problems, self.round + 1)
        self._valued += valued
        examples = self._examples(self._valued)
        self._before = copy.deepcopy(self.network)
        return {
            "labels/failed": len(problems) - len(valued),
            **self.learn(examples.states, self._objective(examples)),
        }

    @functools.cached_property
    def _held_out(self) -> ValuedExamples:
        return self._examples(self._try_decisions("Validation", self._policy, self.validation, 0))

    def judge(self) -> Mapping[str, float]:
        held_out = self._held_out
        losses = mean_losses(self.network, self._objective(held_out), len(held_out), self._settings.batch)
        return {
            **{f"validation/{name}": value for name, value in losses.items()},
            **roll_out(self.current, self.validation, self._settings.rollouts, judged_by=_WAYS),
        }

    def state(self) -> Mapping[str, Any]:
        numbers = {problem.name: number for number, problem in enumerate(self._train)}
        valued = [(numbers[problem.name], list(map(dataclasses.asdict, found))) for problem, found in self._valued]
        return {"valued": valued}

    def go_on(self, state: Mapping[str, Any]) -> None:
        self._valued = [
            (self._train[number], tuple(ValuedSchedule(**schedule) for schedule in found))
            for number, found in state["valued"]
        ]

    def _try_decisions(self, when: str, policy: Path, problems: Sequence[TaughtProblem], number: int) -> _Valued:
        """The problems with what decisions are worth there; without those that killed their process.

        Raises:
            Error: nothing was found out.
        """
        what = f"{when}: trying decisions"
        labels, seed = self._settings.labels, self._settings.seed
        calls = [(problem, policy, labels, derived_seed(seed, number, problem.name)) for problem in problems]
        self.on_begin(what, len(calls))
        valued: _Valued = []
        failed = "none killed its process"
        for problem, found in zip(problems, in_processes(valued_schedules, calls, self._workers), strict=True):
            if isinstance(found, Failed):
                failed = f"{problem.name} killed its process: {found.reason}"
            else:
                valued.append((problem, found))
            self.on_step(what)
        if not any(costs for _, schedules in valued for schedule in schedules for costs in schedule.costs):
            raise Error(f"{what}: there is nothing to learn from in {len(problems):,} pipelines; {failed}")
        return valued

    def _objective(self, examples: ValuedExamples) -> Objective[Losses]:
        return objective(examples, self._before, self._settings.temperature, self.device)

    def _examples(self, valued: _Valued) -> ValuedExamples:
        return replay(valued, loops=self.network.config.loops, threads=self._settings.num_threads)
