"""The comparison with the plugin: that the searches are equal, and that a difference would be seen."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import analysis_pipelines
import pipelines_for_tests
from halidegym.agents.plan import Candidate, Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.reference import ReferenceResult
from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.evaluation.parity.check import Setting, check_parity, compare
from halidegym.evaluation.parity.speed import OURS, PLUGIN, PLUGIN_WITHOUT_MEMO, compare_speed
from halidegym.native._core import InvalidParameter
from oracle.builder_problem import AVX512, SSE_AVX2

PIPELINES = Path(pipelines_for_tests.__file__)
QUICK = ("harris", "mat_mul", "iir_blur", "hist", "conv_layer")  # on which the plugin takes a second or two


@pytest.mark.parametrize(
    "setting",
    [
        Setting(SSE_AVX2, parallelism=16, beam_size=8),
        Setting(AVX512, parallelism=3, beam_size=1),
        Setting(SSE_AVX2, parallelism=1, beam_size=2),
        Setting(SSE_AVX2, parallelism=8, beam_size=4, random_dropout=50, seed=3),
        Setting(SSE_AVX2, parallelism=4, beam_size=4, subtiling=False),
        Setting(SSE_AVX2, parallelism=4, beam_size=4, passes=2, memory_limit=1_000_000),
        Setting("host", parallelism=2, beam_size=4, memoized_features=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["blur", "several_updates"])
def test_searches_are_equal(name: str, setting: Setting) -> None:
    result = check_parity(f"{PIPELINES}:{name}", setting)
    assert [check for check in result.checks if not check.equal] == []
    assert result.equal


@pytest.mark.parametrize("beam_size", [1, 8])
def test_output_whose_innermost_dimension_is_the_last(beam_size: int) -> None:
    result = check_parity(
        f"{analysis_pipelines.__file__}:interleaved_output", Setting(SSE_AVX2, parallelism=4, beam_size=beam_size)
    )
    assert [check for check in result.checks if not check.equal] == []


@pytest.mark.parametrize(
    "pipeline",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in pipelines.names("papers-v1")],
)
def test_benchmark_pipelines_are_equal(pipeline: str) -> None:
    """As in MB2FBS' Table 2, but with a smaller beam."""
    result = check_parity(pipeline, Setting(AVX512, parallelism=16, beam_size=4))
    assert [check for check in result.checks if not check.equal] == []


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["unsharp", "max_filter", "stencil_chain", "camera_pipe", "harris", "hist"])
def test_published_searches_are_equal(pipeline: str) -> None:
    result = check_parity(pipeline, Setting(AVX512, parallelism=16, beam_size=32))
    assert [check for check in result.checks if not check.equal] == []


@pytest.fixture(scope="module")
def both() -> tuple[Plan, ReferenceResult]:
    setting = Setting(SSE_AVX2, parallelism=8, beam_size=4)
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.matmul, target=SSE_AVX2, parallelism=8)
    return BeamSearch(beam_size=4).plan(problem), setting.plugin().run(problem)


def _different(ours: Plan, theirs: ReferenceResult) -> set[str]:
    return {check.quantity for check in compare(ours, theirs) if not check.equal}


def test_every_difference_is_seen(both: tuple[Plan, ReferenceResult]) -> None:
    ours, theirs = both
    assert _different(ours, theirs) == set()
    costs = ours.pass_costs
    changes: dict[str, Plan] = {
        "cost of pass 1": dataclasses.replace(ours, pass_costs=(costs[0], costs[1] + 2e-6, *costs[2:])),
        "number of passes": dataclasses.replace(ours, pass_costs=costs[:-1]),
        "cost evaluations": dataclasses.replace(ours, evaluations=(ours.evaluations or 0) + 1),
    }
    for quantity, changed in changes.items():
        assert _different(changed, theirs) >= {quantity}

    exact = "best cost, exactly"
    assert theirs.cost is not None
    assert exact in _different(ours, dataclasses.replace(theirs, cost=theirs.cost * (1 + 2e-7)))
    source = theirs.schedule_source.replace(".parallel(", ".serial(", 1)
    assert _different(ours, dataclasses.replace(theirs, schedule_source=source)) == {"schedule source"}
    nest = theirs.loop_nest.replace("p", "t", 1)
    assert _different(ours, dataclasses.replace(theirs, loop_nest=nest)) == {"final loop nest"}
    nests = (theirs.pass_loop_nests[0] + "x\n", *theirs.pass_loop_nests[1:])
    assert _different(ours, dataclasses.replace(theirs, pass_loop_nests=nests)) == {"loop nests of the passes"}


def test_the_schedule_of_another_pass_is_seen(both: tuple[Plan, ReferenceResult]) -> None:
    """Pass 0 was worse: if our result were its schedule, that would be noticed."""
    ours, theirs = both
    best = min(range(5), key=ours.pass_costs.__getitem__)
    candidates: list[Candidate] = list(ours.pass_candidates)
    assert best != 0
    candidates[best] = candidates[0]
    assert "schedule source" in _different(dataclasses.replace(ours, pass_candidates=tuple(candidates)), theirs)


def test_unknown_pipelines_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="no_such_pipeline"):
        check_parity("no_such_pipeline", Setting())


@pytest.mark.alone
def test_speed_and_memory_are_compared() -> None:
    """On harris ours needs a fraction of both; the bounds leave room for a busy machine."""
    begun: list[str] = []
    speed = compare_speed("harris", Setting(AVX512, beam_size=8), runs=1, on_run=begun.append)
    assert len(begun) == 3
    assert set(speed.cpu_seconds) == set(speed.peak_memory_bytes) == {OURS, PLUGIN, PLUGIN_WITHOUT_MEMO}
    assert speed.speedup.median > 1.5
    assert speed.memory_ratio.median > 1
    assert speed.checks and all(check.equal for check in speed.checks)
