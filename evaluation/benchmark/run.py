"""A run: the folder in which a suite's results come together, or one file with all of it, a submission.

run.json says what is run, cells/ has a file for each cell that is done, timings/ one for each pipeline.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halidegym.envs.processes.folder_lock import LOCK
from halidegym.envs.timing.machine import Machine, this_machine
from halidegym.evaluation.benchmark.cells import Cell, CellResult, cells_of
from halidegym.evaluation.benchmark.growth import grown
from halidegym.evaluation.benchmark.suite import Suite
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.native.fields import checked_fields
from halidegym.native.files import write_atomically
from halidegym.training.settings import parse_settings

RUN, CELLS, TIMINGS = "run.json", "cells", "timings"
_KIND, _VERSION = "halidegym run", 1
_LONGEST_FILE = 64 << 20  # of a submission; a cell has some kilobytes


@dataclass(frozen=True)
class Header:
    """What is run, and where.

    Attributes:
        suite: all of it.
        parallelism: number of cores that schedules are made for.
        machine: that everything ran on.
        version: of halidegym, that began it.
    """

    suite: Suite
    parallelism: int
    machine: Machine
    version: str

    @classmethod
    def here(cls, suite: Suite) -> Header:
        """A suite on this machine."""
        parallelism = suite.parallelism or len(os.sched_getaffinity(0))
        return cls(suite, parallelism, this_machine(), importlib.metadata.version("halidegym"))

    def to_bytes(self) -> bytes:
        """As run.json has it."""
        document = {
            "kind": _KIND,
            "format": _VERSION,
            "suite": self.suite.model_dump(mode="json"),
            "parallelism": self.parallelism,
            "machine": dataclasses.asdict(self.machine),
            "version": self.version,
        }
        return (json.dumps(document, indent=1) + "\n").encode()

    @classmethod
    def parse(cls, data: bytes, origin: str) -> Header:
        """Read what `to_bytes` wrote.

        Raises:
            FormatError: it is none, of another version, or damaged.
        """
        try:
            document = json.loads(data)
            if (document["kind"], document["format"]) != (_KIND, _VERSION):
                raise FormatError(f"it is a {document['kind']} of format {document['format']}")
            suite = parse_settings(Suite, document["suite"], "its suite")
            return checked_fields(
                cls(suite, document["parallelism"], Machine(**document["machine"]), document["version"])
            )
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FormatError(f"{origin} says of no run of a suite what was run: {error}") from error


class Run:
    """The results of a run, read once.

    Args:
        path: of the folder or file.

    Attributes:
        path: the same.
        header: what is run.
        cells: all of them, with their files' names.

    Raises:
        FormatError: it is no run, or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = _files(path)
        if RUN not in self._files:
            raise FormatError(
                f"{path} is no run: there is no {RUN} in it; give the folder that `halidegym bench` wrote"
            )
        self.header = Header.parse(self._files[RUN], f"{path}/{RUN}")
        self.cells: Mapping[str, Cell] = {
            f"{CELLS}/{cell.file_name}": cell for cell in cells_of(self.header.suite, self.header.parallelism)
        }

    @property
    def suite(self) -> Suite:
        """What is run."""
        return self.header.suite

    def results(self) -> dict[str, CellResult]:
        """Those that are there, by the names of their files, in the order of the cells.

        Raises:
            FormatError: a file is damaged.
        """
        return {
            name: CellResult.parse(self._files[name], f"{self.path}/{name}")
            for name in self.cells
            if name in self._files
        }

    @property
    def missing(self) -> int:
        """How many cells have no result yet."""
        return sum(name not in self._files for name in self.cells)

    def strangers(self) -> list[str]:
        """Names of files of results that are of no cell of the suite."""
        return [name for name in self._files if name.startswith(f"{CELLS}/") and name not in self.cells]

    def timings(self) -> dict[str, dict[str, Any]]:
        """By pipeline what was measured, as the file says.

        Raises:
            FormatError: a file is damaged.
        """
        found = {}
        for name, data in self._files.items():
            if name.startswith(f"{TIMINGS}/"):
                try:
                    document = json.loads(data)
                    found[document["pipeline"]] = document
                except (ValueError, KeyError, TypeError) as error:
                    raise FormatError(
                        f"{self.path}/{name} has no timings ({error!r}); remove it, and run again"
                    ) from error
        return found

    def pack(self, path: Path) -> None:
        """Write all of it as one file, a submission.

        Raises:
            OSError: it cannot be written.
        """
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in sorted(self._files.items()):
                archive.writestr(zipfile.ZipInfo(name), data)


def check_free(path: Path) -> None:
    """Refuse a folder that has something else than a run.

    Raises:
        InvalidParameter: it does.
        OSError: it cannot be read, or is no folder.
    """
    if path.exists() and not (path / RUN).exists() and any(file.name != LOCK for file in path.iterdir()):
        raise InvalidParameter(f"{path} has files, but no run; give the path of a new folder")


def begin(path: Path, suite: Suite) -> Run:
    """Make the folder of a run, or go on with the one that is there, whose suite may have grown.

    Raises:
        InvalidParameter: it is the run of another suite or machine.
        FormatError: it is damaged.
        OSError: it cannot be written.
    """
    header = Header.here(suite)
    if (path / RUN).exists():
        before = Run(path).header
        if before.parallelism != header.parallelism:
            raise InvalidParameter(
                f"{path} has a run that is for {before.parallelism} cores, not {header.parallelism}; give another --output"
            )
        if before.machine != header.machine:
            raise InvalidParameter(f"{path} has a run of another machine, {before.machine.cpu}; give another --output")
        # With the version that began it, which made the cells that are there.
        header = dataclasses.replace(before, suite=grown(before.suite, suite, path))
    path.mkdir(parents=True, exist_ok=True)
    # First: if it fails, nothing is left that another attempt would refuse.
    write_atomically(path / RUN, header.to_bytes())
    for folder in (CELLS, TIMINGS):
        (path / folder).mkdir(exist_ok=True)
    return Run(path)


def _files(path: Path) -> dict[str, bytes]:
    """All files of a run by their names, from a folder or a submission."""
    try:
        if path.is_dir():
            found = [path / RUN, *path.glob(f"{CELLS}/*.json"), *path.glob(f"{TIMINGS}/*.json")]
            return {file.relative_to(path).as_posix(): file.read_bytes() for file in found if file.exists()}
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.file_size > _LONGEST_FILE:
                    raise FormatError(f"{path} is no submission: {member.filename} is too large")
            return {member.filename: archive.read(member) for member in archive.infolist()}
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        raise FormatError(
            f"Cannot read a run from {path}: {error}. Give a folder or a file of `halidegym bench`"
        ) from error
