"""The reference autoschedulers, run in processes of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from halidegym.agents.reference import Adams2019, AutoschedulerFailed, Li2018, Mullapudi2016
from halidegym.agents.reference.log import format_cost, parse_adams2019_log
from halidegym.agents.reference.process import run_autoscheduler
from halidegym.native._core import Error, FormatError, InvalidParameter
from halidegym.native.weights import builtin_weights, make_weights, save_weights
from oracle.builder_problem import SSE_AVX2, BuilderProblem
from oracle.failing_problem import FailingProblem
from oracle.tabulated import GENERAL, TabulatedSearch

QUICK = [search for search in GENERAL if search.evaluations < 1600]

BLUR_NEST = """
realize: by
by 1 128 (0, 0) t p
 by 8 1c (0, 0) t
  realize: repeat_edge
  repeat_edge 33c 18c (0, 0) t
   repeat_edge 8vc 1c (0, 0) *
  by 16c 4c (0, 0) t
   realize: bx
   bx 2c 6c (0, 0) t
    bx 8vc 1c (0, 0) *
   by 2c 4c (0, 0) t
    by 8vc 1c (0, 0) *
"""


@pytest.mark.parametrize("search", QUICK, ids=lambda search: search.id)
def test_tabulated_searches(search: TabulatedSearch) -> None:
    result = search.agent.run(search.problem)
    assert result.pass_costs_text == search.pass_costs
    assert result.pass_costs == tuple(map(float, search.pass_costs))
    assert result.evaluations == search.evaluations
    assert result.cost == pytest.approx(min(result.pass_costs), rel=1e-5)
    if search.block_hits_and_misses is not None:
        log = parse_adams2019_log(result.log, result.schedule_source)
        assert (log.block_hits, log.block_misses) == search.block_hits_and_misses


def test_the_whole_result() -> None:
    result = Adams2019(beam_size=4).run(BuilderProblem("blur", parallelism=8))
    assert result.name == "Adams2019"
    assert result.pass_costs_text == ("0.901022", "0.901191", "0.901191", "0.883083", "0.883083")
    assert result.cost is not None
    assert result.cost == np.float32(result.cost), "the exact cost is a float32"
    assert format_cost(result.cost, 2) == "0.883083"
    assert result.loop_nest == BLUR_NEST
    assert len(result.pass_loop_nests) == 5
    assert result.pass_loop_nests[-1] == BLUR_NEST
    assert result.pass_loop_nests[0] != BLUR_NEST
    assert ".parallel(y);" in result.schedule_source
    assert result.cpu_seconds > 0
    assert result.seconds > 0
    assert 1e6 < result.peak_memory_bytes < 1e9

    # by, bx, repeat_edge: neither updates nor inlined input, so both orders of stages are the same.
    records = np.frombuffer(result.featurization, "<f4").reshape(3, 326)
    assert list(result.features) == ["by", "bx", "repeat_edge"]
    np.testing.assert_array_equal(np.float32(list(result.features.values())), records[:, :39])


def test_level_1_prints_small_costs_with_more_digits_and_no_nests() -> None:
    problem = BuilderProblem("scan", parallelism=4)
    fine = Adams2019(beam_size=4, memoized_features=False, log_level=1).run(problem)
    coarse = Adams2019(beam_size=4, memoized_features=False).run(problem)
    assert fine.pass_costs_text == ("0.0363649", *["0.0468888"] * 4)
    assert coarse.pass_costs_text == ("0.036365", *["0.046889"] * 4)
    assert fine.cost == coarse.cost
    assert (fine.loop_nest, fine.pass_loop_nests) == ("", ())
    assert fine.featurization == coarse.featurization


def test_a_penalized_cost_is_as_printed() -> None:
    """Penalties multiply costs, so features tell another one (docs/specification/search-and-cost-model.md, section 2.5)."""
    result = Adams2019(random_dropout=0).run(BuilderProblem("matmul"))
    assert result.pass_costs_text[0] == "308.886189"
    assert result.cost == 308.886189


@pytest.mark.parametrize("agent", [Mullapudi2016(), Li2018()], ids=lambda agent: agent.name)
@pytest.mark.parametrize("name", ["blur", "matmul"])
def test_other_baselines(agent: Mullapudi2016 | Li2018, name: str) -> None:
    result = agent.run(BuilderProblem(name))
    assert result.name == agent.name
    assert result.cost is None
    assert ".parallel(" in result.schedule_source
    assert result.seconds > 0


def test_parameters_of_mullapudi_matter() -> None:
    problem = BuilderProblem("blur")
    small = Mullapudi2016(last_level_cache_size=1 << 14).run(problem)
    assert small.schedule_source != Mullapudi2016().run(problem).schedule_source


def test_settings_of_the_user_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"HL_NUM_PASSES": "2", "HL_DEBUG_AUTOSCHEDULE": "0", "HL_RANDOMIZE_WEIGHTS": "1"}.items():
        monkeypatch.setenv(name, value)
    result = Adams2019(log_level=1, threads=1).run(BuilderProblem("hist"))
    assert result.pass_costs_text == ("0.3196",) * 5


def test_other_weights(tmp_path: Path) -> None:
    tensors = builtin_weights().tensors()
    path = tmp_path / "other.weights"
    save_weights(make_weights({**tensors, "conv1_bias": tensors["conv1_bias"] + np.float32(0.5)}), path)
    problem = BuilderProblem("hist")
    result = Adams2019(beam_size=4, weights_path=path).run(problem)
    assert result.cost != Adams2019(beam_size=4).run(problem).cost
    assert result.cost is not None
    assert format_cost(result.cost, 2) == min(result.pass_costs_text)


def test_missing_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        Adams2019(weights_path=tmp_path / "absent.weights").run(BuilderProblem("hist"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, "beam_size=0"),
        ({"passes": 0}, "passes=0"),
        ({"threads": -1}, "threads=-1"),
        ({"log_level": 0}, "log_level=0"),
        ({"random_dropout": -1}, "random_dropout=-1"),
        ({"memory_bytes": 0}, "memory_bytes=0"),
        ({"limit_s": 0.0}, "limit_s=0"),
        ({"disable_subtiling": True}, "memoized_blocks=False"),
        ({"weights_path": "my own.weights"}, "white space"),
    ],
)
def test_impossible_settings_are_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Adams2019(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("agent", [Adams2019(), Mullapudi2016(), Li2018()], ids=lambda agent: agent.name)
def test_a_rejected_pipeline_is_an_error(agent: Adams2019 | Mullapudi2016 | Li2018) -> None:
    with pytest.raises(AutoschedulerFailed, match=rf"^{agent.name} for .* rejected the pipeline: .*stimate") as raised:
        agent.run(FailingProblem("without_estimates"))
    assert isinstance(raised.value, Error)


def test_a_crash_ends_only_the_plugins_process() -> None:
    with pytest.raises(
        AutoschedulerFailed, match=r"The process of Li2018 .* died of SIGABRT\. Its last words: (.|\n)*left"
    ):
        Li2018().run(FailingProblem("crash"))


def test_a_bad_parameter_is_an_error() -> None:
    with pytest.raises(AutoschedulerFailed, match=r"'no_such_key': '1'.* died of SIGABRT\. Its last words: terminate"):
        run_autoscheduler(
            BuilderProblem("blur").pipeline, autoscheduler="Adams2019", target=SSE_AVX2, parameters={"no_such_key": "1"}
        )


def test_a_bad_target_is_an_error() -> None:
    with pytest.raises(AutoschedulerFailed, match="nonsense"):
        Li2018().run(BuilderProblem("blur", target="nonsense"))


def test_running_out_of_states_is_an_error() -> None:
    with pytest.raises(AutoschedulerFailed, match="Ran out of legal states"):
        Adams2019(memory_limit=0).run(BuilderProblem("blur"))


def test_running_out_of_time_is_an_error() -> None:
    with pytest.raises(AutoschedulerFailed, match=r"did not finish within 0\.3 s"):
        Adams2019(beam_size=500).run(BuilderProblem("blur"), timeout=0.3)
    agent = Adams2019(beam_size=500, limit_s=0.3)
    with pytest.raises(AutoschedulerFailed, match=r"did not finish within 0\.3 s"):
        agent.run(BuilderProblem("blur"), timeout=100.0)
    assert repr(agent) == repr(Adams2019(beam_size=500)), "what a process may have says nothing about the plan"


def test_running_out_of_memory_is_an_error() -> None:
    agent = Li2018(memory_bytes=2 << 30)
    with pytest.raises(AutoschedulerFailed, match=r"^Li2018 for .* ran out of memory: .* 2 GiB .* memory_bytes"):
        agent.run(FailingProblem("memory"))
    assert repr(agent) == repr(Li2018()), "what a process may have says nothing about the plan"


def test_an_unknown_autoscheduler_is_an_error() -> None:
    with pytest.raises(AutoschedulerFailed, match="has no autoscheduler Adams2020"):
        run_autoscheduler(BuilderProblem("blur").pipeline, autoscheduler="Adams2020", target=SSE_AVX2, parameters={})
