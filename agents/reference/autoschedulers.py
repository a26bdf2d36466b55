"""The autoschedulers of the ``halide`` package as agents: the baselines, and the oracle that parity is held against.

Each run happens in a process of its own (``autoscheduler_process``), whatever it does there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from halidegym.agents.agent import Agent, Budget, problem_of
from halidegym.agents.plan import Plan
from halidegym.agents.reference.log import format_cost, parse_adams2019_log
from halidegym.agents.reference.process import AutoschedulerFailed, AutoschedulerRun, run_autoscheduler
from halidegym.envs.problems.fingerprint import fingerprint
from halidegym.envs.schedules.reference_schedule import ReferenceSchedule
from halidegym.native._core import InvalidParameter, Network, Weights
from halidegym.native.checks import INT64_MAX, check_at_least, check_seed
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


@dataclass(frozen=True)
class ReferenceResult:
    """What an autoscheduler of the package did, read off its process.

    Attributes:
        name: of the autoscheduler.
        schedule_source: the schedule as C++ source.
        scheduled: the pipeline with the schedule applied, serialized without its parameters.
        seconds: wall-clock time of the search.
        cpu_seconds: CPU time of the search, all threads together.
        peak_memory_bytes: growth of the process's resident memory during the search, at its peak.
        log: the error stream of the process.
        cost: of the schedule, in the cost model's unit, or None if the autoscheduler has no cost model. Exact (the
            float32 that the search compared), unless the search had penalized the state: then as printed.
        pass_costs_text: cost of the best state of each pass, as printed: with six significant digits at log level 1,
            with six decimals at level 2.
        evaluations: how often the cost model was asked.
        loop_nest: the schedule as a loop nest, from the empty line of the root on; empty below log level 2.
        pass_loop_nests: the same for the best state of each pass.
        features: stage name to its 39 schedule features, as printed.
        featurization: float32 record of all features (docs/specification/search-and-cost-model.md, section 4.3).
    """

    name: str
    schedule_source: str
    scheduled: bytes
    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    log: str
    cost: float | None = None
    pass_costs_text: tuple[str, ...] = ()
    evaluations: int | None = None
    loop_nest: str = ""
    pass_loop_nests: tuple[str, ...] = ()
    features: Mapping[str, NDArray[np.float64]] | None = None
    featurization: bytes = b""

    @property
    def pass_costs(self) -> tuple[float, ...]:
        """Cost of the best state of each pass, as far as printed."""
        return tuple(map(float, self.pass_costs_text))


@dataclass(frozen=True, kw_only=True)
class ReferencePlan(Plan):
    """The plan of an autoscheduler of the package.

    Attributes:
        result: everything else that it reported.
    """

    result: ReferenceResult


class Reference(Agent):
    """Base of the autoschedulers of the package."""

    def plan(
        self,
        problem_or_env: Any,
        *,
        seconds: float | None = None,
        evaluations: int | None = None,
        expansions: int | None = None,
        measurements: int | None = None,
        seed: int = 0,
        progress: bool = False,
    ) -> ReferencePlan:
        """Schedule a problem; see `Agent.plan`.

        The package's autoschedulers return nothing before they are done. So `seconds` is a limit after which this
        fails, other budgets are refused, and there is no progress to show.

        Raises:
            AutoschedulerFailed: the plugin rejected the problem, its process died, or the time ran out.
            InvalidParameter: there is a budget of evaluations or expansions.
            FormatError: the file of the weights holds none.
        """
        Budget(seconds, evaluations, expansions, measurements)
        if evaluations is not None or expansions is not None:
            raise InvalidParameter(
                f"{self.name} cannot stop after a number of evaluations or expansions; leave them out"
            )
        problem = problem_of(problem_or_env)
        result = self.run(problem, seed=check_seed(seed), timeout=seconds)
        return ReferencePlan(
            agent=repr(self),
            seed=seed,
            fingerprint=fingerprint(problem, self._weights()),
            cost=result.cost,
            schedule=ReferenceSchedule(problem, self.name, result.schedule_source, result.loop_nest, result.scheduled),
            pass_costs=result.pass_costs,
            evaluations=result.evaluations,
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
            AutoschedulerFailed: the plugin rejected the problem, its process died, or the time ran out.
            FormatError: the file of the weights holds none.
        """

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
        check_at_least(1, beam_size=self.beam_size, passes=self.passes, threads=self.threads, log_level=self.log_level)
        check_at_least(
            0,
            random_dropout=self.random_dropout,
            random_dropout_seed=self.random_dropout_seed,
        )
        check_at_least(0, INT64_MAX, memory_limit=self.memory_limit)
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
        run = run_autoscheduler(
            problem.pipeline,
            autoscheduler=self.name,
            target=problem.target,
            parameters=self._parameters(problem.parallelism, seed),
            environment=self._environment() | dict(environment or {}),
            timeout=timeout,
        )
        try:
            log = parse_adams2019_log(run.log, run.schedule_source)
        except ValueError as error:
            raise AutoschedulerFailed(f"Cannot read the log of {self.name}: {error}. The log:\n{run.log}") from error
        cost = _cost_of(run.featurization, weights, problem.parallelism)
        return ReferenceResult(
            name=self.name,
            schedule_source=run.schedule_source,
            scheduled=run.scheduled,
            seconds=run.seconds,
            cpu_seconds=run.cpu_seconds,
            peak_memory_bytes=run.peak_memory_bytes,
            log=run.log,
            cost=cost if format_cost(cost, self.log_level) == log.best_cost else float(log.best_cost),
            pass_costs_text=log.pass_costs,
            evaluations=log.evaluations,
            loop_nest=log.loop_nest,
            pass_loop_nests=log.pass_loop_nests,
            features=log.features,
            featurization=run.featurization,
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
        return "" if self.weights_path is None else str(Path(self.weights_path).resolve())


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
        check_at_least(1, last_level_cache_size=self.last_level_cache_size, balance=self.balance)

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
        return _run_without_cost(self.name, problem, parameters, timeout, environment)


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
        return _run_without_cost(self.name, problem, {"parallelism": str(problem.parallelism)}, timeout, environment)


def _run_without_cost(
    name: str,
    problem: Problem,
    parameters: Mapping[str, str],
    timeout: float | None,
    environment: Mapping[str, str] | None,
) -> ReferenceResult:
    run: AutoschedulerRun = run_autoscheduler(
        problem.pipeline,
        autoscheduler=name,
        target=problem.target,
        parameters=parameters,
        environment=environment,
        timeout=timeout,
    )
    return ReferenceResult(
        name=name,
        schedule_source=run.schedule_source,
        scheduled=run.scheduled,
        seconds=run.seconds,
        cpu_seconds=run.cpu_seconds,
        peak_memory_bytes=run.peak_memory_bytes,
        log=run.log,
    )


def _cost_of(featurization: bytes, weights: Weights, parallelism: int) -> float:
    """Evaluate a featurization record: per stage 39 schedule features, 7 type masks, 40 operations of 7 types each."""
    records = np.frombuffer(featurization, "<f4").reshape(-1, 39 + 7 + 280)
    pipeline_features = records[:, 39 + 7 :].reshape(-1, 40, 7).transpose(0, 2, 1)
    return float(Network(weights).predict(pipeline_features, records[:, :39], parallelism)[0])
