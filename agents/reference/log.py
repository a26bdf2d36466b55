"""Reading the log of the Adams2019 plugin (docs/specification/search-and-cost-model.md, section 2.11)."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# At level 1 a pass is one line; at level 2 and above a header, followed by its loop nest.
_PASS = re.compile(r"^Pass (\d+) (?:of \d+, cost: (\S+), time \(ms\): \d+|result: State with cost (\S+):)$", re.M)
_BEST = re.compile(r"^Best cost: (\S+)$", re.M)
_CACHE = re.compile(r"^Cache \(block\) (hits|misses): (\d+)$", re.M)
_EVALUATIONS = re.compile(r"^Cost evaluated this many times: (\d+)$", re.M)
_FEATURES = re.compile(r"^Schedule features for (.+)\n((?:    \w+: +\S+\n){39})", re.M)
_FINAL_NEST = re.compile(r"^State with cost \S+:\n", re.M)
_NEST_LINE = re.compile(r"(?!Pass \d|Best cost|Warning|\*\*\*).*\n")


@dataclass(frozen=True)
class Adams2019Log:
    """The contents of a log.

    Attributes:
        pass_costs: cost of each pass's best state, as printed. Six significant digits at level 1, six decimals above.
        best_cost: the lowest of them.
        evaluations: how often the cost model was asked.
        block_hits, block_misses: of the block memoization; None if it is off.
        features: stage name to its 39 schedule features in the best state, as printed.
        loop_nest: the best state, from the empty line of the root on; empty below level 2.
        pass_loop_nests: the same for each pass; empty below level 2.
    """

    pass_costs: tuple[str, ...]
    best_cost: str
    evaluations: int
    block_hits: int | None
    block_misses: int | None
    features: dict[str, NDArray[np.float64]]
    loop_nest: str
    pass_loop_nests: tuple[str, ...]


def parse_adams2019_log(log: str, schedule_source: str) -> Adams2019Log:
    """Parse a log of level 1 or more. The schedule's source ends it from level 2 on, right after the final loop nest.

    Raises:
        ValueError: a line that every such log has is missing.
    """
    passes = list(_PASS.finditer(log))
    best, evaluations = _BEST.search(log), _EVALUATIONS.search(log)
    if not passes or best is None or evaluations is None:
        raise ValueError("it lacks the lines with the costs and the number of evaluations")
    cache = {key: int(value) for key, value in _CACHE.findall(log)}
    final = _FINAL_NEST.search(log, evaluations.end())
    return Adams2019Log(
        pass_costs=tuple(match[2] or match[3] for match in passes),
        best_cost=best[1],
        evaluations=int(evaluations[1]),
        block_hits=cache.get("hits"),
        block_misses=cache.get("misses"),
        features={
            name: np.array([line.split()[1] for line in block.splitlines()], np.float64)
            for name, block in _FEATURES.findall(log)
        },
        loop_nest="" if final is None else log[final.end() :].removesuffix(schedule_source),
        pass_loop_nests=tuple(_nest_at(log, match.end() + 1) for match in passes if match[3] is not None),
    )


def format_cost(cost: float, level: int) -> str:
    """Print a cost as the plugin does at the given log level."""
    return f"{cost:.6f}" if level >= 2 else f"{cost:g}"


def _nest_at(log: str, start: int) -> str:
    end = start
    while match := _NEST_LINE.match(log, end):
        end = match.end()
    return log[start:end]
