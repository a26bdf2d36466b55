"""What figures of several runs on several pipelines say.

Means and intervals are those of Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice",
by their library rliable: of the logarithms of ratios, so that means are geometric. Differences are tested as Demšar 2006,
"Statistical Comparisons of Classifiers over Multiple Data Sets", advises: Wilcoxon's signed ranks of the pipelines, with
Holm's correction for the number of tests.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halidegym.evaluation.benchmark.report.groups import Scores
from halidegym.native._core import Error, InvalidParameter
from halidegym.training.statistics import RESAMPLES, Interval

_PROBABILITY_RESAMPLES, _PROFILE_RESAMPLES = 300, 300
_LEVEL = 0.05
#: Of fewer, even if all are better, Wilcoxon's test says nothing at this level.
FEWEST_PIPELINES = 6

Matrix: TypeAlias = NDArray[np.float64]  # [runs, pipelines]


@dataclass(frozen=True)
class Summary:
    """What the ratios of an agent to the baseline say; above 1 is better.

    Attributes:
        pipelines: how many there are ratios of.
        mean: geometric mean over pipelines and seeds, with the interval of other seeds and other pipelines.
        over_seeds: the same, with the interval of other seeds on the same pipelines, of the baseline's, too.
        quartiles: geometric mean of the middle half of all runs.
        improvement: probability that a run of the agent is better than one of the baseline, with that of other seeds.
        verdict: "better" or "worse" where the ranks of the pipelines say so significantly and the mean agrees, else
            "undecided"; empty for the baseline itself.
    """

    pipelines: int
    mean: Interval
    over_seeds: Interval
    quartiles: Interval
    improvement: Interval
    verdict: str = ""


def summaries(ratios: Mapping[str, Scores], baseline: str, drawing: Collection[str] = ()) -> dict[str, Summary]:
    """Summarize the ratios of each agent that has some; those of the baseline must be among them.

    Args:
        ratios: by agent.
        baseline: its name.
        drawing: agents whose seeds make a difference, of which a single run does not tell what others would give. Intervals
            that nothing is known of have ends that are not numbers.

    Raises:
        Error: rliable is not installed.
        InvalidParameter: an agent has more runs on one pipeline than on another.
    """
    decided = _significant([(agent, baseline) for agent in ratios if agent != baseline], ratios)
    unknown = {agent for agent in drawing if any(len(runs) == 1 for runs in ratios.get(agent, {}).values())}
    found = {}
    for agent, scores in ratios.items():
        if not scores:
            continue
        over_seeds = geometric_mean(scores) if agent == baseline else _over_seeds(scores, ratios[baseline])
        improvement = Interval(0.5, 0.5, 0.5) if agent == baseline else _improvement(scores, ratios[baseline])
        if {agent, baseline} & unknown:
            over_seeds, improvement = _unknown(over_seeds), _unknown(improvement)
        found[agent] = Summary(
            len(scores),
            geometric_mean(scores, over_pipelines=True),
            over_seeds,
            _interval(_logs(scores, scores), lambda x: np.exp([_metrics().aggregate_iqm(x)]), over_pipelines=True),
            improvement,
            "" if agent == baseline else _verdict(_ratio(scores, ratios[baseline]), decided.get((agent, baseline), 0)),
        )
    return found


def geometric_mean(scores: Scores, *, over_pipelines: bool = False) -> Interval:
    """The geometric mean over pipelines of those over runs, with the interval of other runs, and of other pipelines, too."""
    return _interval(_logs(scores, scores), lambda x: np.array([np.exp(x.mean())]), over_pipelines=over_pipelines)


@dataclass(frozen=True)
class Pair:
    """Two agents.

    Attributes:
        ratio: how many times better the first one is, geometric mean over the pipelines that both have figures of.
        is_significant: whether the ranks of the pipelines say so, in the direction of the ratio.
    """

    ratio: float
    is_significant: bool


def pairs(ratios: Mapping[str, Scores]) -> dict[tuple[str, str], Pair]:
    """Compare each agent with each other one; the tests are corrected for their number."""
    present = [agent for agent, scores in ratios.items() if scores]
    decided = _significant(list(itertools.combinations(present, 2)), ratios)
    decided |= {(b, a): -direction for (a, b), direction in decided.items()}
    found = {}
    for a, b in itertools.permutations(present, 2):
        if set(ratios[a]) & set(ratios[b]):
            ratio = _ratio(ratios[a], ratios[b])
            found[a, b] = Pair(ratio, _verdict(ratio, decided.get((a, b), 0)) != "undecided")
    return found


def profiles(scores: Mapping[str, Scores], thresholds: Sequence[float]) -> dict[str, list[Interval]]:
    """By agent the shares of runs that are above each threshold, with intervals of other seeds."""
    with _seeded():
        values, intervals = _library().create_performance_profile(
            {agent: _matrix(each, each) for agent, each in scores.items() if each},
            np.array(thresholds),
            custom_profile_func=_shares_above,
            reps=_PROFILE_RESAMPLES,
        )
    return {
        agent: [Interval(*map(float, point)) for point in zip(values[agent], *intervals[agent], strict=True)]
        for agent in values
    }


def _shares_above(scores: Matrix, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of all runs on all pipelines, for each threshold: what rliable counts for one after another."""
    return np.asarray((scores[..., None] > thresholds).mean((0, 1)))


