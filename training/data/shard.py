"""Shards: files of problems and of good plans for them.

Plans are stored, not the states on their way: these are replayed when they are needed, so features may change, and a
problem takes a few kilobytes. A shard is one `.npz` of plain arrays; reading it executes nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import itertools
import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halidegym.native import _core
from halidegym.native._core import FormatError
from halidegym.native.files import write_atomically
from halidegym.native.weights import builtin_weights
from halidegym.training.data.origin import Origin

_KIND, _VERSION = "halidegym plans", 1


@dataclasses.dataclass(frozen=True)
class TaughtPlan:
    """A complete schedule to imitate.

    Attributes:
        cost: of the cost model.
        actions: per decision, the index of the one taken among the legal ones, forced ones included.
        teacher: who found it, such as "beam" or "tree".
        weight: how much it counts.
        targets: per decision, what to learn instead of the one taken, as pairs of an index and its share; empty where that
            is the one taken. The shares of a decision have the sum 1. No shard keeps them.
    """

    cost: float
    actions: tuple[int, ...]
    teacher: str
    weight: float
    targets: tuple[tuple[tuple[int, float], ...], ...] = ()


@dataclasses.dataclass(frozen=True)
class TaughtProblem:
    """A problem, and what is known of its good schedules.

    Attributes:
        name: of its pipeline.
        problem: what `Problem.to_bytes` wrote.
        greedy_cost: cost of greedy search's schedule, which all costs are compared with.
        beam_cost: cost of the beam's schedule.
        plans: best first; at least one.
    """

    name: str
    problem: bytes
    greedy_cost: float
    beam_cost: float
    plans: tuple[TaughtPlan, ...]

    @property
    def cost(self) -> float:
        """The least known one."""
        return self.plans[0].cost

    def space(self) -> _core.Space:
        """The space of its schedules, in which the actions mean something."""
        return _core.Space(_core.Problem.from_bytes(self.problem), builtin_weights())


def digest(problems: Iterable[TaughtProblem]) -> str:
    """SHA-256 of problems and of all that is known of them, whatever their Funcs are called.

    Halide numbers names that a process has had before, so a collection that went on after a kill has other names.
    """
    sha = hashlib.sha256()
    for problem in problems:
        sha.update(repr(dataclasses.replace(problem, problem=b"")).encode())
        sha.update(_core.Problem.from_bytes(problem.problem).identity_bytes())
    return sha.hexdigest()


@dataclasses.dataclass(frozen=True)
class Skipped:
    """A pipeline without plans, and why."""

    name: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Shard:
    """Problems with their plans.

    Attributes:
        origin: what costs and actions depend on.
        recipe: how the plans were made: the teacher's settings with their seed.
        problems: with plans.
        skipped: without.
    """

    origin: Origin
    recipe: Mapping[str, Any]
    problems: tuple[TaughtProblem, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def results(self) -> dict[str, TaughtProblem | Skipped]:
        """What there is of each pipeline, by its name."""
        return {problem.name: problem for problem in self.problems} | {entry.name: entry for entry in self.skipped}

    def to_bytes(self) -> bytes:
        """The shard as a file."""
        plans = [plan for problem in self.problems for plan in problem.plans]
        problems, problem_offsets = _joined([np.frombuffer(p.problem, np.uint8) for p in self.problems], np.uint8)
        actions, action_offsets = _joined([np.array(plan.actions, np.int32) for plan in plans], np.int32)
        metadata = {
            "kind": _KIND,
            "version": _VERSION,
            "origin": dataclasses.asdict(self.origin),
            "recipe": self.recipe,
        }
        file = io.BytesIO()
        np.savez_compressed(
            file,
            metadata=np.frombuffer(json.dumps(metadata, sort_keys=True).encode(), np.uint8),
            names=_texts(p.name for p in self.problems),
            problems=problems,
            problem_offsets=problem_offsets,
            greedy_costs=np.array([p.greedy_cost for p in self.problems], np.float64),
            beam_costs=np.array([p.beam_cost for p in self.problems], np.float64),
            num_plans=np.array([len(p.plans) for p in self.problems], np.int32),
            actions=actions,
            action_offsets=action_offsets,
            costs=np.array([plan.cost for plan in plans], np.float64),
            teachers=_texts(plan.teacher for plan in plans),
            weights=np.array([plan.weight for plan in plans], np.float64),
            skipped=_texts(s.name for s in self.skipped),
            reasons=_texts(s.reason for s in self.skipped),
        )
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Shard:
        """The shard that `to_bytes` wrote.

        Raises:
            FormatError: the bytes are cut short, damaged, of another version, or something else altogether.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                return _shard({name: arrays[name] for name in arrays.files})
        except FormatError:
            raise
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
            raise FormatError(f"The shard is cut short or damaged: {error}. Remove it, and collect it again") from error
        except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            raise FormatError(f"This is no shard of plans: {error}. Give one that was collected here") from error

    def save(self, path: Path) -> None:
        """Write the shard; there is never half a file of this name."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> Shard:
        """Read a file that `save` wrote.

        Raises:
            FormatError: see `from_bytes`, or the file cannot be read.
        """
        try:
            return cls.from_bytes(path.read_bytes())
        except OSError as error:
            raise FormatError(f"Cannot read the shard {path}: {error.strerror}. Check the path") from error
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from error


def _shard(arrays: dict[str, NDArray[Any]]) -> Shard:
    metadata = json.loads(arrays["metadata"].tobytes())
    if metadata["kind"] != _KIND:
        raise ValueError(f"its kind is {metadata['kind']!r}")
    if metadata["version"] != _VERSION:
        raise FormatError(
            f"The shard is of version {metadata['version']}, and this is version {_VERSION}. Collect it again"
        )
    actions = _parts(arrays["actions"].astype(np.int32, casting="safe"), arrays["action_offsets"])
    plans = [
        TaughtPlan(float(cost), tuple(map(int, taken)), str(teacher), float(weight))
        for cost, taken, teacher, weight in zip(
            arrays["costs"], actions, arrays["teachers"], arrays["weights"], strict=True
        )
    ]
    counts = np.concatenate([[0], np.cumsum(arrays["num_plans"])])
    of_problems = [tuple(plans[start:end]) for start, end in itertools.pairwise(counts)]
    problems = [
        TaughtProblem(str(name), problem.tobytes(), float(greedy_cost), float(beam_cost), plans)
        for name, problem, greedy_cost, beam_cost, plans in zip(
            arrays["names"],
            _parts(arrays["problems"].astype(np.uint8, casting="safe"), arrays["problem_offsets"]),
            arrays["greedy_costs"],
            arrays["beam_costs"],
            of_problems,
            strict=True,
        )
    ]
    if counts[-1] != len(plans) or not all(problem.plans for problem in problems):
        raise ValueError("its numbers of plans do not fit")
    skipped = [
        Skipped(str(name), str(reason)) for name, reason in zip(arrays["skipped"], arrays["reasons"], strict=True)
    ]
    return Shard(Origin(**metadata["origin"]), metadata["recipe"], tuple(problems), tuple(skipped))


def _texts(texts: Iterable[str]) -> NDArray[np.str_]:
    return np.array(list(texts), dtype=np.str_)


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All parts one after another, and where each begins and the last one ends."""
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.concatenate([np.empty(0, dtype), *parts]), offsets


def _parts(joined: NDArray[Any], offsets: NDArray[Any]) -> list[NDArray[Any]]:
    if offsets[0] != 0 or offsets[-1] != len(joined) or (np.diff(offsets) < 0).any():
        raise ValueError("its offsets do not fit")
    return [joined[start:end] for start, end in itertools.pairwise(offsets)]
