"""Problems whose pipeline is built anew in the plugin's process, so that its Funcs have the names as written."""

from __future__ import annotations

from dataclasses import dataclass

import halide as hl

import pipelines_for_tests

SSE_AVX2 = "x86-64-linux-avx-avx2-f16c-fma-sse41"
AVX512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"


@dataclass(frozen=True)
class BuilderProblem:
    """A pipeline of ``pipelines_for_tests``, as the reference autoschedulers want it."""

    name: str
    parallelism: int = 16
    target: str = SSE_AVX2

    def pipeline(self) -> hl.Pipeline:
        return pipelines_for_tests.ALL[self.name]()
