"""Plans of transforms as values that run."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from halidegym.envs.transform.random_input import transformed_by_numpy
from halidegym.native import _core
from halidegym.native.checks import check_at_least, check_given, check_present

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from halidegym.envs.timing.measurements import Timing
    from halidegym.envs.transform.settings import TransformTimingSettings

MAX_SIZE = 65536
"""Of a transform, as in native/transform/problem.h."""


@dataclasses.dataclass(frozen=True)
class TransformPlan:
    """How a discrete Fourier transform is computed: a tree of steps. An immutable value, which can be called.

    The transform is that of `numpy.fft.fft`, of complex doubles. It is computed by codelets, which transform a few elements
    in vector registers, and by steps that reduce larger transforms to them (Cooley and Tukey)::

        plan  = step
        step  = "codelet" L | "loop" b "(" step ")" | "split" r place "(" step ")" "(" step ")"

    >>> import numpy as np
    >>> plan = TransformPlan(64, "split 4 inplace (codelet 1) (codelet 1)")
    >>> x = np.arange(64) * (1 + 2j)
    >>> np.allclose(plan(x), np.fft.fft(x))
    True

    Args:
        n: size, of the factors 2, 3, 5 and 7, from 2 to 65536.
        text: the steps. Equal plans have equal texts.

    Raises:
        InvalidParameter: the size is impossible, the text cannot be read, or a step does not apply to its problem.
    """

    n: int
    text: str
    _native: _core.TransformPlan = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_at_least(2, MAX_SIZE, **check_present(n=self.n))
        check_given(str, text=self.text)
        native = _core.TransformPlan(int(self.n), self.text)
        object.__setattr__(self, "n", native.n)
        object.__setattr__(self, "text", native.text)
        object.__setattr__(self, "_native", native)

    def __reduce__(self) -> tuple[Any, ...]:
        return TransformPlan, (self.n, self.text)

    def __call__(
        self, x: NDArray[np.complex128], *, out: NDArray[np.complex128] | None = None
    ) -> NDArray[np.complex128]:
        """Transform an array. The first call makes tables of twiddles.

        Args:
            x: contiguous, complex128, one dimension of n elements.
            out: such an array for the result, which must not overlap `x`; None for a new one.

        Raises:
            InvalidParameter: an array is of another kind, or this machine lacks the vectors of a codelet.
        """
        return self._native.run(x, out)

    @property
    def flops(self) -> float:
        """5 n log2 n, by which transforms are compared, whatever they really compute."""
        return self._native.flops

    def problems(self) -> list[_core.TransformStepUse]:
        """Each step with the problem that it solves, and how often it runs, in the order of the text."""
        return self._native.problems()

    def describe(self) -> str:
        """The plan as an indented tree: a line for each step, with its problem, and how often it runs."""
        return "\n".join(
            f"{'  ' * use.level}{use.step}: {use.problem}" + (f", {use.runs} times" if use.runs > 1 else "")
            for use in self.problems()
        )

    def check(self, seed: int = 0) -> float:
        """Relative error against NumPy's transform, in the Euclidean norm, on random numbers."""
        x, expected = transformed_by_numpy(self.n, seed)
        return float(np.linalg.norm(self(x) - expected) / np.linalg.norm(expected))

    def measure(self, settings: TransformTimingSettings | None = None) -> Timing:
        """Time the plan in this process, hot, while no one else of this user measures: as a finalist is timed."""
        from halidegym.envs.transform.measuring import time_alone

        return time_alone(self.n, self.text, settings)
