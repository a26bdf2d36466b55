"""Whether all results of a pipeline are of one problem: a pipeline of one's own can change while a run goes on."""

from __future__ import annotations

from pathlib import Path

from halidegym.evaluation.benchmark.cells import CellResult
from halidegym.native._core import Error


class OneProblem:
    """Looks at the results of a run, one after another.

    Args:
        run: its folder or file.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._first: dict[str, tuple[str, CellResult]] = {}

    def add(self, name: str, result: CellResult) -> None:
        """Look at one more.

        Args:
            name: of its file.
            result: that may have failed, and be of no problem then.

        Raises:
            Error: it is of another problem than the other results of its pipeline.
        """
        if not result.problem_hash:
            return
        pipeline = result.cell["pipeline"]
        first, known = self._first.setdefault(pipeline, (name, result))
        if known.problem_hash != result.problem_hash:
            raise Error(
                f"{pipeline} is one problem in {first}, and another one in {name}: it has changed since one of them was "
                f"written, at {known.written} and {result.written}, and their results cannot be compared. Give another "
                f"--output, or remove from {self._run} what was made before"
            )
