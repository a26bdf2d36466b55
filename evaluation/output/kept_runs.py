"""Files of runs, a line each, which let a study that was ended go on."""

from __future__ import annotations

import csv
import dataclasses
import fcntl
import io
import math
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from halidegym.native._core import FormatError


class KeptRun(Protocol):
    """A dataclass of texts, integers that are not negative, and floats above zero."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    @property
    def key(self) -> Hashable:
        """What was run."""


R = TypeVar("R", bound=KeptRun)


def read_runs(path: Path, kind: type[R]) -> list[R]:
    """Read what `append_run` has written; nothing if there is no such file, or an empty one.

    A last line that was cut short by a kill is left out, whatever its last field looks like: it has no end of line. Of runs
    that two processes have made, the first one counts.

    Raises:
        FormatError: the file is none of that kind.
    """
    whole = _whole_lines(path, kind)
    if not whole:
        return []
    types: dict[str, Callable[[str], object]] = {"str": str, "int": _count, "float": _amount}
    fields = dataclasses.fields(kind)
    header, *rows = csv.reader(io.StringIO(whole.decode(errors="replace"), newline=""), delimiter="\t")
    if header != [field.name for field in fields]:
        raise _of_something_else(path)
    try:
        runs = [
            kind(**{field.name: types[str(field.type)](cell) for field, cell in zip(fields, row, strict=True)})
            for row in rows
        ]
    except ValueError as error:
        raise FormatError(f"{path} is damaged ({error}); remove the line, or the file") from error
    first: dict[Hashable, R] = {}
    for run in runs:
        first.setdefault(run.key, run)
    return list(first.values())


def begin_runs(path: Path, kind: type[KeptRun]) -> None:
    """Make the file and its folder, if they are missing. A last line that was cut short is removed.

    Raises:
        FormatError: the file is none of that kind.
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _append(path, kind, "")


def append_run(path: Path, run: KeptRun) -> None:
    """Write a run to the end of a file that has begun. Several processes may write to one file.

    Raises:
        FormatError: the file is none of that kind.
        OSError: the file cannot be written.
    """
    line = io.StringIO()
    csv.writer(line, delimiter="\t", lineterminator="\n").writerow(dataclasses.astuple(run))
    _append(path, type(run), line.getvalue())


def _append(path: Path, kind: type[KeptRun], line: str) -> None:
    """Write a line behind the whole ones, and the header before the first one."""
    with path.open("a", newline="", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # or what another process is writing would be taken for what was cut short
        whole = _whole_lines(path, kind)
        file.truncate(len(whole))
        file.write(line if whole else _header(kind) + line)


def _whole_lines(path: Path, kind: type[KeptRun]) -> bytes:
    """The lines of a file of runs that were written to their ends; none if there is no file.

    Raises:
        FormatError: there is a part of a line only, and not of the header, so that the file is something else.
    """
    text = path.read_bytes() if path.exists() else b""
    whole = text[: text.rfind(b"\n") + 1]
    if not whole and not _header(kind).encode().startswith(text):
        raise _of_something_else(path)
    return whole


def _count(cell: str) -> int:
    count = int(cell)
    if count < 0:
        raise ValueError(f"{cell} is negative")
    return count


def _amount(cell: str) -> float:
    amount = float(cell)
    if not 0 < amount < math.inf:  # means are geometric
        raise ValueError(f"{cell} is not above zero, or not finite")
    return amount


def _header(kind: type[KeptRun]) -> str:
    return "\t".join(field.name for field in dataclasses.fields(kind)) + "\n"


def _of_something_else(path: Path) -> FormatError:
    return FormatError(f"{path} holds no runs of this study; name another file, or remove it")
