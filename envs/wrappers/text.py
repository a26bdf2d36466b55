"""Observations in plain words, for whoever reads: a person, or a language model."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, SupportsFloat, SupportsIndex, cast

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.views.outline import outline
from halidegym.envs.views.words import decision_words, nest_words, status_words
from halidegym.native._core import InvalidParameter, Problem, State

_MAX_LENGTH = 1_000_000


class _ScheduleEnvironment(Protocol):
    """What the wrapper needs of the environment that it wraps: `HalideSchedule` is one."""

    @property
    def prepared_problem(self) -> PreparedProblem: ...
    @property
    def state(self) -> State: ...
    def decision_indices(self) -> NDArray[np.int64]: ...


class TextObservation(gym.Wrapper[str, np.int64, Any, np.int64], gym.utils.RecordConstructorArgs):
    """Observes an environment of schedules as text: the Funcs, the nest so far, and the legal decisions by number.

    A number is the action that takes the decision: `step(3)`. The nest's lines tell the depth of each level, the share of
    the cost that lies in it, and its loops; decisions refer to levels by Func and depth. What the decisions lead to is told
    with its costs on request, by `with_costs()`; as everywhere, each is an evaluation of the cost model, and
    `info["evaluations"]` counts them from then on.

    Equal states of equal pipelines have equal texts: Funcs that Halide tells apart by suffixes, which depend on what the
    process built before, have suffixes of their own here, and may have others in the source of the schedule. Characters of
    names beyond ASCII are escaped, as in Python.

    A state can have a thousand legal decisions. `max_decisions` of `HalideSchedule` limits how many are shown.

    Gymnasium's `AsyncVectorEnv` reads texts in shared memory only once, before there are any, and goes on to return that:
    give it `shared_memory=False`.

    Args:
        env: an environment around a `HalideSchedule`.

    Raises:
        InvalidParameter: the environment is none of schedules.
    """

    def __init__(self, env: gym.Env[Any, np.int64]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        if not hasattr(env.unwrapped, "prepared_problem") or not hasattr(env.unwrapped, "decision_indices"):
            raise InvalidParameter(f"env={env} shows no schedule to put into words: wrap a HalideSchedule environment")
        self.observation_space = spaces.Text(_MAX_LENGTH, min_length=0, charset=string.printable)
        self._requested = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode, see `HalideSchedule.reset`."""
        _, info = self.env.reset(seed=seed, options=options)
        self._requested = 0
        return self._text(), info

    def step(self, action: SupportsIndex) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take a decision by its number, see `HalideSchedule.step`."""
        _, reward, terminated, truncated, info = self.env.step(cast(np.int64, action))
        return self._text(), reward, terminated, truncated, self._counted(info)

    def with_costs(self) -> str:
        """The present observation with the cost of what each decision shown leads to, by the cost model.

        Evaluated are all legal decisions, also those that are not shown.
        """
        state, shown = self._schedule.state, self._schedule.decision_indices()
        if len(shown) == 0:
            return self._text()
        costs = state.expand().costs()
        self._requested += len(costs)
        return self._text(costs[shown])

    @property
    def requested_evaluations(self) -> int:
        """Evaluations that `with_costs()` took in this episode."""
        return self._requested

    @property
    def _schedule(self) -> _ScheduleEnvironment:
        return cast(_ScheduleEnvironment, self.unwrapped)

    def _counted(self, info: dict[str, Any]) -> dict[str, Any]:
        return {**info, "evaluations": info["evaluations"] + self._requested}

    def _text(self, costs: NDArray[np.float64] | None = None) -> str:
        prepared, state = self._schedule.prepared_problem, self._schedule.state
        text = "\n".join(_lines(prepared, state, self._schedule.decision_indices(), costs)) + "\n"
        return _printable(_with_names(steady_names([node.name for node in prepared.problem.native.nodes]), text))


def steady_names(names: Sequence[str]) -> dict[str, str]:
    """Names by which equal pipelines show equal texts, whatever the process built before.

    Halide tells apart Funcs of one name by suffixes, and those without a name by numbers, which it counts through all
    pipelines of a process. Here they are counted in the order of the pipeline's nodes.
    """
    counts = Counter[str]()
    steady = {}
    for name in names:
        plain = re.sub(r"^lambda_\d+$", "lambda", re.sub(r"\$\d+$", "", name))
        steady[name] = f"{plain}${counts[plain]}" if counts[plain] else plain
        counts[plain] += 1
    return steady


def _with_names(names: Mapping[str, str], text: str) -> str:
    changed = [re.escape(old) for old, new in names.items() if old != new]
    return re.sub(rf"(?<![\w$])(?:{'|'.join(changed)})(?![\w$])", lambda m: names[m[0]], text) if changed else text


def _printable(text: str) -> str:
    """The text with escapes for the characters that are not in the observation space."""
    return re.sub(r"[^\t-\r -~]", lambda m: m[0].encode("unicode_escape").decode(), text)


def _lines(
    prepared: PreparedProblem, state: State, shown: NDArray[np.int64], costs: NDArray[np.float64] | None
) -> Iterator[str]:
    problem = prepared.problem
    expansion = None if state.is_complete else state.expand()
    num_legal = 0 if expansion is None else len(expansion)
    yield f"Pipeline {problem.name}, {problem.num_nodes} Funcs, for {problem.parallelism} cores."
    yield f"{status_words(state, num_legal)}."
    yield ""
    yield "Loop nest so far (depth, share of the cost, level):"
    yield from list(nest_words(outline(state))) or ["(nothing is scheduled yet)"]
    if expansion is None or num_legal == 0:
        return
    yield ""
    yield _func_words(problem.native, state.next_func)
    yield ""
    count = "all" if len(shown) == num_legal else f"{len(shown)} of {num_legal}"
    yield f"Legal decisions, {count}" + (":" if costs is None else ", each with the cost that it leads to:")
    for action, index in enumerate(shown.tolist()):
        cost = "" if costs is None else f"{costs[action]:.5g}: "
        yield f"{action}: {cost}{decision_words(expansion.describe(index))}"


def _func_words(problem: Problem, name: str) -> str:
    """A Func among its neighbours."""
    node = next(node for node in problem.nodes if node.name == name)

    def others(nodes: set[int]) -> str:
        return ", ".join(other.name for other in map(problem.nodes.__getitem__, sorted(nodes)) if other.name != name)

    consumers = others({problem.stages[problem.edges[edge].consumer_stage].node for edge in node.outgoing})
    stages = problem.stages[node.first_stage : node.first_stage + node.num_stages]
    producers = others({problem.edges[edge].producer for stage in stages for edge in stage.incoming})
    facts = [f"dimensions {', '.join(node.args)}" if node.args else "a single value"]
    facts += [f"{node.num_stages - 1} updates"] if node.num_stages > 1 else []
    facts += ["pointwise"] if node.is_pointwise else []
    facts += ["an output of the pipeline"] if node.is_output else []
    facts += [f"used by {consumers}"] if consumers else []
    facts += [f"reads {producers}"] if producers else []
    return f"Next Func: {name}; {'; '.join(facts)}."
