"""Problems that a policy is judged by, which no teacher has planned before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from halidegym.agents.planners.beam import BeamSearch
from halidegym.envs.pipelines import generated
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.native._core import SearchExhausted, Space, UnsupportedPipeline
from halidegym.native.weights import resolve_weights
from halidegym.training.episodes.settings import EpisodeSettings
from halidegym.training.validation import roll_out_blind

# As the teacher of `halidegym train data` has them: of the beam, and of greedy search, above which a problem is left out.
_BEAM_SIZE, _BEAM_EVALUATIONS, _GREEDY_EVALUATIONS = 32, 40_000, 12_000


@dataclass(frozen=True)
class JudgedProblem:
    """A problem, and what searches without a policy come to.

    Attributes:
        search_space: of its schedules.
        greedy_cost: cost of greedy search's schedule.
        beam_cost: cost of the beam's schedule.
    """

    search_space: Space
    greedy_cost: float
    beam_cost: float

    def space(self) -> Space:
        """The space of its schedules."""
        return self.search_space


class Judge:
    """Rolls policies out, on problems of the validation split, of the version that is learned from, or on the pipelines that
    they are for.

    Args:
        settings: with `judging`.

    Raises:
        Error: a pipeline that is named cannot be analysed, or has no schedule; the cost model's weights rate none.
    """

    def __init__(self, settings: EpisodeSettings) -> None:
        assert settings.judging is not None
        self._judging = settings.judging
        self._problems = tuple(_held_out(settings) if settings.suites else _named(settings))

    def figures(self, policy: Path) -> Mapping[str, float]:
        """Cost ratios of a policy's schedules, see `roll_out_blind`."""
        judging = self._judging
        return roll_out_blind(policy, self._problems, samples=judging.samples, temperature=judging.temperature)


def _named(settings: EpisodeSettings) -> Iterator[JudgedProblem]:
    for name in settings.pipelines:
        space = _space(name, settings)
        yield JudgedProblem(space, BeamSearch(beam_size=1).solve(space).cost, _beam_cost(space))


def _held_out(settings: EpisodeSettings) -> Iterator[JudgedProblem]:
    """The first problems of the validation splits that are neither too large nor without a schedule."""
    assert settings.judging is not None and settings.judging.problems is not None
    suites = [generated.suite_of("validation", version=generated.version_of(suite)) for suite in settings.suites]
    left, number = settings.judging.problems, 0
    while left:
        try:
            space = _space(generated.name_in_turn(suites, number), settings)
            greedy = BeamSearch(beam_size=1).solve(space, evaluations=_GREEDY_EVALUATIONS)
            if greedy.ended_by != "budget":
                yield JudgedProblem(space, greedy.cost, _beam_cost(space))
                left -= 1
        except (SearchExhausted, UnsupportedPipeline):
            pass
        number += 1


def _space(name: str, settings: EpisodeSettings) -> Space:
    problem = load_problem(name, target=settings.target, parallelism=settings.parallelism)
    return Rules().space(problem, resolve_weights(settings.weights))


def _beam_cost(space: Space) -> float:
    return BeamSearch(beam_size=_BEAM_SIZE, passes=1).solve(space, evaluations=_BEAM_EVALUATIONS).cost
