"""How plans of transforms are timed."""

from __future__ import annotations

import dataclasses

from halidegym.envs.timing.measurements import settings_json
from halidegym.native.checks import check_at_least, check_number, check_positive, check_present, check_seed


@dataclasses.dataclass(frozen=True)
class TransformTimingSettings:
    """How plans are timed. Wherever times are compared, plans take turns, since the speed of a machine drifts.

    Attributes:
        sample_s: a sample is the mean over as many runs as take this long.
        turns: samples of a plan, each followed by one of the reference plan. The least of each counts.
        again_after: so many evaluations after a plan was the best so far, it is timed again, and the longer time counts:
            the best of many noisy times is too short.
        finalists: plans that race at the end of a search.
        final_sample_s: a sample of theirs.
        final_rounds: samples of each of them.
        tolerance: relative error from which on an output is wrong.
        seed: of the random input.
    """

    sample_s: float = 5e-5
    turns: int = 4
    again_after: int = 300
    finalists: int = 8
    final_sample_s: float = 2e-3
    final_rounds: int = 7
    tolerance: float = 1e-14
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            InvalidParameter: one is out of its range, or None.
        """
        check_present(**{field.name: getattr(self, field.name) for field in dataclasses.fields(self)})
        check_positive(sample_s=self.sample_s, final_sample_s=self.final_sample_s)
        check_number(0, 60, sample_s=self.sample_s, final_sample_s=self.final_sample_s, tolerance=self.tolerance)
        check_at_least(1, 1000, turns=self.turns, finalists=self.finalists, final_rounds=self.final_rounds)
        check_at_least(1, again_after=self.again_after)
        check_seed(self.seed)

    def to_json(self) -> str:
        """The same text for equal settings."""
        return settings_json(dataclasses.asdict(self))