def _over_seeds(scores: Scores, baseline: Scores) -> Interval:
    """The geometric mean, with the interval of other runs, of the baseline's, too, which ratios are relative to."""
    if all(len(runs) == 1 for runs in baseline.values()):
        return geometric_mean(scores)
    both = _logs(scores, scores), _logs(baseline, scores)
    return _interval(both, lambda x, y: np.array([np.exp(x.mean() - y.mean())]))


def _improvement(scores: Scores, others: Scores) -> Interval:
    """The probability that a run is better than one of the others on the same pipeline."""
    both, resamples = (_logs(scores, scores), _logs(others, scores)), _PROBABILITY_RESAMPLES
    return _interval(both, lambda x, y: np.array([_share_better(x, y)]), resamples=resamples)


def _share_better(scores: Matrix, others: Matrix) -> float:
    """Of all pairs of runs on the same pipeline, those in which the first one is better; half of the equal ones count.

    Mann and Whitney's U over the number of pairs, as in rliable, whose own function makes a test of each pipeline of each
    resample, with p-values that nobody sees: 150 times as long.
    """
    ours = scores[:, None]
    return float(((ours > others).mean() + (ours >= others).mean()) / 2)


def _unknown(estimate: Interval) -> Interval:
    return Interval(estimate.value, math.nan, math.nan)


def _verdict(ratio: float, direction: int) -> str:
    """What a mean ratio and the significant direction of the ranks say together: one outlier may make the mean alone."""
    if direction * math.log(ratio) > 0:
        return "better" if direction > 0 else "worse"
    return "undecided"


def _significant(wanted: Sequence[tuple[str, str]], ratios: Mapping[str, Scores]) -> dict[tuple[str, str], int]:
    """The direction of each significant difference between two agents, corrected for their number.

    Returns:
        By pair, 1 if the first one is better by the ranks of the pipelines, -1 if the second one is; others are left out.
    """
    from scipy.stats import rankdata, wilcoxon

    p_values, directions = {}, {}
    for a, b in wanted:
        differences = _differences(ratios[a], ratios[b])
        # Equal schedules differ by what rounding leaves.
        differences = differences[np.abs(differences) > 1e-9]
        if len(differences) >= FEWEST_PIPELINES:
            p_values[a, b] = float(wilcoxon(differences).pvalue)  # exact up to 50, with ties up to 13
            directions[a, b] = int(np.sign(np.sign(differences) @ rankdata(np.abs(differences))))
    ordered = sorted(p_values, key=lambda pair: p_values[pair])
    decided = {}
    for rank, pair in enumerate(ordered):
        if p_values[pair] * (len(wanted) - rank) > _LEVEL:
            break
        decided[pair] = directions[pair]
    return decided


def _ratio(a: Scores, b: Scores) -> float:
    """How many times as good the first one is, geometric mean over the pipelines that both have."""
    return float(np.exp(_differences(a, b).mean()))


def _differences(a: Scores, b: Scores) -> Matrix:
    """Per pipeline that both have, the difference of the mean logarithms."""
    common = [pipeline for pipeline in a if pipeline in b]
    return np.array([np.log(a[pipeline]).mean() - np.log(b[pipeline]).mean() for pipeline in common])


def _logs(scores: Scores, pipelines: Scores) -> Matrix:
    return np.asarray(np.log(_matrix(scores, pipelines)))


def _matrix(scores: Scores, pipelines: Scores) -> Matrix:
    """One row a run, of which there are as many on each pipeline.

    Raises:
        InvalidParameter: there are not.
    """
    runs = {pipeline: len(scores[pipeline]) for pipeline in pipelines}
    if len(set(runs.values())) > 1:
        raise InvalidParameter(f"scores have different numbers of runs on {runs}; leave out pipelines with fewer")
    return np.stack([np.array(scores[pipeline], dtype=np.float64) for pipeline in pipelines], axis=1)


def _interval(
    scores: Matrix | tuple[Matrix, ...],
    estimate: Callable[..., Matrix],
    *,
    over_pipelines: bool = False,
    resamples: int | None = None,
) -> Interval:
    matrices = scores if isinstance(scores, tuple) else (scores,)
    value = float(estimate(*matrices)[0])
    if over_pipelines and matrices[0].shape[1] == 1:
        return _unknown(Interval(value, value, value))  # a single pipeline does not tell what others would give
    if not any(_varies(each, over_pipelines) for each in matrices):
        return Interval(value, value, value)
    with _seeded():
        _, intervals = _library().get_interval_estimates(
            {"": list(scores) if isinstance(scores, tuple) else scores},
            estimate,
            task_bootstrap=over_pipelines,
            reps=resamples or RESAMPLES,
        )
    ((low,), (high,)) = intervals[""]
    return Interval(value, float(low), float(high))


def _varies(scores: Matrix, over_pipelines: bool) -> bool:
    """Whether others can be drawn than there are: other runs of a pipeline, or those of other pipelines."""
    return bool((scores != (scores[0, 0] if over_pipelines else scores[0])).any())


@contextlib.contextmanager
def _seeded() -> Iterator[None]:
    """Make rliable's draws the same each time; it draws from NumPy's global generator, which is left as it was."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def _library() -> Any:
    try:
        from rliable import library
    except ImportError as error:
        raise Error("The statistics need rliable: pip install 'halidegym[bench]'") from error
    return library


def _metrics() -> Any:
    from rliable import metrics

    return metrics
