"""What the trees of a tree search brought to each decision that they took together.

ProTuner's trees (Haj-Ali et al. 2020, Figure 6) search from one root, the best of their schedules decides, and the root
moves. A plan keeps what decided, not what it was chosen from. But who measures schedules is shown all that the trees
bring, and the search goes by what it is told. So the search is made once more and told costs for run times, by which the
same schedules decide; the record counts only if it finds what the plan says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from halidegym.agents.plan import Candidate, Plan
from halidegym.agents.planners.mcts import MCTS, Selection
from halidegym.evaluation.viewing.recorded_agent import recorded_agent
from halidegym.native._core import Error, Space, State


@dataclass(frozen=True)
class Move:
    """A decision of the common root.

    Attributes:
        tree: number of the tree whose schedule decided, from 1; 0 if the search began with the schedule.
        is_greedy: whether that tree simulates greedily.
        decided: that schedule.
        brought: the best schedules of the trees below the root, and the one that had decided before; all different.
    """

    tree: int
    is_greedy: bool
    decided: Candidate
    brought: tuple[Candidate, ...]


def tree_moves(plan: Plan, space: Space) -> Sequence[Move]:
    """The moves of a tree search, recorded in a second run.

    Args:
        plan: of such a search.
        space: the search space of the plan, with the weights of its cost model.

    Returns:
        None at all for another agent, where seconds, run times or average costs decided, or where the second run finds
        something else.
    """
    agent = recorded_agent(plan.agent, {"MCTS": MCTS}, {"Selection": Selection})
    if agent is None or agent.measured or agent.winner != "best":
        return ()
    if plan.budget is None or plan.budget.seconds is not None or plan.ended_by == "interrupt":
        return ()
    # A second run would take as long, and differ.
    if agent.seconds_per_decision is not None and plan.budget.is_unlimited:
        return ()
    brought: list[Candidate] = []

    def note(state: State, actions: list[int]) -> float:
        brought.append(Candidate(state.cost(), tuple(actions)))
        return brought[-1].cost

    try:
        found = agent.run(space, plan.budget, plan.seed, run_times=note)
    except Error:
        return ()
    decided = [Candidate(one.cost, tuple(one.actions)) for one in found.pass_solutions]
    if (found.evaluations, tuple(decided)) != (plan.evaluations, plan.pass_candidates):
        return ()
    moves = zip(found.deciding_trees, decided, _by_move(brought, decided), strict=True)
    return [Move(tree + 1, 0 <= tree < agent.greedy_trees, one, together) for tree, one, together in moves]


def _by_move(brought: Sequence[Candidate], decided: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    """What was brought to each move: that begins with the schedule that decided the one before."""
    begin = 0
    for one in decided:
        chosen = brought.index(one, begin)
        end = brought.index(one, chosen + 1) if one in brought[chosen + 1 :] else len(brought)
        yield tuple(brought[begin:end])
        begin = end
