"""Plans of Fourier transforms."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from halidegym.agents.agent import Agent
from halidegym.agents.plan import Candidate, Improvement, plain
from halidegym.agents.planners.dynamic_programming import DynamicProgramming
from halidegym.agents.spaces import SpaceSolution
from halidegym.envs.timing.database import TimingDatabase
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measurements import Comparison, Timing, TimingSettings, median_interval
from halidegym.envs.transform.costs import name_of
from halidegym.envs.transform.plan import TransformPlan
from halidegym.envs.transform.records import TransformReplay
from halidegym.envs.transform.settings import TransformTimingSettings
from halidegym.envs.transform.timer import TransformTimer
from halidegym.evaluation.arguments.transform import PREFIX, TransformName, check_sizes, order_of
from halidegym.evaluation.benchmark.problems.claims import FalseClaimError, check_equal, check_history
from halidegym.evaluation.benchmark.problems.kind import Problem, Solution
from halidegym.native._core import FormatError, InvalidParameter, TransformSpace, available_lanes
from halidegym.native.fields import checked_fields


class Transforms:
    """Transforms by names such as `transform/1024?space=lanes`; plans are for this machine's vectors, or those named."""

    def takes(self, name: str) -> bool:
        """Whether it begins like one."""
        return name.startswith(PREFIX)

    def check(self, name: str) -> None:
        """See `ProblemKind`."""
        transform = TransformName.parse(name)
        check_sizes([transform.n], [transform.space])
        # A record that is of no use is told now, and not by each cell.
        if transform.cost == "replay":
            _replay(transform)
        elif transform.database is not None:
            is_new = not Path(transform.database).exists()
            with TimingDatabase(transform.database):
                pass
            if is_new:  # the suite may be refused for something else
                Path(transform.database).unlink()

    def is_shared(self, name: str) -> bool:
        """Whether it reads no record; its name, which others may have written, may hide that by escapes of letters."""
        try:
            return TransformName.parse(name).database is None
        except InvalidParameter:
            return False

    def measures(self, name: str) -> bool:
        """Whether its name says so."""
        return TransformName.parse(name).cost == "measured"

    def remembers(self, name: str) -> bool:
        """Whether it measures and records."""
        return self.measures(name) and TransformName.parse(name).database is not None

    def load(self, name: str, target: str, parallelism: int) -> Problem:
        """See `ProblemKind`; plans are for one core of this machine, whatever the target."""
        return _Transform(TransformName.parse(name))

    def compare(
        self,
        name: str,
        target: str,
        parallelism: int,
        found: Mapping[str, Solution],
        settings: TimingSettings,
        rounds: int,
    ) -> dict[str, Comparison]:
        """See `ProblemKind`; turns are as long as those of `TransformTimer.race`."""
        transform = TransformName.parse(name)
        texts = [solution.plan["text"] for solution in found.values()]
        timing = TransformTimingSettings(final_rounds=rounds)
        with TransformTimer(TransformPlan(transform.n, texts[0]), timing, space=transform.space) as timer:
            timer.costs(texts)  # looks at their outputs
            base, *others = (_timing(samples) for samples in timer.turns(texts))
        of_baseline = Comparison(1.0, 1.0, 1.0, base, base)
        return dict(zip(found, [of_baseline, *(_compared(other, base) for other in others)], strict=True))


