"""Files and folders that commands write or begin with, refused before the work and not after it."""

from __future__ import annotations

import keyword
import os
from pathlib import Path
from typing import Any

import click

from halidegym.agents.learned.policies import path_of, shipped_policies

_SCHEDULE_FILES = (".h", ".hpp", ".hh", ".py")


class OutputFile(click.Path):
    """A file to write, in a folder that exists."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path.

        Raises:
            BadParameter: it is a folder, or nothing can be written there.
        """
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        folder = path.absolute().parent
        if not folder.is_dir():
            self.fail(f"There is no folder {folder} to write {path.name} into; make it first.", param, ctx)
        if not os.access(folder, os.W_OK):
            self.fail(f"Nothing can be written into the folder {folder}; give another one.", param, ctx)
        return path


class OutputFolder(click.Path):
    """A folder to write into, which is made if there is none."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path.

        Raises:
            BadParameter: it is a file, or there can be no such folder.
        """
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        nearest = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.exists())
        if not nearest.is_dir() or not os.access(nearest, os.W_OK):
            self.fail(f"There can be no folder {path}: nothing can be written into {nearest}.", param, ctx)
        return path


class PolicyFile(click.Path):
    """The file of a policy, or the name of one of the package."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path.

        Raises:
            BadParameter: it is neither.
        """
        if value in shipped_policies():
            return path_of(value)
        try:
            return Path(os.fsdecode(super().convert(value, param, ctx)))
        except click.BadParameter as error:
            names = ", ".join(shipped_policies())
            self.fail(f"{error.message} Give a file, or one of the package's policies: {names}.", param, ctx)


class ScheduleFile(OutputFile):
    """A file to write schedules to, whose ending tells the language."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path.

        Raises:
            BadParameter: it has another ending, is a folder, nothing can be written there, or no module has such a name.
        """
        path = super().convert(value, param, ctx)
        if path.suffix not in _SCHEDULE_FILES:
            self.fail(f"{path.name!r} is neither a header in C++ (.h) nor a module in Python (.py).", param, ctx)
        if path.suffix == ".py" and (not path.stem.isidentifier() or keyword.iskeyword(path.stem)):
            self.fail(f"{path.name!r} is no module that Python can import; name it such as my_schedule.py.", param, ctx)
        return path
