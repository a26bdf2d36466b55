"""Stored problems come back whole, and bytes that are no problem are refused."""

import contextlib
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import halide as hl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import FormatError, InternalError, Problem, UnsupportedPipeline
from pipelines_for_tests import ALL

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"
HEADER = struct.Struct("<8sIQQ")  # magic, version, length and checksum of the payload


def problem_of(pipeline: hl.Pipeline, parallelism: int = 8, target: str = TARGET, name: str = "test") -> Problem:
    return SchedulingProblem.from_pipeline(pipeline, target=target, parallelism=parallelism, name=name).native


def fnv1a(data: bytes) -> int:
    checksum = 0xCBF29CE484222325
    for byte in data:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    return checksum


def signed(payload: bytes) -> bytes:
    """The payload as a file that passes for whole."""
    return HEADER.pack(b"HLGYMPRB", 1, len(payload), fnv1a(payload)) + payload


def contents(value: object) -> object:
    """All that an object of the core shows, as plain data."""
    if isinstance(value, list):
        return [contents(element) for element in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if type(value).__module__.endswith("_core"):
        attributes = [name for name in dir(value) if not name.startswith("_")]
        return {n: contents(getattr(value, n)) for n in attributes if not callable(getattr(value, n))}
    return value


# Regions that need expressions, several updates and outputs, tuples.
STORED = {name: problem_of(ALL[name]()).to_bytes() for name in ("blur", "scan", "triangular", "tuple_of_types")}


@pytest.mark.parametrize("name", ALL)
def test_a_stored_problem_comes_back_whole(name: str) -> None:
    problem = problem_of(ALL[name]())
    stored = problem.to_bytes()
    restored = Problem.from_bytes(stored)
    assert contents(restored) == contents(problem)
    assert restored.expressions == problem.expressions
    assert restored.to_bytes() == stored
    assert contents(pickle.loads(pickle.dumps(problem))) == contents(problem)


def test_other_processes_agree() -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pipelines_for_tests import ALL\n"
        "from halidegym.envs.problems.problem import SchedulingProblem\n"
        "problem = SchedulingProblem.from_pipeline(ALL['triangular'](), target=sys.argv[2], parallelism=8).native\n"
        "print(problem.identity_bytes().hex())"
    )
    arguments = [sys.executable, "-c", script, str(Path(__file__).parents[1]), TARGET]
    first, second = (subprocess.run(arguments, check=True, capture_output=True, text=True).stdout for _ in range(2))
    assert first == second
    assert len(first) > 1000


def test_identity_is_what_a_search_depends_on() -> None:
    pipeline = ALL["stencil3"]()
    problem = problem_of(pipeline)
    assert problem_of(pipeline, name="other").identity_bytes() == problem.identity_bytes()
    assert problem_of(pipeline, parallelism=9).identity_bytes() != problem.identity_bytes()
    assert problem_of(pipeline, target="x86-64-linux").identity_bytes() != problem.identity_bytes()
    assert problem_of(ALL["scan"]()).identity_bytes() != problem.identity_bytes()


def opaque_pipeline() -> hl.Pipeline:
    """Loads at a coordinate that only Halide can compute: it goes through a 16-bit float."""
    x = hl.Var("x")
    producer, consumer = hl.Func("producer"), hl.Func("consumer")
    producer[x] = x * 2
    consumer[x] = producer[hl.i32(hl.cast(hl.Float(16), x))]
    consumer.set_estimates([(0, 100)])
    return hl.Pipeline(consumer)


def test_problems_that_need_halide_are_not_stored() -> None:
    problem = problem_of(opaque_pipeline(), name="opaque")
    assert not problem.is_portable
    [edge] = problem.edges
    assert [problem.expressions[bound.expression].evaluate([0, 99]) for bound in edge.bounds] == [0, 99]
    with pytest.raises(UnsupportedPipeline, match="'opaque' cannot be stored"):
        problem.to_bytes()
    with pytest.raises(UnsupportedPipeline):
        pickle.dumps(problem)
    assert b"float16" in problem.identity_bytes()


def test_problems_are_read_only() -> None:
    problem = problem_of(ALL["blur"]())
    with pytest.raises(AttributeError):
        problem.name = "other"  # type: ignore[misc]
    features = problem.stages[0].features
    assert features.shape == (287,) and features.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        features[0] = 1


def test_parts_keep_their_problem_alive() -> None:
    stage = problem_of(ALL["blur"]()).stages[0]
    features = stage.features
    loops = stage.loops
    del stage
    assert features.sum() > 0
    assert [loop.variable for loop in loops] == ["x", "y"]


@pytest.mark.parametrize("name", STORED)
def test_truncated_bytes_are_refused(name: str) -> None:
    stored = STORED[name]
    for length in range(len(stored)):
        with pytest.raises(FormatError, match=r"this is no readable problem: .*; save the problem again"):
            Problem.from_bytes(stored[:length])


@given(name=st.sampled_from(list(STORED)), data=st.data())
def test_flipped_bits_are_noticed(name: str, data: st.DataObject) -> None:
    stored = bytearray(STORED[name])
    stored[data.draw(st.integers(0, len(stored) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(FormatError):
        Problem.from_bytes(bytes(stored))


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    for candidate in (data, signed(data)):
        with pytest.raises(FormatError):
            Problem.from_bytes(candidate)


@given(name=st.sampled_from(list(STORED)), data=st.data())
def test_a_forged_checksum_does_no_harm(name: str, data: st.DataObject) -> None:
    """What passes the checksum is still read with care, and what is accepted can be used."""
    payload = bytearray(STORED[name][HEADER.size :])
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(payload) - 1))
        payload[position] = data.draw(st.sampled_from([0, 1, 2, 3, 127, 128, 255, payload[position] ^ 1]))
    if data.draw(st.booleans()):
        del payload[data.draw(st.integers(0, len(payload) - 1)) :]
    try:
        problem = Problem.from_bytes(signed(bytes(payload)))
    except FormatError:
        return
    assert Problem.from_bytes(problem.to_bytes()).to_bytes() == problem.to_bytes()
    for expression in problem.expressions:
        with contextlib.suppress(InternalError):
            expression.evaluate([5] * expression.num_symbols)


def test_other_versions_are_refused() -> None:
    stored = bytearray(STORED["blur"])
    stored[8] = 2
    with pytest.raises(FormatError, match="version 2, not 1"):
        Problem.from_bytes(bytes(stored))
