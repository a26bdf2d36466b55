"""The autoschedulers of the ``halide`` package as agents: the baselines, and the oracle that parity is held against.

Each run happens in a process of its own (`process.py`), whatever it does there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget
from halidegym.agents.plan import Plan
from halidegym.agents.progress import OnProgress
from halidegym.agents.reference.log import format_cost, parse_adams2019_log
from halidegym.agents.reference.process import AutoschedulerFailed, AutoschedulerRun, run_autoscheduler
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.reference_schedule import ReferenceSchedule
from halidegym.envs.timing.timers import Timer
from halidegym.native._core import InvalidParameter, Network, Weights
from halidegym.native.checks import check_at_least, check_given, check_positive, check_present, checked_path
from halidegym.native.files import real_path
from halidegym.native.weights import resolve_weights

__all__ = [
    "Adams2019",
    "AutoschedulerFailed",
    "Li2018",
    "Mullapudi2016",
    "Reference",
    "ReferencePlan",
    "ReferenceResult",
]


class Problem(Protocol):
    """What an autoscheduler needs of a `SchedulingProblem`; picklable."""

    @property
    def target(self) -> str:
        """Halide target string."""

    @property
    def parallelism(self) -> int:
        """Number of cores."""

    def pipeline(self) -> Any:
        """Make the `halide.Pipeline`, in whatever process."""


@dataclass(frozen=True, kw_only=True)
class ReferenceResult(AutoschedulerRun):
    """What an autoscheduler of the package did, read off its process.

    Attributes:
        name: of the autoscheduler.
        cost: of the schedule, in the cost model's unit, or None if the autoscheduler has no cost model. Exact (the
            float32 that the search compared), unless the search had penalized the state: then as printed.
        pass_costs_text: cost of the best state of each pass, as printed: with six significant digits at log level 1,
            with six decimals at level 2.
        evaluations: how often the cost model was asked.
        loop_nest: the schedule as a loop nest, from the empty line of the root on; empty below log level 2.
        pass_loop_nests: the same for the best state of each pass.
        features: stage name to its 39 schedule features, as printed.
    """

    name: str
    cost: float | None = None
    pass_costs_text: tuple[str, ...] = ()
    evaluations: int | None = None
    loop_nest: str = ""
    pass_loop_nests: tuple[str, ...] = ()
    features: Mapping[str, NDArray[np.float64]] | None = None

    @property
    def pass_costs(self) -> tuple[float, ...]:
        """Cost of the best state of each pass, as far as printed."""
        return tuple(map(float, self.pass_costs_text))


@dataclass(frozen=True, kw_only=True, repr=False)
class ReferencePlan(Plan):
    """The plan of an autoscheduler of the package.

    Attributes:
        result: everything else that it reported.
    """

    result: ReferenceResult


@dataclass(frozen=True, kw_only=True)
class Reference(Agent):
    """Base of the autoschedulers of the package.

    They return nothing before they are done. So the `seconds` of `plan` are a limit after which this fails, other budgets
    are refused, and there is no progress to show. The plan is a `ReferencePlan`.

    Attributes:
        memory_bytes: address space that the process of the autoscheduler may have; None for most of the memory of this
            machine. The plan does not depend on it.
        limit_s: seconds after which it fails, whatever the budget; None for no other limit than that. Likewise.
    """

    memory_bytes: int | None = field(default=None, repr=False)
    limit_s: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse what would end the plugin's process or corrupt its search."""
        check_at_least(1, memory_bytes=self.memory_bytes)
        check_positive(limit_s=self.limit_s)

    def check_files(self) -> None:
        """See `Agent.check_files`."""
        self._weights()

    def search(
        self,
        problem: SchedulingProblem,
        budget: Budget,
        seed: int,
        on_progress: OnProgress | None = None,
        timer: Timer | None = None,
    ) -> ReferencePlan:
        """Schedule a problem; see `Agent.search`.

        Raises:
            AutoschedulerFailed: the plugin rejected the problem, its process died, or time or memory ran out.
            InvalidParameter: there is a budget of evaluations or expansions.
            FormatError: the file of the weights holds none.
        """
        if budget.evaluations is not None or budget.expansions is not None:
            raise InvalidParameter(
                f"{self.name} cannot stop after a number of evaluations or expansions; leave them out"
            )
        result = self.run(problem, seed=seed, timeout=budget.seconds)
        return ReferencePlan(
            agent=repr(self),
            seed=seed,
            fingerprint=fingerprint(problem, self._weights()),
            cost=result.cost,
            schedule=ReferenceSchedule(problem, self.name, result.schedule_source, result.loop_nest, result.scheduled),
            pass_costs=result.pass_costs,
            evaluations=result.evaluations,
            distinct_evaluations=result.evaluations,
            seconds=result.seconds,
            cpu_seconds=result.cpu_seconds,
            result=result,
        )

    @abstractmethod
    def run(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        timeout: float | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> ReferenceResult:
        """Run the autoscheduler for a problem's own target and parallelism.

        Args:
            problem: a `SchedulingProblem`.
            seed: of random numbers, if it draws any.
            timeout: seconds after which the process is ended.
            environment: variables for the process, besides the current ones.

        Raises:
            AutoschedulerFailed: the plugin rejected the problem, its process died, or time or memory ran out.
            FormatError: the file of the weights holds none.
        """

    def _run(
        self,
        problem: Problem,
        parameters: Mapping[str, str],
        timeout: float | None,
        environment: Mapping[str, str] | None,
    ) -> ReferenceResult:
        """Run the plugin; return what it reports whatever plugin it is."""
        run = run_autoscheduler(
            problem.pipeline,
            autoscheduler=self.name,
            target=problem.target,
            parameters=parameters,
            environment=environment,
            timeout=min((limit for limit in (timeout, self.limit_s) if limit is not None), default=None),
            memory_bytes=self.memory_bytes,
        )
        return ReferenceResult(name=self.name, **vars(run))

    def _weights(self) -> Weights | None:
        """Return the weights of its cost model, if it has one."""
        return None


@dataclass(frozen=True)
class Adams2019(Reference):
    """The Adams2019 autoscheduler: beam search with a learned cost model (Adams et al. 2019).

    ``beam_size=1`` is its greedy search; with ``random_dropout`` from 1 to 99 as well, one random descent per seed.

    Attributes:
        beam_size: states expanded per level.
        passes: of the search; None for the plugin's own choice: one if greedy, else five.
        random_dropout: per-cent chance that no state is dropped on the way to a complete schedule; from 100 on, off.
        random_dropout_seed: of the random descent; None for the seed given to `plan`.
        weights_path: ``.weights`` file of the cost model; None for the built-in weights.
        disable_subtiling: restrict the search space. Needs ``memoized_blocks=False``, because the plugin mixes up
            states otherwise (docs/specification/search-and-cost-model.md, section 1.6).
        memoized_features: reuse features of unchanged blocks, some of which the plugin then gets wrong
            (docs/specification/search-and-cost-model.md, section 2.10).
        memoized_blocks: reuse parallel tilings.
        memory_limit: bytes of working set beyond the outputs that a schedule may need; None for no limit.
        threads: of the plugin's compiled cost model; None for one per core. Its search has one thread in any case.
        log_level: 1 prints costs with six significant digits, 2 with six decimals and adds the loop nests.
    """

    beam_size: int = 32
    passes: int | None = None
    random_dropout: int = 100
    random_dropout_seed: int | None = None
    weights_path: str | Path | None = None
    disable_subtiling: bool = False
    memoized_features: bool = True
    memoized_blocks: bool = True
    memory_limit: int | None = None
    threads: int | None = None
    log_level: int = 2

    def __post_init__(self) -> None:
        """Refuse what would end the plugin's process or corrupt its search."""
        super().__post_init__()
        check_at_least(1, **check_present(beam_size=self.beam_size, log_level=self.log_level))
        check_at_least(1, passes=self.passes, threads=self.threads)
        check_at_least(0, **check_present(random_dropout=self.random_dropout))
        check_at_least(0, random_dropout_seed=self.random_dropout_seed, memory_limit=self.memory_limit)
        check_given(bool, disable_subtiling=self.disable_subtiling)
        check_given(bool, memoized_features=self.memoized_features, memoized_blocks=self.memoized_blocks)
        if self.disable_subtiling and self.memoized_blocks:
            raise InvalidParameter(
                "disable_subtiling needs memoized_blocks=False: the plugin mixes up states otherwise"
            )
        if any(character.isspace() for character in self._resolved_weights_path()):
            raise InvalidParameter(f"The plugin cannot read the path {self.weights_path}; give one without white space")

    def run(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        timeout: float | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> ReferenceResult:
        """Run the autoscheduler; see `Reference.run`."""
        weights = self._weights()
        variables = self._environment() | dict(environment or {})
        result = self._run(problem, self._parameters(problem.parallelism, seed), timeout, variables)
        try:
            log = parse_adams2019_log(result.log, result.schedule_source)
        except ValueError as error:
            raise AutoschedulerFailed(f"Cannot read the log of {self.name}: {error}. The log:\n{result.log}") from error
        cost = _cost_of(result.featurization, weights, problem.parallelism)
        return replace(
            result,
            cost=cost if format_cost(cost, self.log_level) == log.best_cost else float(log.best_cost),
            pass_costs_text=log.pass_costs,
            evaluations=log.evaluations,
            loop_nest=log.loop_nest,
            pass_loop_nests=log.pass_loop_nests,
            features=log.features,
        )

    def _parameters(self, parallelism: int, seed: int) -> dict[str, str]:
        numbers = {
            "parallelism": parallelism,
            "beam_size": self.beam_size,
            "random_dropout": self.random_dropout,
            "random_dropout_seed": seed if self.random_dropout_seed is None else self.random_dropout_seed,
            "disable_subtiling": int(self.disable_subtiling),
            "disable_memoized_features": int(not self.memoized_features),
            "disable_memoized_blocks": int(not self.memoized_blocks),
            "memory_limit": -1 if self.memory_limit is None else self.memory_limit,
        }
        parameters = {key: str(value) for key, value in numbers.items()}
        if self.weights_path is not None:
            parameters["weights_path"] = self._resolved_weights_path()
        return parameters

    def _environment(self) -> dict[str, str]:
        variables = {
            "HL_DEBUG_AUTOSCHEDULE": self.log_level,
            "HL_NUM_PASSES": self.passes,
            "HL_NUM_THREADS": self.threads,
        }
        return {name: str(value) for name, value in variables.items() if value is not None}

    def _weights(self) -> Weights:
        # The plugin itself would go on with random weights if it could not read the file.
        return resolve_weights(self.weights_path)

    def _resolved_weights_path(self) -> str:
        return "" if self.weights_path is None else str(real_path(checked_path("weights_path", self.weights_path)))


@dataclass(frozen=True)
class Mullapudi2016(Reference):
    """The Mullapudi2016 autoscheduler: greedy grouping of Funcs with one tile size each (Mullapudi et al. 2016).

    Attributes:
        last_level_cache_size: bytes.
        balance: how much dearer a load is than an arithmetic operation.
    """

    last_level_cache_size: int = 16 * 1024 * 1024
    balance: int = 40

    def __post_init__(self) -> None:
        """Refuse what the plugin cannot parse."""
        super().__post_init__()
        check_at_least(1, **check_present(last_level_cache_size=self.last_level_cache_size, balance=self.balance))

    def run(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        timeout: float | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> ReferenceResult:
        """Run the autoscheduler; see `Reference.run`."""
        parameters = {
            "parallelism": str(problem.parallelism),
            "last_level_cache_size": str(self.last_level_cache_size),
            "balance": str(self.balance),
        }
        return self._run(problem, parameters, timeout, environment)


@dataclass(frozen=True)
class Li2018(Reference):
    """The Li2018 autoscheduler: non-trivial Funcs at root, tiled by rule (Li et al. 2018)."""

    def run(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        timeout: float | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> ReferenceResult:
        """Run the autoscheduler; see `Reference.run`."""
        return self._run(problem, {"parallelism": str(problem.parallelism)}, timeout, environment)


def _cost_of(featurization: bytes, weights: Weights, parallelism: int) -> float:
    """Evaluate a featurization record: per stage 39 schedule features, 7 type masks, 40 operations of 7 types each."""
    records = np.frombuffer(featurization, "<f4").reshape(-1, 39 + 7 + 280)
    pipeline_features = records[:, 39 + 7 :].reshape(-1, 40, 7).transpose(0, 2, 1)
    return float(Network(weights).predict(pipeline_features, records[:, :39], parallelism)[0])
