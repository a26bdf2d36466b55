"""Reading what was collected."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from halidegym.envs.pipelines import generated
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.native.checks import checked_path
from halidegym.training.data.origin import Origin
from halidegym.training.data.shard import Shard, Skipped, TaughtProblem


def load_split(folder: str | os.PathLike[str], split: Literal["train", "validation"]) -> list[TaughtProblem]:
    """The problems of a split below the folder that `halidegym train data` wrote, as far as their shards are complete.

    They come in the order of their numbers, so that those of several suites take turns.

    Raises:
        InvalidParameter: there are none, or `folder` is no path.
        FormatError: a shard is damaged, was made under other conditions than now or than the others, or holds pipelines
            of another split or of another shard.
    """
    folder = checked_path("folder", folder)
    paths = sorted((folder / split).glob("plans-*.npz"))
    problems = list[TaughtProblem]()
    found_in = dict[str, Path]()
    skipped = list[Skipped]()
    origin: Origin | None = None
    for path in paths:
        shard = Shard.load(path)
        origin = origin or Origin.here(shard.origin.target, shard.origin.parallelism)
        shard.origin.check(origin, str(path))
        for problem in shard.problems:
            if generated.split_of(problem.name) != split:
                raise FormatError(f"{path} holds {problem.name}, which is not of the {split} split. Remove the file")
            if problem.name in found_in:
                raise FormatError(
                    f"{path} holds {problem.name}, which {found_in[problem.name]} holds, too. Remove the file, and collect "
                    "what is missing then"
                )
            found_in[problem.name] = path
        problems += shard.problems
        skipped += shard.skipped
    if not problems and skipped:
        raise InvalidParameter(
            f"There are no plans in {folder / split}: the teacher skipped all of its {len(skipped)} pipelines, such as "
            f"{skipped[0].name} ({skipped[0].reason}). Collect more pipelines, or with another teacher into another folder"
        )
    if not problems:
        raise InvalidParameter(
            f"There are no plans in {folder / split}; collect some: halidegym train data --output {folder}"
        )
    return sorted(problems, key=_place)


def _place(problem: TaughtProblem) -> tuple[int, str]:
    suite, number = generated.suite_and_number(problem.name)
    return number, suite
