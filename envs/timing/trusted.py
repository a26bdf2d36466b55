"""What schedules are compared with: the outputs of the trusted one, and the inputs that it made them of."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.timing.kernel import KernelFailed, Regions, RunningKernel
from halidegym.native._core import Error


@dataclasses.dataclass(frozen=True)
class Trusted:
    """What the trusted schedule of a problem, which asks for no more of the inputs than the pipeline itself, came to.

    Attributes:
        outputs: the folder that holds them.
        inputs: as it asked for them.
        is_exact: whether the pipeline computes with integers alone, whose results are the same in every order.
    """

    outputs: Path
    inputs: Regions
    is_exact: bool

    @classmethod
    def of(cls, problem: SchedulingProblem, running: RunningKernel, directory: Path) -> Trusted:
        """What a run of the trusted schedule came to; the outputs go to a directory.

        Raises:
            KernelFailed: they cannot be written.
        """
        running.outputs(directory)
        return cls(directory, running.inputs(), not _computes_with_floats(problem))

    def check(self, running: RunningKernel) -> str:
        """Compare the outputs of another schedule with these.

        Returns:
            In words, the inputs that it asks more of; empty if there are none.

        Raises:
            KernelFailed: the outputs are not the same.
        """
        larger = _beyond(running.inputs(), self.inputs)
        try:
            running.check(self.outputs, is_exact=self.is_exact)
        except KernelFailed as failed:
            raise KernelFailed(failed.outcome, failed.error, larger) from None
        return larger


def cannot_verify(problem: SchedulingProblem, failed: KernelFailed) -> Error:
    """The error of a problem whose trusted schedule failed, so that there is nothing to compare outputs with."""
    remedy = (
        f"This processor lacks an instruction of the target {problem.target}: leave out its feature."
        if "SIGILL" in failed.error
        else "Mend the pipeline or its estimates, give it more time or memory, or do not verify (verify=False, or "
        "--no-verify)."
    )
    reason = failed.error.strip().rstrip(".")
    return Error(
        f"{problem.name}: the trusted schedule, which outputs are compared with, fails: {failed.outcome}: {reason}. {remedy}"
    )


def _beyond(regions: Regions, provided: Regions) -> str:
    """In words, which regions are larger than those that are provided, and how; empty if none is."""
    words = []
    for name, region in regions.items():
        for dimension, ((least, extent), (first, size)) in enumerate(zip(region, provided.get(name, ()), strict=False)):
            if least < first or least + extent > first + size:
                asked, given = f"{least} to {least + extent - 1}", f"{first} to {first + size - 1}"
                words.append(f"{name!r} from {asked} in dimension {dimension}, not {given}")
    return "; ".join(words)


def _computes_with_floats(problem: SchedulingProblem) -> bool:
    """Whether the order of float operations, which is the compiler's choice, can tip the rounding to an integer."""
    # Rows of the histogram are operations, columns types, the last two of them floats
    # (docs/specification/function-dag.md, section 9.1).
    return any(stage.features[7:175].reshape(-1, 7)[:, 5:].any() for stage in problem.stages)
