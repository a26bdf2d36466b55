"""What a training tells while it runs: a table of its curve, and the same for TensorBoard and Weights & Biases."""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from halidegym.native._core import InvalidParameter
from halidegym.native.files import write_atomically


class Logs:
    """Writes figures by step. Use as a context.

    Args:
        folder: of the table `curve.csv`, and of the logs for TensorBoard below `tensorboard/`.
        curve: what a training that is gone on with has written so far; what was logged after its last step is forgotten.
        project: of Weights & Biases, which must be installed; None to leave it alone.
    """

    def __init__(
        self,
        folder: Path,
        curve: Sequence[Mapping[str, float]] = (),
        project: str | None = None,
    ) -> None:
        if project is not None:
            _start_wandb(project, folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of TensorBoard's own dependencies
            from torch.utils.tensorboard import SummaryWriter
        self._path = folder / "curve.csv"
        first_step = int(curve[-1]["step"]) + 1 if curve else 0
        self._writer = SummaryWriter(os.fspath(folder / "tensorboard"), purge_step=first_step)
        self.curve = [dict(row) for row in curve]
        if self.curve and not self._path.exists():
            self._write()

    def __enter__(self) -> Logs:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    def add(self, step: int, figures: Mapping[str, float]) -> None:
        """Show figures of a step, which have no place in the curve: those that depend on the machine."""
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step)

    def add_to_curve(self, step: int, figures: Mapping[str, float]) -> None:
        """Show figures of a step, and add them to the curve as one line."""
        self.add(step, figures)
        self.curve.append({"step": step, **figures})
        self._write()

    def _write(self) -> None:
        names = list(dict.fromkeys(name for row in self.curve for name in row))
        table = io.StringIO(newline="")
        writer = csv.DictWriter(table, names, restval="")
        writer.writeheader()
        writer.writerows({name: _shown(value) for name, value in row.items()} for row in self.curve)
        write_atomically(self._path, table.getvalue().encode())


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _start_wandb(project: str, folder: Path) -> None:
    if importlib.util.find_spec("wandb") is None:
        raise InvalidParameter(
            f"wandb_project={project!r}: wandb is not installed; run pip install wandb, or leave the project out"
        )
    import wandb

    wandb.init(project=project, dir=folder, name=folder.name, sync_tensorboard=True)
