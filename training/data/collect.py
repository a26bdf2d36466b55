"""Collecting plans: every pipeline once, in processes of their own, whatever kills them or us."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pydantic

from halidegym.envs.pipelines import generated
from halidegym.envs.processes.folder_lock import FolderLock
from halidegym.envs.processes.workers import Workers
from halidegym.native._core import FormatError
from halidegym.training.data.journal import Journal
from halidegym.training.data.origin import Origin
from halidegym.training.data.shard import Shard, Skipped, TaughtProblem
from halidegym.training.data.teacher import TeacherSettings, teach
from halidegym.training.settings import Settings
from halidegym.training.splits import check_may_learn_from
from halidegym.training.workers import Failed, connected, in_processes

OnPipeline: TypeAlias = Callable[[str], None]
"""Called with the name of each pipeline when it is done."""


class DataSettings(Settings):
    """What to collect.

    Attributes:
        pipelines: how many of each suite of generated pipelines, from number 0 on.
        target: Halide target string that schedules are made for.
        parallelism: number of cores that schedules are made for.
        per_shard: pipelines in a file.
        teacher: how plans are found.
    """

    pipelines: dict[str, int]
    target: str
    parallelism: int = pydantic.Field(ge=1)
    per_shard: int = pydantic.Field(ge=1, le=10000)
    teacher: TeacherSettings

    @pydantic.field_validator("pipelines")
    @classmethod
    def _may_be_learned_from(cls, pipelines: dict[str, int]) -> dict[str, int]:
        for suite, count in pipelines.items():
            check_may_learn_from(suite)
            if not 1 <= count <= generated.COUNT:
                raise ValueError(f"there are no {count} pipelines of {suite}; give a number of at least 1")
        return pipelines


@dataclass(frozen=True)
class Collected:
    """What the files of a split hold, of all collections into the folder, as who learns from them reads it.

    Attributes:
        folder: of the files.
        problems: with plans.
        plans: of them.
        skipped: pipelines without.
    """

    folder: Path
    problems: int
    plans: int
    skipped: int


def collect(
    settings: DataSettings, folder: Path, *, workers: Workers, on_pipeline: OnPipeline = lambda _name: None
) -> Iterator[Collected]:
    """Collect plans into `folder`, in a folder for each split; what is there already is not made again.

    Yields:
        What there is of each split, when it is complete.

    Raises:
        FormatError: a file in the folder is damaged, or was made under other conditions.
        InvalidParameter: another process collects into the folder.
        Error: the Ray cluster cannot be used.
    """
    with FolderLock(folder), connected(workers):
        yield from _collect(settings, folder, workers, on_pipeline)


def _collect(settings: DataSettings, folder: Path, workers: Workers, on_pipeline: OnPipeline) -> Iterator[Collected]:
    origin = Origin.here(settings.target, settings.parallelism)
    empty = Shard(origin, settings.teacher.model_dump(), ())
    for split in dict.fromkeys(generated.SUITES[suite] for suite in settings.pipelines):
        (folder / split).mkdir(parents=True, exist_ok=True)
        for suite, count in settings.pipelines.items():
            if generated.SUITES[suite] == split:
                _check_places(folder / split, suite, settings.per_shard)
                names = [f"{suite}/{number}" for number in range(count)]
                for file, start in enumerate(range(0, count, settings.per_shard)):
                    path = folder / split / f"{_stem(suite)}{file:05}.npz"
                    named = names[start : start + settings.per_shard]
                    _complete(path, named, empty, settings.teacher, workers, on_pipeline)
        shards = [Shard.load(path) for path in (folder / split).glob("plans-*.npz")]
        problems = [problem for shard in shards for problem in shard.problems]
        skipped = sum(len(shard.skipped) for shard in shards)
        yield Collected(folder / split, len(problems), sum(len(problem.plans) for problem in problems), skipped)


def _stem(suite: str) -> str:
    """How names of files of the suite begin, before their number."""
    version = generated.version_of(suite)
    return "plans-" if version == 1 else f"plans-v{version}-"


def _check_places(folder: Path, suite: str, per_shard: int) -> None:
    """Check that each file holds pipelines that it would be given now, so that none comes into two files."""
    stem = _stem(suite)
    for path in sorted([*folder.glob(f"{stem}[0-9]*.npz"), *folder.glob(f"{stem}[0-9]*.journal")]):
        shards = [Shard.load(path)] if path.suffix == ".npz" else map(Shard.from_bytes, Journal(path).entries)
        first = int(path.stem.removeprefix(stem)) * per_shard
        own = {f"{suite}/{number}" for number in range(first, first + per_shard)}
        others = [name for shard in shards for name in shard.results if name not in own]
        if others:
            raise FormatError(
                f"{path} holds {others[0]}, which another file would with per_shard={per_shard}. Collect into another "
                "folder, or with the per_shard of before"
            )


def _complete(
    path: Path, names: Sequence[str], empty: Shard, teacher: TeacherSettings, workers: Workers, on_pipeline: OnPipeline
) -> None:
    """Complete the shard of these pipelines, of the file, of the journal of who began it, and of what is missing."""
    journal = Journal(path.with_suffix(".journal"))
    known = [Shard.load(path)] if path.exists() else []
    known += [Shard.from_bytes(entry) for entry in journal.entries]
    for shard in known:
        _check(shard, empty, path)
    results = {name: result for shard in known for name, result in shard.results.items()}
    missing = [name for name in names if name not in results]
    for name in names:
        if name in results:
            on_pipeline(name)
    arguments = [(name, teacher, empty.origin.target, empty.origin.parallelism) for name in missing]
    for name, result in zip(missing, in_processes(teach, arguments, workers), strict=True):
        results[name] = Skipped(name, result.reason) if isinstance(result, Failed) else result
        journal.append(_shard([results[name]], empty).to_bytes())
        on_pipeline(name)
    order = [*names, *(name for name in results if name not in set(names))]
    if missing or journal.entries:
        _shard([results[name] for name in order], empty).save(path)
        journal.remove()


def _shard(results: Sequence[TaughtProblem | Skipped], empty: Shard) -> Shard:
    problems = tuple(result for result in results if isinstance(result, TaughtProblem))
    skipped = tuple(result for result in results if isinstance(result, Skipped))
    return Shard(empty.origin, empty.recipe, problems, skipped)


def _check(shard: Shard, wanted: Shard, path: Path) -> None:
    shard.origin.check(wanted.origin, str(path))
    differing = {key for key in {*shard.recipe, *wanted.recipe} if shard.recipe.get(key) != wanted.recipe.get(key)}
    if differing:
        raise FormatError(
            f"{path} was made with other settings: {_shown(shard.recipe, differing)} instead of "
            f"{_shown(wanted.recipe, differing)}. Collect into another folder, or with the settings of before"
        )


def _shown(recipe: Mapping[str, Any], keys: set[str]) -> str:
    return ", ".join(f"{key}={recipe.get(key)}" for key in sorted(keys))
