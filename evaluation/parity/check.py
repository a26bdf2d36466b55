"""Is our beam search the plugin's? Both run on the same pipeline, and everything that the plugin reports is compared.

Each side runs in a fresh process: ours builds and analyses the pipeline there, the plugin gets a copy of that pipeline.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.reference import Adams2019, ReferenceResult
from halidegym.agents.reference.log import format_cost
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.isolated import run_isolated
from halidegym.evaluation.arguments.pipeline import Details, load_problem

#: At this level the plugin prints its loop nests, and costs with six decimals.
_LOG_LEVEL = 2


@dataclass(frozen=True)
class Setting:
    """Parameters of both sides; see `BeamSearch`.

    Attributes:
        memoized_features: let the plugin reuse features, some of which it then gets wrong
            (docs/specification/search-and-cost-model.md, section 2.10). That has no equivalent on our side.
    """

    target: str = "host"
    parallelism: int = 16
    beam_size: int = 32
    passes: int | None = None
    random_dropout: int = 100
    seed: int = 0
    subtiling: bool = True
    memory_limit: int | None = None
    memoized_features: bool = False
    weights: Path | None = None

    def __str__(self) -> str:
        parts = [f"parallelism {self.parallelism}", f"beam {self.beam_size}"]
        if self.random_dropout < 100:
            parts.append(f"dropout {self.random_dropout} seed {self.seed}")
        if not self.subtiling:
            parts.append("no subtiling")
        if self.memory_limit is not None:
            parts.append(f"memory limit {self.memory_limit}")
        return ", ".join(parts)

    def ours(self) -> BeamSearch:
        """Return our agent with these parameters; the seed is an argument of its `plan`."""
        return BeamSearch(
            beam_size=self.beam_size,
            passes=self.passes,
            random_dropout=self.random_dropout,
            subtiling=self.subtiling,
            memory_limit=self.memory_limit,
            weights=self.weights,
        )

    def plugin(self, log_level: int = _LOG_LEVEL, threads: int | None = None) -> Adams2019:
        """Return the plugin with these parameters."""
        return Adams2019(
            beam_size=self.beam_size,
            passes=self.passes,
            random_dropout=self.random_dropout,
            weights_path=self.weights,
            disable_subtiling=not self.subtiling,
            memoized_features=self.memoized_features,
            memoized_blocks=self.subtiling,
            memory_limit=self.memory_limit,
            threads=threads,
            log_level=log_level,
        )


@dataclass(frozen=True)
class Check:
    """One quantity on both sides, as it is printed."""

    quantity: str
    ours: str
    plugin: str
    equal: bool


@dataclass(frozen=True)
class Parity:
    """The comparison for one pipeline and one setting."""

    pipeline: str
    setting: Setting
    checks: tuple[Check, ...]
    our_seconds: float
    plugin_seconds: float

    @property
    def equal(self) -> bool:
        """Whether all quantities agree."""
        return all(check.equal for check in self.checks)


def check_parity(pipeline: str, setting: Setting, details: Details | None = None) -> Parity:
    """Run both sides on a pipeline and compare them.

    Args:
        pipeline: see `pipeline_argument.HELP`.
        setting: of both sides.
        details: estimates and options of the pipeline; None for none.

    Raises:
        Error: the pipeline cannot be analysed, or one side fails.
    """
    problem, plan = run_isolated(_search, pipeline, setting, details)
    theirs = setting.plugin().run(problem, seed=setting.seed)
    return Parity(pipeline, setting, compare(plan, theirs), plan.seconds, theirs.seconds)


def _search(pipeline: str, setting: Setting, details: Details | None) -> tuple[SchedulingProblem, Plan]:
    problem = load_problem(pipeline, target=setting.target, parallelism=setting.parallelism, details=details)
    return problem, setting.ours().plan(problem, seed=setting.seed)


def compare(ours: Plan, theirs: ReferenceResult) -> tuple[Check, ...]:
    """Compare our beam search with what the plugin printed at log level 2 about the same problem."""
    our_nests = "\n".join(ours.schedule_of(result).loop_nest() for result in ours.pass_candidates)
    schedule = ours.schedule_of(ours.pass_candidates[_best_pass(ours)])
    return (
        *compare_costs(ours, theirs, _LOG_LEVEL),
        _same_text("loop nests of the passes", our_nests, "\n".join(theirs.pass_loop_nests)),
        _same_text("final loop nest", schedule.loop_nest(), theirs.loop_nest),
        _same_text("schedule source", schedule.cpp(), theirs.schedule_source),
    )


def compare_costs(ours: Plan, theirs: ReferenceResult, log_level: int) -> tuple[Check, ...]:
    """Compare what does not depend on the schedules themselves, with what the plugin printed at this log level."""
    our_costs = [format_cost(cost, log_level) for cost in ours.pass_costs]
    checks = [_equal("number of passes", str(len(our_costs)), str(len(theirs.pass_costs_text)))]
    for number, (our, their) in enumerate(zip(our_costs, theirs.pass_costs_text, strict=False)):
        checks.append(_equal(f"cost of pass {number}", our, their))
    checks.append(_equal("cost evaluations", str(ours.evaluations), str(theirs.evaluations)))
    best = _best_pass(ours)
    cost, cost_as_compared = ours.pass_candidates[best].cost, ours.pass_costs[best]
    if cost == cost_as_compared and theirs.cost is not None:
        checks.append(_equal("best cost, exactly", _float32(cost), _float32(theirs.cost)))
    return tuple(checks)


def _best_pass(ours: Plan) -> int:
    """The plugin's result is the first pass with the lowest cost, penalties included
    (docs/specification/search-and-cost-model.md, section 2.7).
    """
    return min(range(len(ours.pass_costs)), key=ours.pass_costs.__getitem__)


def _equal(quantity: str, ours: str, plugin: str) -> Check:
    return Check(quantity, ours, plugin, ours == plugin)


def _same_text(quantity: str, ours: str, plugin: str) -> Check:
    """Compare long texts, but for empty lines; the check shows the first lines that differ."""
    our_lines, plugin_lines = ([line for line in text.splitlines() if line] for text in (ours, plugin))
    if our_lines == plugin_lines:
        text = f"{len(our_lines)} lines"
        return Check(quantity, text, text, True)
    number, our, their = _first_difference(our_lines, plugin_lines)
    return Check(quantity, f"line {number}: {our}", f"line {number}: {their}", False)


def _first_difference(a: Sequence[str], b: Sequence[str]) -> tuple[int, str, str]:
    for number in range(max(len(a), len(b))):
        line_a = a[number] if number < len(a) else "(end)"
        line_b = b[number] if number < len(b) else "(end)"
        if line_a != line_b:
            return number + 1, line_a, line_b
    raise ValueError("the texts are equal")


def _float32(cost: float) -> str:
    """Show a number so that different float32 values look different."""
    return f"{struct.unpack('f', struct.pack('f', cost))[0]:.9g}"
