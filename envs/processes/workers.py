"""How work is spread: over some processes of this machine, or over a Ray cluster."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

RAY: Final = "ray"
"""Stands for all nodes of a Ray cluster."""

Workers: TypeAlias = int | Literal["ray"]
"""A number of processes on this machine, or `RAY`."""
