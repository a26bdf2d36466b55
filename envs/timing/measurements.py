"""What is measured about schedules, and how: plain values that can be stored."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from halidegym.envs.timing.machine import Machine
from halidegym.native._core import FormatError, InvalidParameter
from halidegym.native.checks import (
    INT32_MAX,
    check_at_least,
    check_given,
    check_number,
    check_positive,
    check_present,
    checked_integers,
)
from halidegym.native.fields import checked_fields

Outcome = Literal["ok", "compile_error", "run_error", "wrong_output", "crash", "timeout", "out_of_memory"]
"""How a measurement went: it went well; the compiler refused the schedule; the pipeline reported an error, such as a
violated requirement; its output is not that of the trusted schedule; or the compiler or the schedule crashed, took too long,
or wanted more memory than it may have."""


_RULES = 4
"""Of what counts as a wrong output and as work: what was recorded by others is measured again."""


@dataclasses.dataclass(frozen=True)
class TimingSettings:
    """How schedules are timed.

    Attributes:
        threads: threads to run on; None for the parallelism of the problem, but no more than there are usable cores.
        cpus: cores to run on; empty for all usable ones.
        seed: of the random inputs. Equal seeds give all schedules of a problem the same inputs.
        time_limit_s: seconds to spend on samples.
        patience_s: seconds to spend beyond that, if other processes keep disturbing the samples.
        shortest_sample_s: a sample is the mean over as many runs as take this long.
        samples_to_agree: sampling ends before its time when the best so many undisturbed samples ...
        agreement: ... lie within this fraction.
        disturbance: a sample is disturbed if its threads waited for a core for more than this fraction of its time, or if
            the machine stood still meanwhile: it took three times as long as the shortest, and a tenth of a second more.
        flush_bytes: other memory to touch before each sample, which is then a single run; 0 to measure with warm caches.
        keep_memory: whether memory that a run frees stays with the process, so that the next one need not fetch it from the
            system, page by page; see docs/how-to/time-schedules.md.
        verify: whether outputs are compared with those of the trusted schedule.
        tolerance: how far floats may be from those, relative to |value| and the largest magnitude of the output together,
            of which 1 counts at most and 0.0001 at least; of bfloat16, one step of the type if that is more. Integers may be
            one apart if the pipeline computes with floats on the way; else all must be equal.
        differing_fraction: of the points, may be further off if it does: rounding can tip a comparison in the pipeline.
        timeout_s: seconds after which a run counts as hung.
        compile_timeout_s: likewise for the compilation.
        memory_bytes: address space that a run may have.
    """

    threads: int | None = None
    cpus: tuple[int, ...] = ()
    seed: int = 0
    time_limit_s: float = 2.0
    patience_s: float = 2.0
    shortest_sample_s: float = 2e-3
    samples_to_agree: int = 3
    agreement: float = 0.01
    disturbance: float = 0.05
    flush_bytes: int = 0
    keep_memory: bool = True
    verify: bool = True
    tolerance: float = 1e-3
    differing_fraction: float = 1e-4
    timeout_s: float = 60.0
    compile_timeout_s: float = 300.0
    memory_bytes: int = 8 << 30

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            InvalidParameter: one is out of its range.
        """
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        check_present(**{name: value for name, value in settings.items() if name != "threads"})
        check_at_least(1, INT32_MAX, threads=self.threads, samples_to_agree=self.samples_to_agree)
        check_at_least(0, seed=self.seed, flush_bytes=self.flush_bytes)
        check_at_least(1, memory_bytes=self.memory_bytes)
        check_given(bool, keep_memory=self.keep_memory, verify=self.verify)
        check_number(
            patience_s=self.patience_s,
            tolerance=self.tolerance,
            differing_fraction=self.differing_fraction,
            agreement=self.agreement,
        )
        check_positive(
            time_limit_s=self.time_limit_s,
            shortest_sample_s=self.shortest_sample_s,
            timeout_s=self.timeout_s,
            compile_timeout_s=self.compile_timeout_s,
            disturbance=self.disturbance,
        )
        if self.tolerance == math.inf:
            raise InvalidParameter("tolerance=inf compares nothing; give a number, or verify=False")
        object.__setattr__(self, "cpus", checked_integers("cpus", self.cpus, 0))
        if len(set(self.cpus)) < len(self.cpus):
            raise InvalidParameter(f"cpus={self.cpus} names a core twice, and would count it as two; give each once")
        usable = os.sched_getaffinity(0)
        unusable = set(self.cpus) - usable
        if unusable:
            raise InvalidParameter(
                f"cpus: this process may not use the cores {sorted(unusable)}; choose among {sorted(usable)}."
            )

    def to_json(self) -> str:
        """All settings but the threads, which a record has apart, and the version of the rules; equal for equal settings."""
        return settings_json({**dataclasses.asdict(self), "threads": None, "rules": _RULES})


def settings_json(settings: Mapping[str, object]) -> str:
    """How something was timed, as the text that records have of it: the same for equal numbers, be they NumPy's."""
    return json.dumps(settings, sort_keys=True, default=lambda value: value.tolist())


