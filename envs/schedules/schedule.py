"""A complete schedule as a value: shown as source code, applied to a pipeline, sent to another process."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import halide as hl

from halidegym.envs.problems.problem import NoPipeline, SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.native import _core
from halidegym.native.checks import check_given, checked_integers, shown


@dataclasses.dataclass(frozen=True, repr=False)
class Schedule:
    """How every Func of a pipeline is computed. Immutable and picklable.

    Attributes:
        problem: the problem that it schedules.
        directives: the scheduling calls, one entry a scheduled stage, as plain data.
        nest: the text of the loop nest.
    """

    problem: SchedulingProblem
    directives: tuple[_core.StageDirectives, ...]
    nest: str

    @classmethod
    def from_state(cls, problem: SchedulingProblem, state: _core.State) -> Schedule:
        """The schedule that a complete state of this problem stands for.

        Raises:
            InvalidParameter: decisions are still to be made, or `state` is none.
        """
        if not isinstance(state, _core.State) or not state.is_complete:
            check_given(_core.State, state=state)
            state.directives()  # raises
        schedule = object.__new__(cls)
        values = schedule.__dict__
        values["problem"], values["_state"] = problem, state
        return schedule

    @classmethod
    def from_actions(cls, problem: SchedulingProblem, rules: Rules, actions: Sequence[int]) -> Schedule:
        """The schedule that a complete sequence of decisions leads to; they mean something only under their rules.

        Raises:
            InvalidParameter: an action is illegal, or there are too few or too many; or an argument is something else.
        """
        check_given(SchedulingProblem, problem=problem)
        check_given(Rules, rules=rules)
        state = rules.space(problem).initial_state()
        for action in checked_integers("actions", actions, 0):
            state = state.apply(action)
        return cls.from_state(problem, state)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """What a state tells, once it is asked for: most schedules that episodes end with are never looked at."""
            values = vars(self)
            if (state := values.get("_state")) is not None:
                values.update(directives=tuple(state.directives()), nest=state.dump())
                values.pop("_state", None)
            if name not in values:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return values[name]

    def __reduce__(self) -> tuple[type[Schedule], tuple[object, ...]]:
        return type(self), (self.problem, self.directives, self.nest)

    def __repr__(self) -> str:
        return (
            f"Schedule({self.problem.name!r}, target={self.problem.target!r}, parallelism={self.problem.parallelism})"
        )

    def __str__(self) -> str:
        """The loop nest."""
        return self.loop_nest()

    def cpp(self, *, function: str | None = None) -> str:
        """C++ source that schedules a pipeline.

        Args:
            function: name of a function to make of it, which takes the `Halide::Pipeline` and compiles in any file that
                includes Halide.h. None for statements about a `Pipeline pipeline`: for the same loop nest they are, to
                the letter, what Halide's Adams2019 autoscheduler prints, and declare all Funcs and Vars. As there, a
                `$` in a name becomes an underscore.

        Raises:
            InvalidParameter: `function` is no identifier, or a word that C++, Python or the source itself has.
        """
        directives = list(self.directives)
        if function is None:
            return _core.schedule_source(self.problem.native, directives)
        body = textwrap.indent(_core.cpp_statements(self.problem.native, directives), "    ")
        return f"void {check_function_name(function)}(Halide::Pipeline pipeline) {{\n    using namespace Halide;\n{body}}}\n"

    def python(self, *, function: str | None = None) -> str:
        """Python source that schedules a pipeline.

        Args:
            function: name of a function to make of it, which takes the `halide.Pipeline`. None for statements about a
                `halide.Pipeline` named `pipeline`.

        Raises:
            InvalidParameter: `function` is no identifier, or a word that C++, Python or the source itself has.
        """
        source = _core.python_source(self.problem.native, list(self.directives))
        if function is None:
            return source
        imports, _, body = source.partition("\n\n")
        return f"{imports}\n\n\ndef {check_function_name(function)}(pipeline):\n{textwrap.indent(body, '    ')}"

    def loop_nest(self) -> str:
        """The loop nest as indented text, in the notation of the Adams2019 autoscheduler.

        One line a loop level: the Func, the trip counts innermost first (`v`: vectorized, `c`: of constant extent), the
        vectorized loop and storage dimension, and `t` (may be tiled further), `p` (parallel) or `*` (innermost).
        """
        return self.nest.removeprefix("\n")

    def pipeline(self) -> hl.Pipeline:
        """A fresh copy of the pipeline with the schedule applied, to be compiled or run.

        Raises:
            CompileError: Halide refuses a call.
        """
        pipeline = self.problem.pipeline()
        _core.apply_schedule(self.problem.native, list(self.directives), pipeline, pipeline)
        return pipeline

    def apply(self, pipeline: hl.Pipeline | hl.Func) -> None:
        """Schedule a pipeline: the one that the problem was made from, or one built in the same way.

        Names do not count, since Halide numbers those that it makes: Funcs are found by their place among the calls.

        Args:
            pipeline: unscheduled; its Funcs are changed.

        Raises:
            InvalidParameter: it is another pipeline, or has a schedule already; nothing was changed.
            CompileError: Halide refuses a call; the calls before it stay in effect.
            NoPipeline: `pipeline` is none, or has no outputs, a TypeError.
        """
        target = hl.Pipeline(pipeline) if isinstance(pipeline, hl.Func) else pipeline
        if not isinstance(target, hl.Pipeline) or not target.defined():
            raise NoPipeline(
                f"pipeline={shown(pipeline)} has no Funcs to schedule; give the halide.Func or halide.Pipeline that the "
                "problem was made from, or one that is built in the same way"
            )
        _core.apply_schedule(self.problem.native, list(self.directives), self.problem.pipeline(), target)


def check_function_name(name: str) -> str:
    """Return the name if a function may be called so, in C++ as well as in Python.

    Raises:
        InvalidParameter: it may not.
    """
    if not (isinstance(name, str) and name.isidentifier() and name.isascii()):
        raise _core.InvalidParameter(f"function={name!r} is no name of a function; give an identifier")
    if _core.is_reserved(name):
        raise _core.InvalidParameter(
            f"function={name!r} is a word that C++, Python or the source itself has; give an identifier of your own"
        )
    return name
