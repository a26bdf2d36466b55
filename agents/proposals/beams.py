"""What beam searches of several widths end with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from halidegym.agents.proposals.proposal import Proposal
from halidegym.native._core import BeamOptions, SearchExhausted, Space, beam_search

WIDTHS = (1, 8, 32)


def beam_winners(
    space: Space,
    *,
    widths: Sequence[int] = WIDTHS,
    passes: int | None = 1,
    max_evaluations: int | None = None,
    threads: int = 1,
) -> Iterator[Proposal]:
    """The winner of each width, of kind "beam" (of width 1, "greedy"), then the others that they found, best first.

    Args:
        space: to search; several numbers of cores and several weights of the cost model are a space each.
        widths: of the beams.
        passes: of each search; None for Halide's own number, five, or one of the greedy search.
        max_evaluations: of each search.
        threads: that search; they make no difference to what is found.
    """
    others: list[Proposal] = []
    for width in widths:
        try:
            options = BeamOptions(beam_size=width, passes=passes, threads=threads)
            found = beam_search(space, options, max_evaluations=max_evaluations).solutions
        except SearchExhausted:
            continue
        kind = "greedy" if width == 1 else "beam"
        best, *rest = (Proposal(kind, tuple(solution.actions), solution.state) for solution in found)
        yield best
        others += rest
    yield from sorted(others, key=lambda proposal: proposal.cost)
