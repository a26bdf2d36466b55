"""The environment `HalideSchedule-v0`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from halidegym.envs import rendering
from halidegym.envs.arguments import action_index, check_no_options, check_render_mode
from halidegym.envs.episode_state import EpisodeState
from halidegym.envs.observation import Observation, observation_space, tables
from halidegym.envs.one_thread import OneThread
from halidegym.envs.outcome import outcome
from halidegym.envs.prepared_problems import PreparedProblems, draw_index, load_prepared_problems
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.problems.snapshot import Estimate
from halidegym.envs.rewards.cost_model import RewardByCost
from halidegym.envs.rewards.rewarded import Rewarded
from halidegym.envs.schedules.schedule import Schedule
from halidegym.envs.sources import ProblemSource
from halidegym.envs.specification import Specified
from halidegym.native import _core
from halidegym.native.checks import INT32_MAX, check_at_least, check_given, check_present

__all__ = ["EpisodeState", "HalideSchedule"]


class HalideSchedule(Specified, Rewarded, gym.Env[Observation, np.int64]):
    """Schedule a Halide pipeline, one decision after another.

    ## Description

    A Halide pipeline is an algorithm: a graph of Funcs. Its schedule says where each Func is computed and stored, and
    how its loops are tiled, vectorized and run in parallel; it decides about the run time by orders of magnitude. The
    environment is the search space of Halide's Adams2019 autoscheduler (Adams et al., *Learning to Optimize Halide with
    Tree Search and Random Programs*, 2019) as a game: Funcs are visited from the outputs to the inputs, and each takes
    two decisions, first where and how it is computed (inlined, at the root, or in a tile of the loops of its consumer),
    then how its loops are cut into parallel tasks. The goal is the schedule that the cost model of that paper rates
    fastest. Planners (`halidegym.agents`) search the very same states, so that costs can be compared with a policy's.

    ## Action Space

    `Discrete(max_decisions)`: action `k` takes the `k`-th decision that the observation describes. The legal ones come
    first; `action_mask` is 1 for them. The mask is also in `info`, and `action_masks()` returns it.

    - **Illegal actions.** Where `action_mask[k]` is 0, the decision `k mod n` is taken instead, `n` being the number of
      legal actions, and `info["illegal_action"]` is True. So no integer of 64 bits raises, and episodes of unmasked
      policies end.
    - **More than `max_decisions` legal decisions.** The observation then describes an evenly spread subset: action `k`
      stands for decision `floor(k * n / max_decisions)` of all `n` in the autoscheduler's order. Inlining, which comes
      first, always remains, and equal states show equal subsets. `info["decisions_truncated"]` is True,
      `info["num_legal_decisions"]` is `n`, and `decision_indices()` tells the decision behind each action. A larger
      `max_decisions` shows them all.

    ## Observation Space

    A `Dict` of arrays of fixed shape. S, E and L (stages, edges, loops a stage) are the largest of the problems, unless
    `max_stages`, `max_edges` and `max_loops` make more room; D is `max_decisions`. Stages are in the order of
    `problem.stages`. What a problem leaves over is 0, or -1 where numbers are those of stages. H is 64 + 4 S. Tables are
    flat, row after row, as stable-baselines3 wants them; `tables(observation)` gives them their two dimensions back.

    | Key | Space | Content |
    |---|---|---|
    | `algorithm_features` | `Box(0, 64, (S * 280,))` | log(1 + count), the cost model's input: 7 types x 40 kinds |
    | `stage_features` | `Box(0, 64, (S * 24,))` | sizes and kind of each stage, scheduled or not |
    | `schedule_features` | `Box(0, 64, (S * 39,))` | log(1 + feature), as in the cost model; 0 if unscheduled |
    | `stage_costs` | `Box(-20, 20, (S,))` | log(cost of the stage / greedy cost), by the cost model; 0 if unscheduled |
    | `stage_mask` | `MultiBinary(S)` | rows that are stages of the problem |
    | `scheduled` | `MultiBinary(S)` | stages that have schedule features; those of inputs never do |
    | `deciding` | `MultiBinary(S)` | stages of the Func that is being decided; 0 at the end |
    | `places` | `Box(0, 3, (S,))` | int8: 0 undecided or an input, 1 inlined, 2 at the root, 3 within another's loops |
    | `phase` | `MultiBinary(2)` | one-hot: deciding on the place, on the parallel tasks; 0 at the end |
    | `decided` | `Box(0, 1, (1,))` | share of the decisions that are made, forced ones included |
    | `edges` | `Box(-1, S - 1, (E * 2,))` | int32 (p, c): stage c uses what p leaves; joins a Func's own stages, too |
    | `edge_features` | `Box(0, 64, (E * 8,))` | how much c reads of p, and how that moves |
    | `decisions` | `Box(-64, H, (D * (29 + 3 L),))` | a descriptor of each decision; 0 for illegal actions |
    | `decision_stage` | `Box(-1, S - 1, (D,))` | int32: stage of the decision's level; -1: the root, none, or illegal |
    | `action_mask` | `MultiBinary(D)` | the legal actions |
    | `decision_features` | `Box(-20, 64, (D * 43,))` | with `child_features` only: costs and features of the child |

    All scales are fixed, and more room changes nothing but the padding. `help(halidegym.envs.observation)` has the columns
    of the tables with units and ranges. The greedy cost counts as 1 if there is no greedy schedule.

    ## Rewards

    0 until the schedule is complete, then the natural logarithm of its speedup over the schedule that greedy search
    with the same cost model finds: `log(greedy cost / cost)`. Where greedy search comes to a dead end, the beam is
    doubled, to 32 at most, until it finds one. `halidegym.rewards.CostModelReward` is the wrapper for other forms and
    baselines, `halidegym.rewards.HardwareTimingReward` the one for run times; both replace the object `reward` of the
    environment.

    ## Starting State

    Nothing is decided but what is forced. With several pipelines, one is drawn uniformly by the environment's own
    random number generator, as are suite and number of a generated one. All else is deterministic: equal seeds and actions
    give equal episodes, bit for bit.

    ## Episode End

    *Termination*: the schedule is complete. That takes at most two steps a Func. Decisions without an alternative (of
    inputs, of Funcs that cannot be parallel, ...) are taken by the environment itself, unless `skip_forced=False`; but
    `reset` never completes a schedule, so that an episode has at least one step. A partial schedule without any legal
    decision terminates the episode, too: a dead end, which counts as a schedule of `rewards.DEAD_END_SPEEDUP`. A
    `memory_limit` leads to them, and in some pipelines `max_recompute` does. *Truncation*: never.

    ## Information

    | Key | When | Content |
    |---|---|---|
    | `action_mask` | always | int8, (D,): the legal actions |
    | `num_legal_decisions` | always | how many decisions the state has |
    | `decisions_truncated` | always | whether the observation describes fewer |
    | `evaluations` | always | nests whose features the episode has shown: 1 a state with any, 1 each child shown |
    | `illegal_action` | step | whether the action was illegal, and another decision was taken |
    | `dead_end` | last step | whether the episode ended without a schedule; if not, there are also: |
    | `cost` | last step | of the schedule, by the cost model: milliseconds as trained |
    | `speedup` | last step | greedy cost / cost; NaN if there is no greedy schedule |
    | `schedule` | last step | the `Schedule` |
    | `fingerprint` | last step | what the cost depends on: problem, target, weights, Halide version (`Fingerprint`) |

    ## Arguments

    | Argument | Default | Meaning |
    |---|---|---|
    | `pipeline` | `"harris"` | a name out of `pipelines.names()`, of a suite, or as below; or a sequence; or `"random"` |
    | `target` | this machine | Halide target string; of a `SchedulingProblem`, its own |
    | `parallelism` | usable cores | number of cores to schedule for, or those of a `SchedulingProblem` |
    | `estimates` | none | of the pipeline's parameters and outputs, see `SchedulingProblem.from_pipeline` |
    | `pipeline_options` | none | of the function that builds the pipeline, such as `{"size": (160, 128)}` |
    | `weights` | the built-in ones | of the cost model: `Weights`, or the path of a `.weights` file |
    | `subtiling` | `True` | Funcs may be tiled more than once; if not, all are placed before any is parallelized |
    | `memory_limit` | none | bytes of working set that a schedule may need beyond its outputs |
    | `max_recompute` | 8 | how many times the fewest points possible a stage may compute; `None`: any number |
    | `max_decisions` | 1024 | size of the action space; 256 is as good to learn with, and quicker |
    | `max_stages`, `max_edges`, `max_loops` | as needed | more room in the observation |
    | `pool` | none | for generated pipelines: number of prepared problems to draw from |
    | `skip_forced` | `True` | the environment takes decisions without an alternative itself |
    | `copy` | `True` | observations belong to the caller; if not, they are read-only, and last through one more step |
    | `child_features` | `False` | show what each decision leads to; every child shown is an evaluation |
    | `render_mode` | none | `"ansi"`: the loop nest as text; `"rgb_array"`: a picture of it (needs Pillow) |

    A pipeline can be given as a registered name, a `halide.Func` or `halide.Pipeline`, a function that returns one, a
    generator, the path of an `.hlpipe` file, or a `SchedulingProblem`. A suite such as `"papers-v1"` stands for its
    pipelines. One of generated pipelines, such as `"random-train-v2"` to train on or `"random-test-v2"` to report results
    on, generates another one for each episode, as does `"random"`, which is `"random-train-v1"`; of several of these
    suites, each is as likely as the others. Observations have room for the largest of all (36 stages, 48 edges, 7 loops),
    and neither estimates nor options are taken. Building them takes most of the time; with `pool=1000`, the first 1000 are
    drawn from alone, each is prepared once, also in the background, and kept in memory (0.2 MB each) and in the user's
    cache directory.

    ```python
    import gymnasium as gym, halidegym

    env = gym.make("HalideSchedule-v0", pipeline="harris", parallelism=16)
    observation, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        action = env.action_space.sample(mask=info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    print(info["cost"], info["speedup"])
    print(info["schedule"].cpp())
    ```

    ## Threads

    An environment belongs to one thread at a time: a call during a call of another thread raises `halidegym.Error`. Give
    each thread an environment of its own; the problem can be shared.

    ## Version History

    - v0: initial version; 0.1.0 added `stage_features`, `edge_features`, `stage_costs`, `places`, `decided`,
      `decision_features`, and 18 columns of `decisions`, one of which became `decision_stage`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        pipeline: ProblemSource | Sequence[ProblemSource] = "harris",
        *,
        target: str | None = None,
        parallelism: int | None = None,
        estimates: Mapping[str, Estimate] | None = None,
        pipeline_options: Mapping[str, Any] | None = None,
        weights: _core.Weights | str | Path | None = None,
        subtiling: bool = True,
        memory_limit: int | None = None,
        max_recompute: float | None = Rules.max_recompute,
        max_decisions: int = 1024,
        max_stages: int = 1,
        max_edges: int = 1,
        max_loops: int = 1,
        pool: int | None = None,
        skip_forced: bool = True,
        copy: bool = True,
        child_features: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """See the class.

        Raises:
            InvalidParameter: an argument is out of its range, or there is no such pipeline or render mode.
            MissingEstimate, UnsupportedPipeline, FormatError: a pipeline cannot be analysed.
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        check_given(bool, skip_forced=skip_forced, copy=copy, child_features=child_features)
        sizes = check_present(
            max_decisions=max_decisions, max_stages=max_stages, max_edges=max_edges, max_loops=max_loops
        )
        check_at_least(1, INT32_MAX, **sizes)
        self.render_mode = render_mode
        self._prepared = load_prepared_problems(
            pipeline,
            target=target,
            parallelism=parallelism,
            estimates=estimates,
            pipeline_options=pipeline_options,
            weights=weights,
            rules=Rules(subtiling, memory_limit, max_recompute),
            pool=pool,
        )
        least = self._prepared.least_shape()
        shape = _core.ObservationShape(
            stages=max(max_stages, least.stages),
            edges=max(max_edges, least.edges),
            loops=max(max_loops, least.loops),
            decisions=max_decisions,
            child_features=child_features,
        )
        self._native = _core.Environment(shape, skip_forced=skip_forced, copy=copy)
        self.skip_forced = skip_forced
        """Whether decisions without an alternative are taken by the environment itself."""
        self.observation_space = observation_space(shape)
        self.action_space = spaces.Discrete(max_decisions)
        self._problem_index = 0
        self._is_over = True
        self._turn = OneThread()
        self._native.start(self.prepared_problem.initial_state)
        self.reward = RewardByCost()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode with nothing decided.

        Raises:
            InvalidParameter: there are `options`, and the environment has none; or the reward's baseline is a plan for
                another problem.
            SearchExhausted: the reward takes the greedy schedule as its baseline, and there is none within
                `memory_limit` and `max_recompute`.
        """
        check_no_options(options)
        self._turn.begin()
        try:
            super().reset(seed=seed)
            index = draw_index(self._prepared, self.np_random)
            problem = self._prepared[index]
            return self._go_to(index, problem, problem.initial_state, False, 0)
        finally:
            self._turn.end()

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the decision `action`.

        Raises:
            ResetNeeded: the episode is over, or none has begun.
            InvalidParameter: `action` is no integer of 64 bits.
            Error: the end of the episode cannot be rated; it is over then.
        """
        index = action_index(action)
        self._turn.begin()
        try:
            if self._is_over:
                raise gym.error.ResetNeeded("The episode is over: call reset() first")
            observation, info = self._native.step_and_look(index)
            if info["num_legal_decisions"] > 0:
                return observation, 0.0, False, False, info
            self._is_over = True
            state, cost = self._native.end()
            reward, more = outcome(self.prepared_problem, self.reward, state, cost)
            info.update(more)
            return observation, reward, True, False, info
        finally:
            self._turn.end()

    def render(self) -> str | NDArray[np.uint8] | None:
        """The current loop nest, in the form of the `render_mode`."""
        return rendering.render(self.render_mode, self.problem.name, self.state, self._native.num_legal_decisions)

    def tables(self, observation: Observation) -> Observation:
        """The observation with its tables in two dimensions: one row a stage, edge or decision. Views, no copies.

        Takes batches, too: any dimensions before the last one stay.
        """
        return tables(observation, self._native.shape)

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool, (max_decisions,): what sb3-contrib asks for."""
        return np.arange(self._native.shape.decisions) < self._native.num_legal_decisions

    def decision_indices(self) -> NDArray[np.int64]:
        """For each legal action, the index of its decision among all of `state.expand()`."""
        return self._native.presented_decisions()

    def clone_state(self) -> EpisodeState:
        """The current point of the episode. Costs next to nothing; the random number generator is not part of it."""
        return EpisodeState(self._problem_index, self._native.state, self._is_over)

    def restore_state(self, state: EpisodeState) -> tuple[Observation, dict[str, Any]]:
        """Go on from a point that `clone_state` returned, of this environment or one with equal arguments.

        Returns:
            The observation and the information there, as `reset` does.

        Raises:
            InvalidParameter: it is none, or of an environment of other pipelines, rules or weights.
            SearchExhausted: see `reset`.
        """
        check_given(EpisodeState, state=state)
        self._turn.begin()
        try:
            problem = state.problem_in(self._prepared)
            return self._go_to(state.problem_index, problem, state.state, state.is_over, self._native.evaluations)
        finally:
            self._turn.end()

    def _go_to(
        self, index: int, problem: PreparedProblem, state: _core.State, is_over: bool, evaluations: int
    ) -> tuple[Observation, dict[str, Any]]:
        self.reward.prepare(problem)
        self._problem_index = index
        shown = self._native.start_and_look(state, problem.reference_cost, evaluations)
        self._is_over = is_over
        return shown

    def close(self) -> None:
        """Free what the reward holds."""
        self.reward.close()
        super().close()

    @property
    def prepared_problem(self) -> PreparedProblem:
        """The problem of the current episode, with its rules, its search space, and its greedy schedule."""
        return self._prepared[self._problem_index]

    @property
    def problem(self) -> SchedulingProblem:
        """The problem of the current episode."""
        return self.prepared_problem.problem

    @property
    def problems(self) -> tuple[SchedulingProblem, ...]:
        """The problems that episodes are drawn from, as far as they were given: none with `pipeline="random"`."""
        return self._given_problems()

    @property
    def prepared_problems(self) -> PreparedProblems:
        """All problems that episodes are drawn from, by their index."""
        return self._prepared

    @property
    def observation_shape(self) -> _core.ObservationShape:
        """The sizes of observations."""
        return self._native.shape

    @property
    def state(self) -> _core.State:
        """The partial schedule, an immutable value."""
        return self._native.state

    @property
    def schedule(self) -> Schedule:
        """The complete schedule.

        Raises:
            InvalidParameter: decisions are still to be made.
        """
        return Schedule.from_state(self.problem, self.state)

    @property
    def greedy_state(self) -> _core.State:
        """The complete schedule that greedy search with the cost model finds for the current problem.

        Raises:
            SearchExhausted: see `PreparedProblem.greedy`.
        """
        return self.prepared_problem.greedy.state

    def _given_problems(self) -> tuple[SchedulingProblem, ...]:
        return self._prepared.given_problems()
