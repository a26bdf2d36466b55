"""Odd pipelines: our search is the plugin's on them, too, and finds a schedule where the plugin does."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import odd_pipelines
from halidegym.envs.processes.isolated import run_isolated
from halidegym.evaluation.arguments.pipeline import Details, load_problem
from halidegym.evaluation.parity.check import Setting, check_parity
from halidegym.native._core import Error, SearchExhausted
from oracle.builder_problem import AVX512, SSE_AVX2

PIPELINE = f"{Path(odd_pipelines.__file__)}:build"
SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 300))]


def setting_of(seed: int) -> Setting:
    """Another one for each of many seeds."""
    return Setting(
        (SSE_AVX2, AVX512)[seed % 2],
        parallelism=(1, 2, 16)[seed % 3],
        beam_size=(1, 4, 8)[seed // 3 % 3],
        random_dropout=(100, 100, 50)[seed // 2 % 3],
        subtiling=seed % 5 != 0,
        seed=seed,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_searches_are_equal(seed: int) -> None:
    setting, details = setting_of(seed), Details(options={"seed": seed})
    try:
        result = check_parity(PIPELINE, setting, details)
    except SearchExhausted:
        problem = run_isolated(
            load_problem, PIPELINE, target=setting.target, parallelism=setting.parallelism, details=details
        )
        with pytest.raises(Error):
            setting.plugin().run(problem)
    else:
        assert [check for check in result.checks if not check.equal] == []
