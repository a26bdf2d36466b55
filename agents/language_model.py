"""A language model as an agent: it reads the episode in plain words, and answers with the number of a decision."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget, EndedBy
from halidegym.agents.plan import Candidate, Improvement, Plan
from halidegym.agents.progress import OnProgress
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.timing.timers import Timer
from halidegym.envs.wrappers.text import TextObservation
from halidegym.native._core import InvalidParameter, SearchExhausted, State
from halidegym.native.checks import check_at_least, check_present, shown

TextModel: TypeAlias = Callable[[str], str]
"""A prompt to its answer: a request to a model of one's choice, say."""

INSTRUCTIONS = """\
You schedule a Halide pipeline, one decision after another, so that it runs as fast as possible. Funcs are visited from the
output to the inputs. Each takes two decisions: where it is computed (inlined into its consumers, inside the loops of a
consumer, possibly in new tiles of them, or at the root), then, if at the root, how its loops are cut into parallel tasks.
Good schedules compute producers close to where they are consumed, in tiles that fit into the caches, do not compute the same
values again and again, use vectors, and have at least as many parallel tasks as there are cores.

End your answer with a line `decision: NUMBER`. Or end it with the line `costs`, and you are asked again with what a cost
model says about each decision (milliseconds, the less the better; partial schedules cost what is scheduled so far).
"""


@dataclass(frozen=True)
class LanguageModelAgent(Agent):
    """Plays episodes of `HalideSchedule` through `step` as a language model decides, and keeps the best schedule.

    The model sees each state anew, with the best cost of earlier episodes; nothing else is remembered between calls. Each
    answer counts as a forward. Budgets are looked at between episodes.

    Attributes:
        model: takes a prompt and returns an answer; whatever it raises ends the search.
        episodes: to play, unless the budget ends before.
        max_decisions: legal decisions to show of each state, evenly spread.
        attempts: how often the model is asked again, in one state, after an answer without a legal decision.
    """

    model: TextModel = field(repr=False)
    episodes: int = 1
    max_decisions: int = 64
    attempts: int = 3

    def __post_init__(self) -> None:
        numbers = check_present(episodes=self.episodes, max_decisions=self.max_decisions, attempts=self.attempts)
        check_at_least(1, **numbers)
        if not callable(self.model):
            raise InvalidParameter(
                f"model={shown(self.model)} cannot be called; give a function from a prompt to an answer"
            )

    def search(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        timer: Timer | None = None,
    ) -> Plan:
        """Do what `plan` does; see `Agent.search`.

        Raises:
            InvalidParameter: the model's answers name no decision, or are no text.
            SearchExhausted: no episode came to a complete schedule.
        """
        begin, cpu_begin = time.perf_counter(), time.process_time()
        episodes = HalideSchedule(problem, max_decisions=self.max_decisions)
        env = TextObservation(episodes)
        games: list[_Game] = []
        history: list[Improvement] = []
        ended_by: EndedBy = "finished"
        evaluations = expansions = forwards = 0
        try:
            while len(games) < self.episodes:
                best = min((game.cost for game in games), default=math.inf)
                spent = time.perf_counter() - begin
                if math.isfinite(best) and budget.is_used_up(
                    seconds=spent, evaluations=evaluations, expansions=expansions
                ):
                    ended_by = "budget"
                    break
                game = self._play(episodes, env, best, seed + len(games))
                games.append(game)
                evaluations, expansions = evaluations + game.evaluations, expansions + game.steps
                forwards += game.answers
                if game.cost < best:
                    history.append(Improvement(time.perf_counter() - begin, evaluations, expansions, game.cost))
                best = min(best, game.cost)
                if on_progress is not None and not on_progress(len(games), game.steps, evaluations, expansions, best):
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            if not history:
                raise
            ended_by = "interrupt"
        if not history:
            raise SearchExhausted(f"{self.name} ended in dead ends in all of {self.episodes} episodes; give it more")
        candidates = _candidates(games)
        prepared = episodes.prepared_problem
        return Plan(
            agent=repr(self),
            seed=seed,
            fingerprint=prepared.fingerprint,
            cost=candidates[0].cost,
            schedule=Schedule.from_actions(problem, prepared.rules, candidates[0].actions),
            rules=prepared.rules,
            candidates=candidates,
            evaluations=evaluations,
            expansions=expansions,
            forwards=forwards,
            seconds=time.perf_counter() - begin,
            cpu_seconds=time.process_time() - cpu_begin,
            history=tuple(history),
            ended_by=ended_by,
        )

    def _play(self, episodes: HalideSchedule, env: TextObservation, best: float, seed: int) -> _Game:
        """One episode; `best` is the least cost of those before."""
        text, info = env.reset(seed=seed)
        terminated, steps, answers = False, 0, 0
        while not terminated:
            action, asked = self._decide(env, text, best, int(info["action_mask"].sum()))
            text, _, terminated, _, info = env.step(np.int64(action))
            steps, answers = steps + 1, answers + asked
        cost = math.inf if info["dead_end"] else info["cost"]
        return _Game(cost, episodes.state, steps, answers, info["evaluations"])

    def _decide(self, env: TextObservation, text: str, best: float, count: int) -> tuple[int, int]:
        """The action that the model answers with, and how often it was asked."""
        known = f"The best schedule so far costs {best:.5g}.\n\n" if math.isfinite(best) else ""
        complaint, with_costs = "", False
        failures = asked = 0
        while failures <= self.attempts:
            answer = self.model(f"{INSTRUCTIONS}\n{known}{text}{complaint}")
            if not isinstance(answer, str):
                raise InvalidParameter(f"The model answered {shown(answer)}, which is no str; let it return its text")
            asked += 1
            wish = _wish(answer)
            if wish == "costs" and not with_costs:
                text, complaint, with_costs = env.with_costs(), "", True
                continue
            if isinstance(wish, int) and wish < count:
                return wish, asked
            failures += 1
            complaint = (
                f"\nThe last line of your answer was no legal decision. Say `decision: N`, N from 0 to {count - 1}.\n"
            )
        raise InvalidParameter(
            f"The model's answers named no legal decision, {self.attempts + 1} times; the last one: {answer[-200:]!r}"
        )


@dataclass(frozen=True)
class _Game:
    """An episode that was played: its cost, infinite in a dead end, its end, and what it took."""

    cost: float
    state: State
    steps: int
    answers: int
    evaluations: int


def _wish(answer: str) -> int | str | None:
    """What the end of an answer asks for: a decision, or "costs"; None if neither."""
    lines = [line.strip(" `*.").lower() for line in answer.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    if last == "costs":
        return last
    number = re.fullmatch(r"(?:decision:?\s*)?(\d{1,9})", last)
    return int(number[1]) if number else None


def _candidates(games: Sequence[_Game]) -> tuple[Candidate, ...]:
    costs = {_actions(game.state): game.cost for game in games if math.isfinite(game.cost)}
    return tuple(sorted((Candidate(cost, actions) for actions, cost in costs.items()), key=lambda found: found.cost))


def _actions(end: State) -> tuple[int, ...]:
    """The indices of the decisions that led to a state, each among the legal ones."""
    state, actions = end.space.initial_state(), []
    for decision in end.decisions_made:
        expansion = state.expand()
        actions.append(next(index for index in range(len(expansion)) if expansion.decision(index) == decision))
        state = expansion.child(actions[-1])
    return tuple(actions)
