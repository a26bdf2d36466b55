"""Generated problems in files, with their greedy costs."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import math
import struct
from pathlib import Path

from halidegym.envs.generated_problems import GeneratedProblems
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.processes.files import cache_directory
from halidegym.native import _core
from halidegym.native.files import write_atomically
from halidegym.native.weights import weights_hash

# A file: the magic, the key that says what it was made of, the SHA-256 of what follows, the greedy cost, and the problem.
_MAGIC = b"halidegym prepared problem 1\n"
_HEADER = struct.Struct("<32s32s")
_COST = struct.Struct("<d")


class ProblemFiles:
    """A file for each problem, in the user's cache directory; they may be deleted at any time.

    A file counts if it is whole and was made of the same, by the very same core; anything else is as good as none. Where
    none can be written, there are none. Several processes may use them at once.

    Args:
        source: of the problems.

    Attributes:
        key: digest of all that problems and costs depend on but their number.
    """

    def __init__(self, source: GeneratedProblems) -> None:
        self._source = source
        parts = (
            *source.suites,
            source.target,
            str(source.parallelism),
            repr(source.rules),
            weights_hash(source.weights),
            importlib.metadata.version("halide"),
            _core_hash(),
        )
        self.key = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def read(self, number: int) -> PreparedProblem | None:
        """The problem of this number; None if there is no good file of it."""
        try:
            data = self._path(number).read_bytes()
            key, digest = _HEADER.unpack_from(data, len(_MAGIC))
            body = data[len(_MAGIC) + _HEADER.size :]
            if not data.startswith(_MAGIC) or key != self._key_of(number) or digest != hashlib.sha256(body).digest():
                return None
            (greedy_cost,) = _COST.unpack_from(body)
            problem = SchedulingProblem.from_bytes(body[_COST.size :])
        except (OSError, struct.error, _core.FormatError):
            return None
        return self._source.prepared(problem, None if math.isnan(greedy_cost) else greedy_cost)

    def write(self, number: int, prepared: PreparedProblem) -> None:
        """Keep a problem, with the cost that greedy search finds."""
        body = _COST.pack(prepared.speedup(1.0)) + prepared.problem.to_bytes()
        with contextlib.suppress(OSError):
            path = self._path(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, _MAGIC + _HEADER.pack(self._key_of(number), hashlib.sha256(body).digest()) + body)

    def _path(self, number: int) -> Path:
        return cache_directory() / "problems" / self.key[:32] / f"{number}.problem"

    def _key_of(self, number: int) -> bytes:
        return hashlib.sha256(f"{self.key} {number}".encode()).digest()


@functools.cache
def _core_hash() -> str:
    """Of the compiled core, since another one may analyse or search otherwise."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()
