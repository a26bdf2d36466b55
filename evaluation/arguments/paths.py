"""Files and folders that commands write or begin with, refused before the work and not after it."""

from __future__ import annotations

import keyword
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from halidegym.agents.learned.policies import path_of, shipped_policies
from halidegym.native.files import real_path

_SCHEDULE_FILES = (".h", ".hpp", ".hh", ".py")
_HIDDEN = ("halide", "halidegym")  # what a schedule's own module would hide from whoever imports it


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


class PageFile(OutputFile):
    """A page to write, beside which its table (.csv) and its plot (.svg) are written under the same name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path.

        Raises:
            BadParameter: it, its table or its plot is a folder, or nothing can be written there; or two of these are one.
        """
        page = super().convert(value, param, ctx)
        for ending in (".csv", ".svg"):
            if page.suffix == ending:
                self.fail(
                    f"{page.name!r} is what the page would have beside it; name the page such as page.md.", param, ctx
                )
            super().convert(page.with_suffix(ending), param, ctx)
        return page


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
        if path.suffix == ".py" and path.stem in _HIDDEN:
            self.fail(f"{path.name!r} would hide the package of this name; name it such as my_schedule.py.", param, ctx)
        return path


class TrainedFile(OutputFile):
    """A file to write, beside which its training has the folder of the same name without its ending."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path.

        Raises:
            BadParameter: it has no ending, is a folder, or nothing can be written there or into the folder.
        """
        path = super().convert(value, param, ctx)
        if not path.suffix:
            self.fail(f"{path.name!r} has no ending, and so is the folder beside it called; add .weights.", param, ctx)
        OutputFolder().convert(path.with_suffix(""), param, ctx)
        return path


class WritingCommand(click.Command):
    """A command that writes no file over one that it was given to read, nor two files into one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments.

        Raises:
            UsageError: two of them are the same file, and one of these is an output.
            OSError: an output is a link in a circle of them.
        """
        rest = super().parse_args(ctx, args)
        files = [(param, file) for param in self.params for file in _files(ctx.params.get(param.name or ""))]
        outputs = [(param, file) for param, file in files if isinstance(param.type, OutputFile)]
        for output, path in outputs:
            real = real_path(path)
            for other, file in files:
                is_read = not isinstance(other.type, OutputFile) and file.is_file()
                if other is not output and (is_read or (other, file) in outputs) and real == real_path(file):
                    name = other.opts[0] if isinstance(other, click.Option) else other.human_readable_name
                    raise click.UsageError(f"{output.opts[0]} and {name} are one file, {path}; give another one.", ctx)
        return rest


def _files(value: object) -> Iterator[Path]:
    """What may be a file in the value of a parameter: a path, the file or module of a FILE:FUNCTION, or several of these."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, str):
        before, separator, _ = value.rpartition(":")
        yield Path(before if separator else value)
        if separator and not before.endswith(".py"):
            yield Path(before.replace(".", os.sep) + ".py")
    elif isinstance(value, Sequence):
        for one in value:
            yield from _files(one)
