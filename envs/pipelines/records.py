"""What each registered pipeline was when its suite got its name: golden records, for `halidegym list` and for tests.

The file `suites.json` holds them, made by `halidegym suites --write`. A record that is no longer true means
that a name has come to mean another problem: then the suite needs a new version, never just a new record.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from halidegym.envs import pipelines
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native import _core
from halidegym.native.weights import builtin_weights

TARGET = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"
"""Of all records: that of the papers' tables (docs/specification/papers.md, section 2)."""
PARALLELISM = 16
RECORDS_FILE = Path(__file__).with_name("suites.json")


@dataclasses.dataclass(frozen=True)
class PipelineRecord:
    """What is known of a registered pipeline at its default size, for `TARGET` and `PARALLELISM`.

    Attributes:
        hash: of the problem, see `SchedulingProblem.hash`.
        nodes: Funcs, inputs included.
        stages: their definitions.
        decisions: of a complete schedule: two a node, those of inputs being forced.
        median_legal: median number of legal decisions over the states that random episodes met, but for those states
            that leave no choice.
        largest_legal: the largest one.
        episodes: how many of them.
        size: extents of the (first) output, first dimension innermost.
    """

    hash: str
    nodes: int
    stages: int
    decisions: int
    median_legal: float
    largest_legal: int
    episodes: int
    size: tuple[int, ...]


Records = dict[str, dict[str, PipelineRecord]]
"""By suite, then by pipeline."""


def problem(name: str) -> SchedulingProblem:
    """The problem that the record of this pipeline is about.

    Raises:
        ValueError: there is no pipeline of this name.
    """
    return SchedulingProblem.from_pipeline(pipelines.build(name), target=TARGET, parallelism=PARALLELISM, name=name)


def measure(name: str, episodes: int) -> PipelineRecord:
    """Make the record of a pipeline anew; the same in every process.

    Args:
        name: of the pipeline.
        episodes: random ones to play, of uniformly drawn decisions.

    Raises:
        ValueError: there is no pipeline of this name.
    """
    subject = problem(name)
    counts = legal_decisions(subject, episodes)
    output = next(node for node in subject.nodes if node.is_output)
    return PipelineRecord(
        hash=subject.hash,
        nodes=subject.num_nodes,
        stages=subject.num_stages,
        decisions=_initial_state(subject).num_decisions,
        median_legal=float(statistics.median(counts)) if counts else 1.0,
        largest_legal=max(counts, default=1),
        episodes=episodes,
        size=tuple(span.max - span.min + 1 for span in output.estimated_region),
    )


def legal_decisions(subject: SchedulingProblem, episodes: int) -> list[int]:
    """Numbers of legal decisions in the states with a choice that random episodes meet."""
    random = np.random.default_rng(0)
    counts = []
    for _ in range(episodes):
        state = _initial_state(subject)
        while not state.is_complete:
            expansion = state.expand()
            if expansion.count == 0:
                break  # a dead end
            if expansion.count > 1:
                counts.append(expansion.count)
            state = expansion.child(int(random.integers(expansion.count)))
    return counts


def read_records(path: Path = RECORDS_FILE) -> Records:
    """Read the golden records.

    Raises:
        FormatError: the file is missing or damaged.
    """
    try:
        suites = json.loads(path.read_text(encoding="utf-8"))["suites"]
        return {
            suite: {
                name: PipelineRecord(**fields | {"size": tuple(fields["size"])}) for name, fields in entries.items()
            }
            for suite, entries in suites.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise _core.FormatError(
            f"{path} holds no records of the suites ({error!r}); make it with `halidegym suites --write`"
        ) from error


def write_records(records: Records, path: Path = RECORDS_FILE) -> None:
    """Write the golden records, one line a pipeline.

    Raises:
        OSError: the file cannot be written.
    """
    lines = ["{", f' "target": {json.dumps(TARGET)},', f' "parallelism": {PARALLELISM},', ' "suites": {']
    for i, (suite, entries) in enumerate(records.items()):
        lines.append(f"  {json.dumps(suite)}: {{")
        rows = [f"   {json.dumps(name)}: {json.dumps(dataclasses.asdict(entry))}" for name, entry in entries.items()]
        lines += [row + "," for row in rows[:-1]] + rows[-1:]
        lines.append("  }" + ("," if i < len(records) - 1 else ""))
    lines += [" }", "}"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(records: Records, on_pipeline: Callable[[str], None] = lambda _: None) -> list[str]:
    """What is no longer as recorded: names that have come to mean another problem, come up, or gone; one line each.

    The numbers of legal decisions are left out: they follow from the problem and from the rules of the search.
    """
    found = []
    registered = {suite.name: [entry.name for entry in suite.entries] for suite in pipelines.suites()}
    for suite in _in_order(registered, records):
        names, recorded = registered.get(suite, []), records.get(suite, {})
        for name in _in_order(names, recorded):
            on_pipeline(name)
            if name not in names:
                found.append(f"{suite}: {name} is gone")
            elif name not in recorded:
                found.append(f"{suite}: {name} has no record")
            elif problem(name).hash != recorded[name].hash:
                found.append(f"{suite}: {name} is another problem than recorded")
    return found


def _in_order(*names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for some in names for name in some))


def _initial_state(subject: SchedulingProblem) -> Any:
    return _core.Space(subject.native, builtin_weights()).initial_state()
