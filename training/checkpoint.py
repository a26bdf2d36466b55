"""Files that a training goes on from, written so that there is always a whole one."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from halidegym.native._core import FormatError, InvalidParameter
from halidegym.native.files import real_path

_DAMAGED = (
    OSError,
    RuntimeError,
    pickle.UnpicklingError,
    EOFError,
    LookupError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
)
_KIND, _VERSION = "halidegym checkpoint", 1


def check_kept_apart(start: Path, folder: Path, *names: str) -> None:
    """Refuse a policy to begin with that a training would write over: it would be lost, and nothing could go on from it.

    Args:
        start: file of the policy.
        folder: of the training.
        names: of the policies that the training writes there.

    Raises:
        InvalidParameter: it is one of these.
    """
    if real_path(start) in [real_path(folder / name) for name in names]:
        raise InvalidParameter(
            f"{start}, the policy to begin with, is where the training into {folder} keeps its own. Give another folder"
        )


def save_checkpoint(path: Path, settings: dict[str, Any], state: dict[str, Any]) -> None:
    """Write tensors and plain values, in place of what was there."""
    unfinished = path.with_suffix(".unfinished")
    torch.save({"kind": _KIND, "version": _VERSION, "settings": settings, "state": state}, unfinished)
    os.replace(unfinished, path)


def load_checkpoint(
    path: Path, settings: dict[str, Any], *, growing: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any] | None:
    """Return the state that `save_checkpoint` wrote; None if there is no file. Reading it executes nothing.

    Args:
        path: of the file.
        settings: of the training that goes on.
        growing: settings that may be greater than they were, by name; or why they may not.

    Raises:
        FormatError: the file is damaged, of another version, or something else.
        InvalidParameter: it was written by a training with other settings.
    """
    if not path.exists():
        return None
    try:
        if not zipfile.is_zipfile(path):  # of which torch would say so with many words, and warnings
            raise ValueError("it is cut short, or something else")
        with zipfile.ZipFile(path) as archive:  # checksums, which torch does not look at
            damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"{damaged} in it is damaged")
        content = torch.load(path, map_location="cpu", weights_only=True)
        kind, version = content["kind"], content["version"]
    except _DAMAGED as error:
        reason = str(error).partition("\n")[0]
        raise FormatError(f"Cannot read the checkpoint {path}: {reason}. Remove it to begin anew") from error
    if (kind, version) != (_KIND, _VERSION):
        raise FormatError(
            f"{path} is a {kind} of version {version}, not a {_KIND} of {_VERSION}. Remove it to begin anew"
        )
    written = content["settings"]
    differing = {name for name in {*written, *settings} if written.get(name) != settings.get(name)}
    grown = {name: reason for name, reason in growing.items() if name in written and written[name] < settings[name]}
    differing -= {name for name, reason in grown.items() if not reason}
    if differing:
        changes = ", ".join(
            f"{name}={written.get(name)}, now {settings.get(name)}" + (f" ({grown[name]})" if name in grown else "")
            for name in sorted(differing)
        )
        raise InvalidParameter(
            f"{path} was written with other settings: {changes}. Train into another folder, or with those of before"
        )
    state: dict[str, Any] = content["state"]
    return state
