"""Statistics of reports, on figures whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rliable import metrics

from halidegym.evaluation.benchmark.report.groups import Scores
from halidegym.evaluation.benchmark.report.statistics import (
    FEWEST_PIPELINES,
    geometric_mean,
    pairs,
    profiles,
    summaries,
)
from halidegym.native._core import InvalidParameter
from halidegym.training.statistics import Interval

ALL = 8


def scores(*ratios: float, pipelines: int = ALL) -> Scores:
    """The same runs on each pipeline."""
    return {f"p{number}": list(ratios) for number in range(pipelines)}


def test_what_is_twice_as_good_everywhere() -> None:
    found = summaries({"base": scores(1), "twice": scores(2, 2, 2)}, "base")
    twice = found["twice"]
    assert twice.pipelines == ALL
    for estimate in (twice.mean, twice.over_seeds, twice.quartiles):
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx((2, 2, 2))
    assert (twice.improvement.value, twice.verdict) == (1, "better")
    assert (found["base"].improvement, found["base"].verdict) == (Interval(0.5, 0.5, 0.5), "")
    assert summaries({"base": scores(1), "half": scores(0.5)}, "base")["half"].verdict == "worse"


def test_means_are_geometric_and_intervals_have_their_sources() -> None:
    found = summaries({"base": scores(1), "seeds": scores(0.5, 2)}, "base")["seeds"]
    assert found.mean.value == pytest.approx(1)
    assert found.over_seeds.low < 1 < found.over_seeds.high
    assert found.verdict == "undecided"
    over = {f"p{number}": [2.0 if number % 2 else 0.5] for number in range(ALL)}
    found = summaries({"base": scores(1), "pipelines": over}, "base")["pipelines"]
    assert (found.over_seeds.low, found.over_seeds.high) == pytest.approx((1, 1)), "no seed makes a difference"
    assert found.mean.low < 0.9 and found.mean.high > 1.1
    assert found.improvement.value == 0.5


def test_other_seeds_of_the_baseline_would_give_other_ratios() -> None:
    base = scores(0.5, 1, 2)
    found = summaries({"base": base, "sure": scores(2), "other": base}, "base")
    for agent, mean in (("sure", 2), ("other", 1)):
        assert found[agent].over_seeds.value == pytest.approx(mean)
    assert found["sure"].over_seeds.low < 1.8 and found["sure"].over_seeds.high > 2.2
    width = {agent: np.log(each.over_seeds.high / each.over_seeds.low) for agent, each in found.items()}
    assert width["sure"] == pytest.approx(width["base"], rel=0.1)
    assert width["other"] == pytest.approx(2**0.5 * width["base"], rel=0.1)


def test_of_what_is_there_once_no_interval_is_known() -> None:
    """One of no width would say that others would be the same."""
    ratios = {"base": scores(1), "draws": {f"p{number}": [1.5 + 0.1 * number] for number in range(ALL)}}
    found = summaries(ratios, "base", ["draws"])
    assert all(math.isnan(each.low) for each in (found["draws"].over_seeds, found["draws"].improvement))
    assert found["draws"].mean.low < found["draws"].mean.value == found["draws"].over_seeds.value
    assert found["base"].over_seeds == summaries(ratios, "base")["base"].over_seeds
    assert math.isnan(summaries(ratios, "base", ["base"])["draws"].over_seeds.low), "the baseline's seeds are not known"
    one = summaries({"base": scores(1, pipelines=1), "agent": scores(2, 3, pipelines=1)}, "base", ["agent"])["agent"]
    assert math.isnan(one.mean.low) and math.isnan(one.quartiles.high)
    assert one.over_seeds.low < one.over_seeds.value == one.mean.value == pytest.approx(6**0.5)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    generator, trials = np.random.default_rng(0), 40
    covered = 0
    for _ in range(trials):
        drawn = {f"p{number}": list(np.exp(generator.normal(0.2, 0.3, 5))) for number in range(20)}
        estimate = geometric_mean(drawn)
        covered += estimate.low <= np.exp(0.2) <= estimate.high
    assert covered >= 0.8 * trials


def test_few_pipelines_decide_nothing() -> None:
    few = FEWEST_PIPELINES - 1
    found = summaries({"base": scores(1, pipelines=few), "twice": scores(2, pipelines=few)}, "base")
    assert found["twice"].verdict == "undecided"
    mixed = {name: [1.0 if number > few - 1 else 2.0] for number, name in enumerate(scores(1))}
    assert summaries({"base": scores(1), "mixed": mixed}, "base")["mixed"].verdict == "undecided", (
        "equal ones do not count"
    )


def test_one_outlier_does_not_turn_a_verdict_round() -> None:
    """Ranks go by the majority, the mean by an outlier: what they contradict each other about is undecided."""
    mostly_worse = {f"p{number}": [0.965 + 0.001 * number] for number in range(15)} | {"p15": [3.0]}
    ratios = {"base": scores(1, pipelines=16), "agent": mostly_worse}
    found = summaries(ratios, "base")["agent"]
    assert found.mean.value > 1 and found.verdict == "undecided"
    pair = pairs(ratios)
    assert not pair["agent", "base"].is_significant and not pair["base", "agent"].is_significant
    worse = summaries(ratios | {"agent": mostly_worse | {"p15": [1.01]}}, "base")["agent"]
    assert worse.mean.value < 1 and worse.verdict == "worse", "significant by ranks, without the outlier's mean"


def test_ranks_that_are_tied_are_no_more_significant_for_it() -> None:
    """Eight of the 128 ways to give these ranks signs are as extreme, 6.25 %; of ranks without ties six would be."""
    tied = {f"p{number}": [2.0**power] for number, power in enumerate((-1, 1, 4, 1, 4, 4, 3))}
    found = summaries({"base": scores(1, pipelines=7), "agent": tied}, "base")["agent"]
    assert found.verdict == "undecided"


def test_tests_are_corrected_for_their_number() -> None:
    six = {f"p{number}": [2.0 + 0.1 * number] for number in range(6)}
    base = scores(1, pipelines=6)
    assert summaries({"base": base, "a": six}, "base")["a"].verdict == "better"
    assert summaries({"base": base, "a": six, "b": six}, "base")["a"].verdict == "undecided"
    found = pairs({"base": scores(1), "a": scores(2), "b": scores(3)})
    assert found["a", "b"].ratio == pytest.approx(2 / 3)
    assert found["a", "b"].is_significant and found["b", "a"].is_significant
    others = {str(number): scores(1.0) for number in range(10)}
    assert not pairs({"a": scores(2), "b": scores(3)} | others)["a", "b"].is_significant


def test_agents_are_compared_where_both_have_figures() -> None:
    some = {"p0": [2.0, 2.0], "p1": [2.0, 2.0]}
    found = summaries({"base": scores(1), "some": some, "none": {}}, "base")
    assert (found["some"].pipelines, "none" in found) == (2, False)
    assert ("some", "none") not in pairs({"base": scores(1), "some": some, "none": {}})


def test_no_run_is_left_out_in_silence() -> None:
    with pytest.raises(InvalidParameter, match="different numbers of runs"):
        summaries({"base": scores(1), "some": {"p0": [2.0], "p1": [2.0, 2.0]}}, "base")


def test_a_verdict_looks_at_the_pipelines_that_its_test_looks_at() -> None:
    """A mean of others, too, could contradict the ranks, or agree with them by accident."""
    better = {f"p{number}": [1.1 + 0.01 * number] for number in range(6)}
    found = summaries({"base": scores(1, pipelines=6), "agent": better}, "base")["agent"]
    assert found.verdict == "better"
    others = {f"p{number}": [1.5] for number in range(6)}
    ratios = {"base": others, "agent": better}
    found, pair = summaries(ratios, "base")["agent"], pairs(ratios)["agent", "base"]
    assert pair.ratio < 1 and pair.is_significant
    assert found.verdict == "worse", "the same as for the pair"


def test_the_probability_of_improvement_is_that_of_rliable() -> None:
    """Which has a test of Mann and Whitney for each pipeline; equal runs count by half."""
    generator = np.random.default_rng(0)
    drawn = {agent: generator.integers(1, 5, (3, ALL)).astype(float) for agent in ("base", "agent")}
    assert (drawn["base"] == drawn["agent"]).any()
    ratios = {agent: {f"p{number}": list(runs) for number, runs in enumerate(each.T)} for agent, each in drawn.items()}
    expected = metrics.probability_of_improvement(drawn["agent"], drawn["base"])
    assert summaries(ratios, "base")["agent"].improvement.value == pytest.approx(expected)


def test_profiles_are_shares_of_runs() -> None:
    (points,) = profiles({"agent": scores(1, 0.5)}, [0.4, 0.6, 0.99]).values()
    assert [point.value for point in points] == [1, 0.5, 0.5]
    assert points[0].low == 1 and points[1].low < 0.5 < points[1].high


def test_they_are_the_same_each_time_and_leave_the_global_generator_alone() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    first = summaries({"base": scores(1), "agent": scores(0.5, 2, 3)}, "base")
    assert first == summaries({"base": scores(1), "agent": scores(0.5, 2, 3)}, "base")
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]  # noqa: NPY002