@dataclasses.dataclass(frozen=True, repr=False)
class Timing:
    """How long a schedule takes, or why it could not be timed.

    Attributes:
        outcome: "ok", or what went wrong.
        samples_s: seconds per run, one entry a sample; empty on failure.
        compile_s: seconds that scheduling, compiling and linking took.
        error: the last words of what failed; empty if `outcome` is "ok".
        disturbed: per sample, whether other processes or a standstill of the machine kept it from running for part of its
            time.
        threads: that it ran on.
        target: Halide target string that it was compiled for.
        machine: that it ran on; None if unknown.
        halide_s: the part of `compile_s` spent in Halide's own compiler.
        link_s: the part spent in linking.
        run_s: seconds from starting the runner to the last sample, verification included, waiting for a turn not.
        is_estimate: True if the cost model made it up, where a recording had none.
        relative_error: of its output, in the Euclidean norm; None where outputs were compared number by number, or not.
        larger_inputs: which inputs the schedule asks more of than the pipeline itself, and how much, in words; empty if
            none. It was given that much, and compiled code refuses to run on less.
    """

    outcome: Outcome
    samples_s: tuple[float, ...]
    compile_s: float
    error: str = ""
    disturbed: tuple[bool, ...] = ()
    threads: int = 1
    target: str = ""
    machine: Machine | None = None
    halide_s: float = 0.0
    link_s: float = 0.0
    run_s: float = 0.0
    is_estimate: bool = False
    relative_error: float | None = None
    larger_inputs: str = ""

    def __repr__(self) -> str:
        """The result in a line; samples are many."""
        result = (
            f"median_s={self.median_s:.6g}, {len(self.samples_s)} samples"
            if self.samples_s
            else f"error={self.error!r}"
        )
        return f"Timing({self.outcome!r}, {result}, threads={self.threads})"

    @property
    def undisturbed_s(self) -> tuple[float, ...]:
        """The samples that count: those undisturbed, or all, if there are fewer than three of these."""
        quiet = tuple(s for s, disturbed in zip(self.samples_s, self.disturbed, strict=False) if not disturbed)
        return quiet if len(quiet) >= min(3, len(self.samples_s)) else self.samples_s

    @property
    def is_disturbed(self) -> bool:
        """Whether other processes were in the way all the time, so that the times are too long."""
        return sum(not disturbed for disturbed in self.disturbed) < min(3, len(self.samples_s))

    @property
    def compiler_was_late(self) -> bool:
        """Whether it took too long to compile, so that nothing ran."""
        return self.outcome == "timeout" and self.run_s == 0

    @property
    def median_s(self) -> float:
        """Median of the samples that count, in seconds; infinite if it failed."""
        return statistics.median(self.undisturbed_s) if self.samples_s else math.inf

    @property
    def min_s(self) -> float:
        """Least of the samples in seconds; infinite if it failed."""
        return min(self.samples_s, default=math.inf)

    @property
    def spread(self) -> float:
        """Range of the middle half of the samples that count, as a fraction of their median; NaN if it failed."""
        if not self.samples_s:
            return math.nan
        if len(self.undisturbed_s) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.undisturbed_s, n=4, method="inclusive")
        return (high - low) / self.median_s

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it, for `from_dict`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Timing:
        """The timing that `to_dict` wrote.

        Raises:
            FormatError: it is something else.
        """
        try:
            machine = fields["machine"]
            timing = cls(
                **{
                    **fields,
                    "samples_s": tuple(fields["samples_s"]),
                    "disturbed": tuple(fields["disturbed"]),
                    "machine": None if machine is None else Machine(**machine),
                }
            )
            return checked_fields(timing)
        except (KeyError, TypeError) as error:
            raise FormatError(f"This is no timing ({error!r}). Record it again.") from error


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two schedules timed in turns.

    Attributes:
        ratio: how many times faster `a` is than `b`: the median over the rounds of the ratio of their times; NaN if
            either failed.
        low: end of an interval that covers the true median with a confidence of 95 % or more (from six rounds on),
            whatever the distribution of the noise, as long as one round tells nothing of the next; 94 % or more where the
            rounds ended as soon as it was narrow.
        high: its other end.
        a: the timing of the first schedule, samples of all rounds.
        b: that of the second.
    """

    ratio: float
    low: float
    high: float
    a: Timing
    b: Timing

    @property
    def disturbed_samples(self) -> int:
        """How many samples of both sides were disturbed, and left out where there were others."""
        return sum(self.a.disturbed) + sum(self.b.disturbed)

    @property
    def is_disturbed(self) -> bool:
        """Whether other processes were in the way of either all the time."""
        return self.a.is_disturbed or self.b.is_disturbed

    @property
    def verdict(self) -> Literal["faster", "slower", "undecided"]:
        """Whether `a` is faster than `b`; "undecided" if the interval holds 1, or either failed."""
        if self.low > 1:
            return "faster"
        return "slower" if self.high < 1 else "undecided"

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it, for `from_dict`."""
        return {**vars(self), "a": self.a.to_dict(), "b": self.b.to_dict()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Comparison:
        """The comparison that `to_dict` wrote.

        Raises:
            FormatError: it is something else.
        """
        try:
            sides = {side: Timing.from_dict(fields[side]) for side in ("a", "b")}
            return checked_fields(cls(**{**fields, **sides}))
        except (KeyError, TypeError) as error:
            raise FormatError(f"This is no comparison ({error!r}). Record it again.") from error


def milliseconds(seconds: float) -> str:
    """Seconds in milliseconds, as people read them: to three decimals, or to three digits where these would be few."""
    return f"{seconds * 1e3:.3f}" if seconds >= 1e-4 else f"{seconds * 1e3:.3g}"


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The narrowest pair of order statistics that covers the median of the distribution with a confidence of 95 %.

    The number of values below the median is binomial, whatever the distribution (David and Nagaraja, Order Statistics, 2003,
    section 7.1). Fewer than six values cannot reach it; then it is their range.
    """
    ordered, count = sorted(values), len(values)
    left, tail = 0, 1  # sequences of coin tosses with so few heads, of 2^count
    while 2 * (tail + math.comb(count, left + 1)) * 20 <= 2**count:  # 5 % beyond both ends
        left += 1
        tail += math.comb(count, left)
    return ordered[left], ordered[-1 - left]
