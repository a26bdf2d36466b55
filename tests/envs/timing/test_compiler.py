"""What keeps a machine from compiling."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from halidegym.envs.sources import load_problem
from halidegym.envs.timing.compiler import CannotCompile, Compiler


def test_an_end_to_what_files_may_have_is_named_as_the_reason(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, before[1]))
    try:
        with (
            Compiler() as compiler,
            pytest.raises(CannotCompile, match=r"files may have 512 bytes at most; .* ulimit -f"),
        ):
            compiler.compile(load_problem("toy_pointwise"), None, tmp_path / "kernel.so")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
