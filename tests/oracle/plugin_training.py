"""The Adams2019 plugin's compiled training step (docs/specification/search-and-cost-model.md, sections 4 and 5).

As `plugin_cost_model.py`, this file is both the caller and the process that the step runs in.
"""

from __future__ import annotations

import ctypes
import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))  # in a process of its own, it is not there yet

from oracle.plugin_cost_model import Request, buffer


@dataclass(frozen=True)
class Step:
    """One call of the compiled training step."""

    request: Request
    times_ms: NDArray[np.float32]  # [B]
    learning_rate: float
    updates: int = 1  # in a row, on the same batch


@dataclass(frozen=True)
class Trained:
    """What the step gave."""

    costs: NDArray[np.float32]  # [B]
    losses: list[float]  # before each update
    gradients: list[dict[str, NDArray[np.float32]]]  # likewise
    weights: dict[str, NDArray[np.float32]]  # after the last one


def plugin_train(plugin: Path, steps: list[Step]) -> list[Trained]:
    """Let the training step that is compiled into a plugin's library make steps."""
    with tempfile.TemporaryDirectory() as folder:
        steps_file, trained_file = Path(folder) / "steps", Path(folder) / "trained"
        plain = [{**vars(step), "request": vars(step.request)} for step in steps]
        steps_file.write_bytes(pickle.dumps(plain))
        subprocess.run([sys.executable, "-I", __file__, plugin, steps_file, trained_file], check=True, timeout=120)
        return [Trained(**fields) for fields in pickle.loads(trained_file.read_bytes())]


def _train(library: ctypes.CDLL, step: Step) -> Trained:
    request = step.request
    batch, stages, _ = request.schedule_features.shape
    costs, loss = np.zeros(batch, np.float32), np.zeros((), np.float32)
    weights = {name: np.ascontiguousarray(tensor) for name, tensor in request.weights.items()}
    # New weights, two moments and the gradient, which the next step reads where the last one wrote.
    updated = {name: np.zeros((4, *tensor.shape), np.float32) for name, tensor in weights.items()}
    features = np.ascontiguousarray(request.schedule_features.transpose(1, 2, 0))
    losses, gradients = list[float](), list[dict[str, NDArray[np.float32]]]()
    for timestep in range(step.updates):
        inputs = [buffer(array) for array in (request.pipeline_features, features, *weights.values())]
        times = buffer(step.times_ms)
        outputs = [buffer(array) for array in (*updated.values(), costs, loss)]
        status = library.train_cost_model(
            *map(ctypes.c_int32, (stages, batch, request.parallelism)),
            *map(ctypes.byref, inputs),
            ctypes.c_float(step.learning_rate),
            *map(ctypes.c_int32, (timestep, int(np.argmin(step.times_ms)))),
            ctypes.byref(times),
            *map(ctypes.byref, outputs),
        )
        assert status == 0
        losses.append(float(loss))
        gradients.append({name: tensor[3].copy() for name, tensor in updated.items()})
        weights = {name: tensor[0].copy() for name, tensor in updated.items()}
    return Trained(costs, losses, gradients, weights)


def _main(plugin: str, steps_file: str, trained_file: str) -> None:
    library = ctypes.CDLL(plugin)
    steps = [
        Step(**{**fields, "request": Request(**fields["request"])})
        for fields in pickle.loads(Path(steps_file).read_bytes())
    ]
    trained = [vars(_train(library, step)) for step in steps]
    Path(trained_file).write_bytes(pickle.dumps(trained))


if __name__ == "__main__":
    _main(*sys.argv[1:])
