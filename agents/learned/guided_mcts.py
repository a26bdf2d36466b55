"""Monte Carlo tree search whose random decisions a learned policy draws."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, get_args

from halidegym.agents.budget import Budget
from halidegym.agents.learned.guided import GuidedAgent
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.progress import OnProgress, progress_bar
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import (
    GuidedSpace,
    InvalidParameter,
    MctsOptions,
    MctsResult,
    SearchResult,
    Space,
    TreePolicy,
    mcts,
)
from halidegym.native.checks import check_at_least, check_number, check_present

_REPLAY = MCTS.preset("mcts_replay")

_Selection = Literal["uct", "puct"]
_Root = Literal["tree", "gumbel"]


@dataclass(frozen=True)
class PolicyGuidedMCTS(GuidedAgent):
    """The tree search `MCTS.preset("mcts_replay")` with draws from a policy, in the tree and in its simulations.

    What is exhausted, all schedules below it being known, is not entered again.

    Attributes:
        evaluations: the budget if `plan` is given none.
        free_schedules: how many schedules are drawn before any is repeated.
        selection: how the tree chooses where to go on: "uct" weighs the children by their visits, as `mcts_replay` does, and
            new ones are drawn from the policy; "puct" weighs all decisions, tried or not, by the policy's probabilities
            (Silver et al. 2017).
        root: "tree" lets all decisions of the root compete; "gumbel" draws some of them without repetition and halves
            their number again and again until the one is left that is taken (Danihelka et al. 2022).
        prior_weight: of the bonus of "puct".
        candidates: how many decisions "gumbel" draws.
        deviations, exploration, front_loading, widening: see `MCTS`; `exploration` and `widening` are those of "uct".
    """

    evaluations: int = 2000
    free_schedules: int = 16
    selection: _Selection = "uct"
    root: _Root = "tree"
    prior_weight: float = 2.0
    candidates: int = 16
    deviations: float | None = _REPLAY.deviations
    exploration: float = _REPLAY.exploration
    front_loading: float = _REPLAY.front_loading
    widening: float = _REPLAY.widening

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value, known in (("selection", self.selection, _Selection), ("root", self.root, _Root)):
            if value not in get_args(known):
                raise InvalidParameter(f"{name}={value!r} is unknown; give one of {', '.join(get_args(known))}")
        check_at_least(1, **check_present(evaluations=self.evaluations, candidates=self.candidates))
        check_number(**check_present(prior_weight=self.prior_weight, exploration=self.exploration))
        self._options(seed=0)

    def _tree_policy(self) -> TreePolicy:
        if self.selection == "uct":
            return TreePolicy(exploration=self.exploration)
        return TreePolicy(value="mean_cost", bonus="prior", exploration=self.prior_weight, normalized=True)

    def _options(self, seed: int, tells_roots: bool = False) -> MctsOptions:
        is_gumbel = self.root == "gumbel"
        return MctsOptions(
            trees=1,
            greedy_trees=0,
            first_draws=self.free_schedules,
            deviations=self.deviations,
            policy=self._tree_policy(),
            candidates=self.candidates if is_gumbel else None,
            winner="candidate" if is_gumbel else "best",
            tells_roots=tells_roots,
            widening=self.widening,
            front_loading=self.front_loading,
            seed=seed,
        )

    def search_tree(self, space: Space, *, evaluations: int | None = None, seed: int = 0) -> MctsResult:
        """Return what the search finds, and what it made of the decisions that it tried at each root: `roots`.

        Args:
            space: of the schedules of a problem.
            evaluations: the budget; None for that of the agent.
            seed: of the search.

        Raises:
            InvalidParameter: the budget is not positive, or the root is "gumbel", which compares candidates alone.
        """
        limits = Budget(evaluations=evaluations).or_evaluations(self.evaluations).limits
        return mcts(self._guided(space, seed), self._options(seed, tells_roots=True), **limits)

    def _search_guided(
        self, space: GuidedSpace, budget: Budget, seed: int, on_progress: OnProgress | None
    ) -> SearchResult:
        limits = budget.or_evaluations(self.evaluations).limits
        return mcts(space, self._options(seed), **limits, on_progress=on_progress)

    def _bar(self, problem: SchedulingProblem, budget: Budget) -> AbstractContextManager[OnProgress]:
        return progress_bar(f"Guided tree search, {problem.name}", 2 * problem.num_nodes, lambda _pass, depth, _: depth)
