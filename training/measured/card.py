"""The data card of a collection: what is in it, and how well it can be trusted, as Markdown."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from halidegym.envs.timing.measured_schedule import MeasuredSchedule
from halidegym.training.measured.collection import MeasuredCollection
from halidegym.training.measured.table import FEATURES

_QUANTILES = (5, 25, 50, 75, 95)


def data_card(collection: MeasuredCollection) -> str:
    """What a collection holds: by split, by kind, how long its schedules run, what failed, and what was skipped."""
    schedules, ran = collection.schedules, collection.ran
    lines = [
        "# Data card",
        "",
        f"{len(ran):,} run times of {len({s.pipeline for s in ran}):,} pipelines, measured on",
        f"{collection.machine.words} (fingerprint `{collection.machine.fingerprint}`), with features of version "
        f"{FEATURES}.",
        "",
        "On one thread, a run time is the seconds in which the core worked, so that waiting for a core drops out; on",
        "several, seconds of the clock. It is the median over turns that the schedules of a pipeline take, each in a fresh",
        "process, with what makes a round faster or slower for all of them taken out. Outputs are compared with those of a",
        "trusted schedule.",
        "",
        *_table(("Split", "Threads", "Pipelines", "Schedules", "With a run time"), _by_split(schedules)),
        *_table(
            ("Kind", "Schedules", "With a run time", "Times the pipeline's best, median", "Best of the pipeline"),
            _by_kind(collection),
        ),
        *_table(("", *(f"{q} %" for q in _QUANTILES)), _quantiles(collection)),
        *_table(("Outcome", "Schedules"), Counter(s.outcome for s in schedules).most_common()),
        *_table(("Pipelines skipped because", "Number"), _reasons(collection.skipped.values())),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _by_split(schedules: Sequence[MeasuredSchedule]) -> list[Sequence[object]]:
    groups: dict[tuple[str, int], list[MeasuredSchedule]] = {}
    for schedule in schedules:
        groups.setdefault((schedule.split or "named", schedule.threads), []).append(schedule)
    return [
        (split, threads, len({s.pipeline for s in group}), f"{len(group):,}", f"{sum(s.ran for s in group):,}")
        for (split, threads), group in sorted(groups.items())
    ]


def _by_kind(collection: MeasuredCollection) -> list[Sequence[object]]:
    ratios: dict[str, list[float]] = {}
    best: Counter[str] = Counter()
    for schedules in collection.sets.values():
        ran = [schedule for schedule in schedules if schedule.ran]
        if not ran:
            continue
        fastest = min(ran, key=lambda schedule: schedule.run_time_s)
        best[fastest.kind] += 1
        for schedule in ran:
            ratios.setdefault(schedule.kind, []).append(schedule.run_time_s / fastest.run_time_s)
    counts = Counter(schedule.kind for schedule in collection.schedules)
    return [
        (kind, f"{count:,}", f"{len(own):,}", f"{statistics.median(own):.2f}" if own else "-", best[kind])
        for kind, count in counts.most_common()
        for own in (ratios.get(kind, []),)
    ]


def _quantiles(collection: MeasuredCollection) -> list[Sequence[object]]:
    ran = collection.ran
    halves = [s.repeatability_s for s in ran if len(s.turns_s) >= 6]
    values: Mapping[str, Sequence[float]] = {
        "Run time, ms": [1e3 * s.run_time_s for s in ran],
        "Compiling, s": [s.compile_s for s in ran],
        "Stages": [len(s.stages) for s in ran],
        "Schedules of a pipeline": [len(schedules) for schedules in collection.sets.values()],
        "Even against odd turns, %": [100 * abs(even / odd - 1) for even, odd in halves],
    }
    return [
        (name, *(f"{value:.3g}" for value in np.percentile(numbers, _QUANTILES)))
        for name, numbers in values.items()
        if numbers
    ]


def _reasons(reasons: Iterable[str]) -> list[tuple[str, int]]:
    """Reasons by how often they occur, the numbers in them aside."""
    return Counter("".join("#" if c.isdigit() else c for c in reason)[:100] for reason in reasons).most_common(10)


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    if not rows:
        return []
    cells = [header, ["---"] * len(header), *rows]
    return [*("| " + " | ".join(str(cell).replace("|", "/") for cell in row) + " |" for row in cells), ""]
