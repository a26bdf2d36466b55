"""Measured schedules without a measurement: real features, made-up run times."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pipelines_for_tests
from halidegym.agents import proposals
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.timing.machine import this_machine
from halidegym.envs.timing.measured_schedule import MeasuredSchedule, features_of
from halidegym.training.measured.collection import MeasuredCollection


def measured_schedules(pipeline: str = "random-train-v1/1", count: int = 8, **fields: Any) -> list[MeasuredSchedule]:
    """Schedules of the blur, whatever the pipeline is called, of which the last one failed."""
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.ALL["blur"](), parallelism=1)
    space = Rules().space(problem)
    drawn = list(itertools.islice(proposals.random_walks(space, seed=3), count))
    return [
        _measured(pipeline, problem, proposal, number, number == count - 1, fields)
        for number, proposal in enumerate(drawn)
    ]


def _measured(
    pipeline: str,
    problem: SchedulingProblem,
    proposal: proposals.Proposal,
    number: int,
    failed: bool,
    fields: dict[str, Any],
) -> MeasuredSchedule:
    stages, pipeline_features, schedule_features = features_of(proposal.state)
    turns = () if failed else (1e-3 * (number + 1), 1.02e-3 * (number + 1), 1.01e-3 * (number + 1))
    values: dict[str, Any] = {
        "pipeline": pipeline,
        "problem": problem.hash,
        "split": "train",
        "kind": proposal.kind,
        "actions": proposal.actions,
        "parallelism": 1,
        "threads": 1,
        "cost": proposal.cost,
        "outcome": "timeout" if failed else "ok",
        "error": "was still running" if failed else "",
        "run_time_s": math.nan if failed else sorted(turns)[1],
        "turns_s": turns,
        "disturbed": 0,
        "compile_s": 0.5,
        "stages": stages,
        "pipeline_features": pipeline_features,
        "schedule_features": schedule_features,
    }
    return MeasuredSchedule(**{**values, **fields})


def measured_collection(*pipelines: str, **fields: Any) -> MeasuredCollection:
    """A set of each pipeline."""
    schedules = [schedule for pipeline in pipelines for schedule in measured_schedules(pipeline, **fields)]
    return MeasuredCollection(this_machine(), tuple(schedules))
