"""Problems that no autoscheduler can solve, each for its own reason."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Literal

import halide as hl

from oracle.builder_problem import SSE_AVX2


@dataclass(frozen=True)
class FailingProblem:
    """A problem whose pipeline has no estimates, or cannot be built without the end of the process, or its memory."""

    reason: Literal["without_estimates", "crash", "memory"]
    parallelism: int = 4
    target: str = SSE_AVX2

    def pipeline(self) -> hl.Pipeline:
        if self.reason == "crash":
            print("nothing left to do", file=sys.stderr, flush=True)
            os.abort()
        if self.reason == "memory":
            bytearray(4 << 30)
        x = hl.Var("x")
        f = hl.Func("f")
        f[x] = x
        return hl.Pipeline(f)
