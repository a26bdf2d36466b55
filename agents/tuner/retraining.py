"""A cost model that knows the run times measured so far."""

from __future__ import annotations

from collections.abc import Sequence

from halidegym.agents.tuner.trials import Trial
from halidegym.envs.timing.measured_schedule import MeasuredSchedule, features_of
from halidegym.native._core import Weights

_BASELINE_S = 0.01  # that of the baseline; times relative to it leave out what makes a batch slower as a whole

LEAST_TRIALS = 20
"""Measurements before the model is fine-tuned."""


def retrained(weights: Weights, trials: Sequence[Trial], seed: int) -> Weights:
    """Weights fine-tuned on the trials of one pipeline, for any numbers of cores."""
    from halidegym.agents.learned.cost_models.fine_tuning import fine_tuned  # brings torch

    return fine_tuned(weights, [_measured(trial) for trial in trials if trial.speed > 0], seed=seed)


def _measured(trial: Trial) -> MeasuredSchedule:
    proposal, timing = trial.proposal, trial.comparison.a
    stages, pipeline_features, schedule_features = features_of(proposal.state)
    return MeasuredSchedule(
        pipeline=proposal.state.space.problem.name,
        problem="",
        split="",
        kind=proposal.kind,
        actions=proposal.actions,
        parallelism=proposal.parallelism,
        threads=timing.threads,
        cost=proposal.cost,
        outcome=timing.outcome,
        error="",
        run_time_s=_BASELINE_S / trial.speed,
        turns_s=(),
        disturbed=0,
        compile_s=timing.compile_s,
        stages=stages,
        pipeline_features=pipeline_features,
        schedule_features=schedule_features,
    )
