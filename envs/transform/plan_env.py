"""The environment `TransformPlan-v0`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from halidegym.envs.arguments import action_index, check_no_options, check_render_mode
from halidegym.envs.one_thread import OneThread
from halidegym.envs.rewards.base import RewardForm
from halidegym.envs.specification import Specified
from halidegym.envs.transform.costs import PlanCosts, name_of
from halidegym.envs.transform.plan_task import Baseline, Observation, PlanState, PlanTask, SpaceName, described
from halidegym.native._core import InvalidParameter, TransformSpace, TransformState
from halidegym.native.checks import check_given


class TransformPlanEnv(Specified, gym.Env[Observation, np.int64]):
    """Plan a Fourier transform, one step after another.

    ## Description

    An adaptive library computes a discrete Fourier transform in many ways, whose run times differ tenfold: it is split into
    smaller ones again and again (Cooley and Tukey), until code for a small size, a *codelet*, does the rest. A plan is
    the tree of these steps. De Mesmay et al. (*Bandit-based optimization on graphs with application to library performance
    tuning*, 2009) tuned such a library by TAG; FFTW does it by dynamic programming, which is exact only if a part takes as
    long in one plan as in another. The environment decides the first open problem of the plan at each step; planners
    (`agent.solve(env.unwrapped.space)`) search the very same space, in any order if they like.

    Sizes are 2^a 3^b 5^c 7^d, from 2 to 65536, complex, in double precision. A *problem* is a transform of size `n` of each
    of `v` columns, with strides from which it reads and to which it writes, and with factors to multiply with if it is
    *scaled*. About each problem one step is decided:

    | Step | Applies | Does |
    |---|---|---|
    | `codelet L` | n is 2, 3, 4, 5, 7, 8, 16, 32 or 64; L at most v | all in registers, L columns at a time |
    | `loop b` | b divides v and is less | the same problem for b columns, v / b times |
    | `split r place` | r divides n, and is neither 1 nor n | n / r-point transforms first, then those of r points |

    The place of a split is where the first half leaves its results for the second: in the output (`inplace` if there is one
    column; if there are more, `across`: all columns of a row at once, or `along`: all rows of a column), or, in the `wide`
    space, in scratch memory (`rows` or `columns` of one column, `scratch` of several). In the output, the second half takes
    codelets, which read a column before they write it, so r is one of their sizes. Loops are of single columns, in the
    `wide` space of 4 and 16, too; below these, there is no other loop.

    ## Action Space

    `Discrete(A)`: each action is a step, the same for all problems and sizes, so that a policy can be used for other sizes;
    `actions` has their texts. In the order codelets by L, loops by b, splits by place and radix, those that any of the sizes
    can use: A is 22 for 1024, 31 if all nine radices occur, and more in the `wide` space.

    **Illegal actions.** Where `action_mask[k]` is 0, the legal action `k mod m` is taken instead, in their order, `m` being
    their number, and `info["illegal_action"]` is True. So no integer of 64 bits raises, and episodes of unmasked policies
    end.

    ## Observation Space

    A `Dict` of arrays of fixed shape, float32 unless said otherwise; M is the most steps that a plan of any of the sizes
    has, those of `room` included. `tables(observation)` gives `steps` its two dimensions back.

    | Key | Space | Content |
    |---|---|---|
    | `problem` | `Box(0, 64, (14,))` | the problem to decide; 0 at the end |
    | `steps` | `Box(0, H, (M * 17,))` | the plan so far: a row for each decided or open problem, in order |
    | `step_mask` | `MultiBinary(M)` | rows in use |
    | `estimates` | `Box(-20, 20, (A,))` | log(cost of the fallback after this action / before), by the model; 0 if illegal |
    | `action_mask` | `MultiBinary(A)` | the legal actions |

    H is 64, in the last three columns M, A and 2. With `estimates=False`, there are no `estimates`.

    Columns of `problem`: log2(1 + x) of 0 n, 1 and 2 strides of reading and writing, 3 v, 4 and 5 strides between columns,
    6 and 7 strides of the factors, 8 how often the problem runs in a transform, 9 bytes touched; 10 scaled, 11 below a loop,
    12 in place; 13 steps above it. `steps` has the same, then 14: 1 + row of the step above it, 0 at the root; 15: 1 +
    action, 0 if open; 16: share of the cost, with the *fallback* for what is open: the best plan of each open problem by the
    model, without context.

    ## Rewards

    0 until the plan is complete, then the natural logarithm of its speedup over the baseline: `log(baseline / cost)`, or
    another `form`: "speedup", "inverse_time".

    ## Starting State

    Nothing is decided. Of several sizes, one is drawn uniformly by the environment's own random number generator. All else
    is deterministic: equal seeds and actions give equal episodes.

    ## Episode End

    *Termination*: no problem is open, after at most M steps. *Truncation*: never.

    ## Information

    | Key | When | Content |
    |---|---|---|
    | `action_mask` | always | int8, (A,): the legal actions |
    | `num_legal_decisions` | always | how many there are |
    | `illegal_action` | step | whether the action was illegal, and another one was taken |
    | `cost` | last step | of the plan, in microseconds |
    | `speedup` | last step | baseline / cost |
    | `plan` | last step | its text, such as `split 16 inplace (codelet 4) (codelet 4)` |
    | `fingerprint` | last step | what costs depend on besides the plan |

    ## Arguments

    | Argument | Default | Meaning |
    |---|---|---|
    | `n` | 1024 | size of the transform, or a sequence of sizes |
    | `room` | none | further sizes, which observations and actions have room for, though no episode is about them |
    | `space` | `"basic"` | `"lanes"`: codelets of all L, not only the widest; `"wide"`: all places and radices, too |
    | `lanes` | `(1, 2, 4)` | complex numbers in a vector register: which L there are |
    | `context` | 0.0 | nanoseconds a number where the halves of a split do not fit each other, up to a million |
    | `baseline` | `"dp"` | what dynamic programming over problems finds; or the text of a plan, or microseconds |
    | `form` | `"log_speedup"` | of the reward |
    | `estimates` | `True` | show the model's estimates |
    | `costs` | the model | `halidegym.envs.transform.costs.PlanCosts`: where the costs of plans come from |
    | `render_mode` | none | `"ansi"`: the plan as an indented tree |

    The model adds up the plan's codelets, by their arithmetic and by how they reach memory; so dynamic programming is exact,
    and the reward at most 0. With a `context` above 0, it costs extra where the second half of a split reads in another
    pattern than the first has just written, or more than the first cache holds. What is best for a part then depends on
    what follows it, dynamic programming errs, and `env.unwrapped.space.optimum()` still is exact.

    ```python
    import gymnasium as gym, halidegym

    env = gym.make("TransformPlan-v0", n=1024)
    observation, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        action = env.action_space.sample(mask=info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    print(info["plan"], info["cost"], info["speedup"])
    ```

    ## Version History

    - v0: initial version.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        n: int | Sequence[int] = 1024,
        *,
        room: int | Sequence[int] | None = None,
        space: SpaceName = "basic",
        lanes: Sequence[int] | None = None,
        context: float = 0.0,
        baseline: Baseline = "dp",
        form: RewardForm = "log_speedup",
        estimates: bool = True,
        costs: PlanCosts | None = None,
        render_mode: str | None = None,
    ) -> None:
        """See the class.

        Raises:
            InvalidParameter: an argument is out of its range.
            OutOfResources: the "wide" space of a size has too many problems.
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.task = PlanTask(
            n,
            room=room,
            space=space,
            lanes=lanes,
            context=context,
            baseline=baseline,
            form=form,
            estimates=estimates,
            costs=costs,
        )
        """Spaces, actions and costs of all sizes."""
        self.observation_space = self.task.observation_space
        self.action_space = self.task.action_space
        self._view = self.task.view
        self._index = 0
        self._state = self.space.root()
        self._mask: NDArray[np.int8] = np.zeros(len(self.actions), np.int8)
        self._has_begun = False
        self._turn = OneThread()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode with nothing decided.

        Raises:
            InvalidParameter: there are `options`; the environment has none.
        """
        check_no_options(options)
        self._turn.begin()
        try:
            super().reset(seed=seed)
            index = self.task.draw_index(self.np_random)
            return self._go_to(index, self.task.spaces[index].root())
        finally:
            self._turn.end()

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Decide the first open problem.

        Raises:
            ResetNeeded: the episode is over, or none has begun.
            InvalidParameter: `action` is no integer of 64 bits.
        """
        number = action_index(action)
        self._turn.begin()
        try:
            if not self._has_begun or self._state.is_complete:
                raise gym.error.ResetNeeded("The episode is over: call reset() first")
            self._state, is_legal = self._view.step(self._state, number)
            observation, info = self._look()
            info["illegal_action"] = not is_legal
            if info["num_legal_decisions"] > 0:
                return observation, 0.0, False, False, info
            reward, more = self.task.outcome(self._index, self._state)
            info.update(more)
            return observation, reward, True, False, info
        finally:
            self._turn.end()

    def render(self) -> str | None:
        """The plan so far, in the form of the `render_mode`."""
        if self.render_mode is None:
            return None
        return described(self._state)

    def tables(self, observation: Observation) -> Observation:
        """The observation with `steps` in two dimensions: one row a step. Takes batches, too."""
        return self.task.tables(observation)

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool, (A,): what sb3-contrib asks for."""
        return self._mask.astype(np.bool_)

    def clone_state(self) -> PlanState:
        """The current point of the episode. Costs next to nothing; the random number generator is not part of it."""
        return PlanState(self._index, self._state)

    def restore_state(self, state: PlanState) -> tuple[Observation, dict[str, Any]]:
        """Go on from a point that `clone_state` returned, of this environment or one with equal arguments.

        Returns:
            The observation and the information there, as `reset` does.

        Raises:
            InvalidParameter: it is none, or of an environment of other sizes.
        """
        check_given(PlanState, state=state)
        index, spaces = state.space_index, self.task.spaces
        given = name_of(state.state.space)
        if index >= len(spaces) or name_of(spaces[index]) != given:
            raise InvalidParameter(
                f"the state is of {given}, which is not what is planned here; give one of an environment with equal "
                "arguments"
            )
        self._turn.begin()
        try:
            return self._go_to(index, state.state)
        finally:
            self._turn.end()

    def close(self) -> None:
        """Free what the costs hold."""
        self.task.costs.close()
        super().close()

    @property
    def actions(self) -> tuple[str, ...]:
        """The step behind each action."""
        return self._view.actions

    @property
    def space(self) -> TransformSpace:
        """The plans of the current size, to be searched by planners; in the order of the episode."""
        return self.task.spaces[self._index]

    @property
    def state(self) -> TransformState:
        """The plan so far, an immutable value."""
        return self._state

    def _go_to(self, index: int, state: TransformState) -> tuple[Observation, dict[str, Any]]:
        self._index = index
        self._state = state
        self._has_begun = True
        return self._look()

    def _look(self) -> tuple[Observation, dict[str, Any]]:
        observation, num_legal = self._view.look(self._state)
        self._mask = observation["action_mask"].copy()  # the observation belongs to the caller
        return observation, {"action_mask": self._mask.copy(), "num_legal_decisions": num_legal}
