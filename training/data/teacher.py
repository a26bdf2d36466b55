"""The teacher: good plans for a generated pipeline, by beam search and tree search."""

from __future__ import annotations

import pydantic

from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.spaces import SpaceSolution
from halidegym.envs.problems.rules import Rules
from halidegym.envs.sources import load_problem
from halidegym.native._core import Error
from halidegym.training.data.shard import Skipped, TaughtPlan, TaughtProblem
from halidegym.training.settings import Settings


class TeacherSettings(Settings):
    """How plans are found.

    Attributes:
        beam_size: of the beam search, which makes one pass.
        beam_evaluations: at most.
        tree_evaluations: of `mcts_replay`.
        greedy_evaluations: pipelines that greedy search needs more for are skipped.
        within: plans whose costs exceed the best one's by at most this share are kept besides it.
        plans: kept for a pipeline, at most, besides greedy search's where that costs more.
        weight: of those that are not the best one, whose weight is 1. Greedy search's plan, if it costs more, has weight 0.
        seed: of the tree search.
    """

    beam_size: int = pydantic.Field(ge=1)
    beam_evaluations: int = pydantic.Field(ge=1)
    tree_evaluations: int = pydantic.Field(ge=1)
    greedy_evaluations: int = pydantic.Field(ge=1)
    within: float = pydantic.Field(ge=0)
    plans: int = pydantic.Field(ge=1)
    weight: float = pydantic.Field(ge=0, le=1)
    seed: int = pydantic.Field(ge=0, lt=2**32)


def teach(name: str, settings: TeacherSettings, target: str, parallelism: int) -> TaughtProblem | Skipped:
    """Find plans for the generated pipeline of this name."""
    try:
        problem = load_problem(name, target=target, parallelism=parallelism)
        space = Rules().space(problem)
        greedy = BeamSearch(beam_size=1).solve(space, evaluations=settings.greedy_evaluations)
        if greedy.evaluations > settings.greedy_evaluations or greedy.ended_by == "budget":
            return Skipped(name, f"greedy search needs more than {settings.greedy_evaluations} evaluations")
        beam = BeamSearch(beam_size=settings.beam_size, passes=1).solve(space, evaluations=settings.beam_evaluations)
        tree = MCTS.preset("mcts_replay", threads=1).solve(
            space, evaluations=settings.tree_evaluations, seed=settings.seed
        )
    except Error as error:
        return Skipped(name, str(error))
    plans = _plans({"tree": tree, "beam": beam, "greedy": greedy}, settings)
    return TaughtProblem(name, problem.native.to_bytes(), greedy.cost, beam.cost, plans)


def _plans(found: dict[str, SpaceSolution], settings: TeacherSettings) -> tuple[TaughtPlan, ...]:
    """The best schedules of all searches, each once as the last one's that found it; and greedy search's own, from which
    values are learned, too.
    """
    candidates = {
        candidate.actions: (candidate.cost, teacher)
        for teacher, solution in found.items()
        for candidate in solution.candidates
    }
    best, *others = sorted((cost, actions, teacher) for actions, (cost, teacher) in candidates.items())
    most = best[0] * (1 + settings.within)
    near = [other for other in others if other[0] <= most][: settings.plans - 1]
    far = [other for other in others if other[0] > most and other[2] == "greedy"][:1]
    return (
        TaughtPlan(*best, weight=1.0),
        *(TaughtPlan(*other, weight=settings.weight) for other in near),
        *(TaughtPlan(*other, weight=0.0) for other in far),
    )
