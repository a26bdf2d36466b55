"""How work is spread: over some processes of this machine, or over a Ray cluster, and what must be equal there."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from halidegym.native import _core

RAY: Final = "ray"
"""Stands for all nodes of a Ray cluster."""

Workers: TypeAlias = int | Literal["ray"]
"""A number of processes on this machine, or `RAY`."""

Conditions: TypeAlias = Mapping[str, str]
"""What has to be equal wherever there are workers, by name."""


@functools.cache
def installation() -> Conditions:
    """What is installed here, as far as results depend on it."""
    core = hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]
    return {name: importlib.metadata.version(name) for name in ("halidegym", "halide")} | {"core": core}