class _Transform:
    def __init__(self, name: TransformName) -> None:
        self._name = name

    @property
    def hash(self) -> str:
        return self._hash(self._lanes)

    @property
    def _lanes(self) -> tuple[int, ...]:
        return self._name.lanes or tuple(available_lanes())

    def solve(self, agent: Agent, seed: int, budget: Mapping[str, Any]) -> Solution:
        order, lanes = order_of(agent), self._lanes
        with self._costs() as costs:
            if isinstance(agent, DynamicProgramming):
                agent = dataclasses.replace(agent, timer=costs)
            found = agent.solve(self._space(order, lanes, costs), seed=seed, **budget)
            measurements = costs.evaluations if isinstance(costs, TransformTimer) else None
        if not isinstance(found, SpaceSolution):
            raise FormatError(f"{type(agent).__name__} returned a {type(found).__name__}, not a SpaceSolution")
        plan = {field.name: getattr(found, field.name) for field in dataclasses.fields(found) if field.name != "state"}
        plan |= {
            "text": found.state.text,
            "measurements": measurements,
            "run_time": None,
            "fingerprint": {"problem_hash": self.hash, "order": order, "lanes": lanes},
        }
        document = json.loads(json.dumps(plan, default=plain))
        return Solution(self.hash, self._key(found.state.text), document)

    def verify(self, found: Solution, agent: Agent | None, again: bool) -> bool:
        try:
            order, lanes = found.plan["fingerprint"]["order"], found.plan["fingerprint"]["lanes"]
            candidates = [checked_fields(_candidate(entry)) for entry in found.plan["candidates"]]
            history = [checked_fields(Improvement(**entry)) for entry in found.plan["history"]]
            check_equal("fingerprint", found.plan["fingerprint"]["problem_hash"], self._hash(lanes))
            # What was measured once is another time in the next measurement.
            is_repeatable = self._name.cost != "measured"
            with self._costs() if is_repeatable else contextlib.nullcontext() as costs:
                space = self._space(order, lanes, costs)
                states = [_state(space, candidate) for candidate in candidates]
                for candidate, state in zip(candidates if is_repeatable else (), states, strict=False):
                    check_equal("cost", candidate.cost, space.cost(state))
            check_equal("cost", found.plan["cost"], candidates[0].cost)
            check_equal("text", found.plan["text"], states[0].text)
            check_equal("schedule_key", found.schedule_key, self._key(states[0].text))
            check_history(history, candidates, found.plan["evaluations"])
        except (KeyError, IndexError, TypeError) as error:
            raise FormatError(f"the plan is incomplete, or damaged: {error!r}") from error
        return is_repeatable

    def _space(
        self, order: Any, lanes: Sequence[int], costs: TransformTimer | TransformReplay | None
    ) -> TransformSpace:
        name = self._name
        if costs is None:
            return TransformSpace(name.n, space=name.space, order=order, lanes=lanes, context=name.context)
        return TransformSpace(name.n, space=name.space, order=order, lanes=lanes, cost=costs.cost)

    @contextlib.contextmanager
    def _costs(self) -> Iterator[TransformTimer | TransformReplay | None]:
        """Where costs come from; None for the model."""
        name = self._name
        if name.cost == "measured":
            reference = TransformSpace(name.n, space=name.space, lanes=available_lanes()).root().plan
            with TransformTimer(TransformPlan(name.n, reference), space=name.space, database=name.database) as timer:
                yield timer
        elif name.cost == "replay":
            yield _replay(name)
        else:
            yield None

    def _hash(self, lanes: Sequence[int]) -> str:
        space = TransformSpace(self._name.n, space=self._name.space, lanes=lanes)
        text = f"{name_of(space)}, {self._name.cost}, context {self._name.context:g}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self._name.n} {text}".encode()).hexdigest()


def _replay(name: TransformName) -> TransformReplay:
    return TransformReplay(name.n, name.database or "", space=name.space, lanes=name.lanes, machine=name.machine)


def _candidate(entry: Mapping[str, Any]) -> Candidate:
    return Candidate(cost=entry["cost"], actions=tuple(entry["actions"]))


def _state(space: TransformSpace, candidate: Candidate) -> Any:
    state = space.root()
    for action in candidate.actions:
        state = space.apply(state, action)
    if not space.is_complete(state):
        raise FalseClaimError("a plan has open problems")
    return state


def _timing(samples: Sequence[float]) -> Timing:
    return Timing("ok", tuple(samples), 0.0, disturbed=(False,) * len(samples), machine=this_machine())


def _compared(a: Timing, b: Timing) -> Comparison:
    ratios = [of_b / of_a for of_a, of_b in zip(a.samples_s, b.samples_s, strict=True)]
    return Comparison(statistics.median(ratios), *median_interval(ratios), a, b)
