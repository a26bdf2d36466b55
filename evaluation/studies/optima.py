"""The optima of the toy problems: proven by trying all schedules, and recorded."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path

from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.envs.pipelines import toys
from halidegym.envs.pipelines.toys import Optimum
from halidegym.native._core import InternalError
from halidegym.native.files import write_atomically


def prove_optimum(name: str) -> Optimum:
    """Find the optimum of a toy problem by trying all its schedules.

    Raises:
        ValueError: there is no toy of this name.
        KeyboardInterrupt: Ctrl-C ended the search, so nothing is proven.
    """
    plan = ExhaustiveSearch().plan(toys.problem(name))
    if plan.ended_by != "finished":
        raise KeyboardInterrupt
    weights_hash = plan.fingerprint.weights_hash
    if plan.cost is None or plan.evaluations is None or weights_hash is None:
        raise InternalError("an exhaustive search without a cost model")
    return Optimum(
        num_schedules=plan.evaluations,
        cost=plan.cost,
        actions=plan.actions,
        # Without the suffixes by which Halide keeps names unique in this process.
        loop_nest=tuple(re.sub(r"\$\d+", "", plan.loop_nest).splitlines()),
        problem_hash=plan.fingerprint.problem_hash,
        weights_hash=weights_hash,
        proof=f"halidegym optima --check {name}",
    )


def write_optima(optima: Mapping[str, Optimum], path: Path = toys.OPTIMA_FILE) -> None:
    """Write optima as JSON, for people to read as well: costs exact, one line a level of the loop nest.

    Raises:
        OSError: the file cannot be written; what was there stays.
    """
    document = {
        "kind": "halidegym optima",
        "target": toys.TARGET,
        "parallelism": toys.PARALLELISM,
        "optima": {name: dataclasses.asdict(optimum) for name, optimum in optima.items()},
    }
    text = json.dumps(document, indent=2)
    numbers_in_one_line = re.sub(
        r"\[[\d\s,]+\]", lambda found: re.sub(r"\s+", " ", found[0]).replace("[ ", "[").replace(" ]", "]"), text
    )
    write_atomically(path, f"{numbers_in_one_line}\n".encode())
