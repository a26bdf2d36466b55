"""What may stand for a SCHEDULE on the command line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halidegym.agents.agent import Agent
from halidegym.agents.budget import Budget
from halidegym.agents.plan import Plan, recorded_fingerprint
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.reference import Adams2019, Li2018, Mullapudi2016
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.schedules.manual_schedule import manual_schedule
from halidegym.envs.schedules.schedule_like import ScheduleLike
from halidegym.envs.schedules.trusted_schedule import TrustedSchedule
from halidegym.evaluation.arguments.pipeline import named_in_module
from halidegym.native._core import CompileError, Error, InvalidParameter
from halidegym.native.checks import check_seed
from halidegym.native.weights import builtin_weights, weights_hash

HELP = """A SCHEDULE is one of

\b
  greedy, beam, random              found by our planners,
  adams2019, mullapudi2016, li2018  found by Halide's own autoschedulers,
  root                              every Func at the root: what outputs are compared with,
  unscheduled                       the pipeline as its author left it,
  plan.json                         a plan that `halidegym schedule --save` wrote,
  blur.py:by_hand                   a function in a Python file whose parameters are named as Funcs, and schedule them.
"""

_AGENTS: dict[str, Agent] = {
    "greedy": Greedy(),
    "beam": BeamSearch(),
    "random": RandomSearch(num_schedules=1),
    "adams2019": Adams2019(),
    "mullapudi2016": Mullapudi2016(),
    "li2018": Li2018(),
}


@dataclass(frozen=True)
class Contender:
    """A schedule to time.

    Attributes:
        name: what reports call it.
        schedule: the schedule itself; None also if there is none.
        cost: of the cost model; None if unknown.
        failure: why there is no schedule; empty if there is one.
    """

    name: str
    schedule: ScheduleLike
    cost: float | None = None
    failure: str = ""


def with_schedule_help(function: Callable[..., Any]) -> Callable[..., Any]:
    """Append to a command's help what a SCHEDULE may be."""
    function.__doc__ = f"{inspect.getdoc(function)}\n\n{HELP}"
    return function


def needs_search(name: str) -> bool:
    """Whether the text stands for a schedule that has yet to be found."""
    return name in _AGENTS


def find_schedule(problem: SchedulingProblem, name: str, *, seconds: float | None = None, seed: int = 0) -> Contender:
    """The schedule of a problem that the text stands for. An agent that fails is a contender with a failure.

    Args:
        problem: the problem.
        name: see `HELP`.
        seconds: that an agent may search.
        seed: of its random numbers.

    Raises:
        InvalidParameter: the text stands for nothing, or for a plan of another problem; or the seconds or the seed are out
            of range.
        FormatError: the file is no plan.
        KeyboardInterrupt: Ctrl-C ended the agent's search.
    """
    budget, seed = Budget(seconds), check_seed(seed)  # here, since what a search refuses is taken for its failure
    if name == "unscheduled":
        return Contender(name, None)
    if name == "root":
        return Contender(name, TrustedSchedule(problem))
    if name in _AGENTS:
        try:
            plan = _AGENTS[name].plan(problem, seconds=budget.seconds, seed=seed)
        except Error as error:
            # The reason without what is known anyway: target and parameters.
            reason = re.sub(r" with \{.*?\}", "", str(error).replace(f" for {problem.target}", ""))
            return Contender(name, None, failure=reason)
        if plan.ended_by == "interrupt":  # no such agent's schedule, and whoever asks for it is to end, too
            raise KeyboardInterrupt
    elif ":" in name:
        return _manual(problem, name)
    elif Path(name).is_file():
        return _saved(problem, Path(name))
    else:
        why = "it is no plain file" if Path(name).exists() else "there is no such file"
        raise InvalidParameter(
            f"{name!r} is no schedule: {why}; give one of {', '.join(_AGENTS)}, root, unscheduled; or the "
            "file of a plan, or file.py:function"
        )
    return Contender(name, plan.schedule, plan.cost)


def _saved(problem: SchedulingProblem, path: Path) -> Contender:
    # The tuner also schedules for more cores than it runs on, and plans may be made with weights of their own: their costs
    # are not comparable with those of the others.
    recorded = recorded_fingerprint(path)
    plan = Plan.load(path, problem.with_parallelism(recorded.parallelism))
    is_comparable = (recorded.parallelism, recorded.weights_hash) == (
        problem.parallelism,
        weights_hash(builtin_weights()),
    )
    return Contender(path.name, plan.schedule, plan.cost if is_comparable else None)


def _manual(problem: SchedulingProblem, name: str) -> Contender:
    module, _, function = name.rpartition(":")
    try:
        return Contender(function, manual_schedule(problem, named_in_module(module, function)))
    except CompileError as error:
        return Contender(function, None, failure=str(error))
