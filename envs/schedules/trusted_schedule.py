"""The schedule whose results are believed."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import halide as hl

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native import _core


@dataclasses.dataclass(frozen=True)
class TrustedSchedule:
    """Every Func at the root; of its pure loops the innermost is vectorized, and the outermost of several parallel.

    Too simple to be wrong, yet fast enough to be run: an unscheduled pipeline computes everything inline, which can take
    exponentially long. It is what the results of all other schedules are compared with. Immutable and picklable.

    Attributes:
        problem: the problem that it schedules.
        is_vectorized: whether loops are vectorized at all. Halide 21 refuses it, and gives no reason, for a few Funcs, such
            as one that reads another one backwards and whose extent is no multiple of the vectors.
    """

    problem: SchedulingProblem
    is_vectorized: bool = True

    def pipeline(self) -> hl.Pipeline:
        """A fresh copy of the pipeline with the schedule applied, to be compiled or run."""
        pipeline = self.problem.pipeline()
        nodes = {node.name: node for node in self.problem.nodes}
        for func in all_funcs(pipeline):
            func.compute_root()
            if node := nodes.get(func.name()):
                for stage in self.problem.stages[node.first_stage : node.first_stage + node.num_stages]:
                    self._schedule(func if stage.index == 0 else func.update(stage.index - 1), stage, node.args)
        return pipeline

    def _schedule(self, handle: hl.Func | hl.Stage, stage: _core.Stage, arguments: Sequence[str]) -> None:
        pure = [hl.Var(loop.variable) for loop in stage.loops if loop.pure and not loop.rvar]
        if pure and self.is_vectorized:
            # `vectorize` with a size would call the lanes v0 or v1, which may be a Var of the pipeline.
            lanes = hl.Var(_unused(f"{pure[0].name()}_lanes", {*arguments, *(loop.variable for loop in stage.loops)}))
            # Neither reads nor writes a point that the others do not, however odd the extent.
            handle.split(pure[0], pure[0], lanes, stage.vector_size, hl.TailStrategy.GuardWithIf).vectorize(lanes)
        if len(pure) > 1:
            handle.parallel(pure[-1])


def _unused(name: str, names: Collection[str]) -> str:
    return _unused(name + "_", names) if name in names else name


def all_funcs(pipeline: hl.Pipeline) -> list[hl.Func]:
    """The Funcs of a pipeline, producers before consumers."""
    funcs: list[hl.Func] = []
    while True:
        try:
            funcs.append(pipeline.get_func(len(funcs)))
        except hl.HalideError:
            return funcs
