"""What the subcommands of `halidegym` share: options, parameter types and errors."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import click

from halidegym.envs.problems.snapshot import Estimate
from halidegym.envs.processes.workers import RAY, Workers
from halidegym.evaluation.arguments.pipeline import Details
from halidegym.native.checks import INT32_MAX, MAX_SEED


class Failure(click.ClickException):
    """Ends the program with a message and exit status 2, as a wrong argument does."""

    exit_code = 2


class Integer(click.IntRange):
    """An integer from a minimum on.

    Args:
        minimum: the least one.
        largest: what the core takes of its kind, which help does not show: nobody comes near it on purpose.
    """

    def __init__(self, minimum: int, largest: int = INT32_MAX) -> None:
        super().__init__(min=minimum)
        self._largest = largest

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer.

        Raises:
            BadParameter: it is none, or not in the range.
        """
        number = int(super().convert(value, param, ctx))
        if number > self._largest:
            self.fail(f"{number} is not in the range {self.min}<=x<={self._largest}.", param, ctx)
        return number


def integers_of(each: click.types.IntParamType) -> Callable[[str | tuple[int, ...]], tuple[int, ...]]:
    """Return a type for options: integers with commas between them, each of a type."""

    def integers(text: str | tuple[int, ...]) -> tuple[int, ...]:
        if isinstance(text, tuple):
            return text
        try:
            numbers = [int(part) for part in text.split(",")]
        except ValueError:
            raise click.BadParameter(f"{text!r} is no list of integers, such as 1,16") from None
        return tuple(each.convert(number, None, None) for number in numbers)

    return integers


class Number(click.FloatRange):
    """A number in a range, in which NaN is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number.

        Raises:
            BadParameter: it is none, or not in the range.
        """
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is no number.", param, ctx)
        return number


SECONDS = Number(min=0, min_open=True, max=math.inf, max_open=True)
"""A type for options: as long as something takes at most; no limit is what an option stands for that is left out."""
SEED = click.IntRange(0, MAX_SEED)
"""A type for options: what `check_seed` takes."""


def number_or_ray(text: str | int) -> Workers:
    """Parse a number of workers, or `ray` for those of a Ray cluster; a type for options."""
    if text == RAY:
        return RAY
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise click.BadParameter(f"{text!r} is neither a number of workers, at least 1, nor {RAY}")
    return number


target_option = click.option(
    "--target", default="host", show_default=True, help="Halide target string to schedule for; host is this machine."
)
parallelism_option = click.option(
    "--parallelism", type=Integer(1), help="Cores to schedule for.  [default: the usable ones]"
)


def scalar_estimate(text: str) -> tuple[str, Estimate]:
    """Parse `name=value`, a number, true or false; a type for options."""
    name, _, value = text.partition("=")
    for parse in (_truth, int, float):
        try:
            return name, parse(value)
        except ValueError:
            continue
    raise click.BadParameter(f"{text!r} is no name=value with a number, true or false, such as sigma=0.1")


def region_estimate(text: str) -> tuple[str, Estimate]:
    """Parse `name=min,extent`, with a pair for each dimension; a type for options."""
    name, _, values = text.partition("=")
    try:
        numbers = [int(number) for number in values.split(",")]
    except ValueError:
        numbers = []
    if not numbers or len(numbers) % 2 != 0:
        raise click.BadParameter(
            f"{text!r} is no name=min,extent with a pair for each dimension, such as input=0,640,0,480"
        )
    return name, list(zip(numbers[::2], numbers[1::2], strict=True))


def example_size(text: str) -> tuple[str, tuple[int, ...]]:
    """Parse `name=extent,...`, one for each dimension; a type for options."""
    name, _, extents = text.partition("=")
    try:
        return name, tuple(int(extent) for extent in extents.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is no name=extent,... for each dimension, such as image=1920,1080"
        ) from None


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def builder_option(text: str) -> tuple[str, Any]:
    """Parse `name=value`, a literal of Python or else a text; a type for options. A generator's names may have dots."""
    name, separator, value = text.partition("=")
    if not (separator and all(part.isidentifier() for part in name.split("."))):
        raise click.BadParameter(f"{text!r} is no name=value, such as size=160,128")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


_param_option = click.option(
    "--param", "scalars", metavar="NAME=VALUE", type=scalar_estimate, multiple=True,
    help="Estimate of a scalar parameter of the pipeline, such as sigma=0.1; repeatable.",
)  # fmt: skip
_estimate_option = click.option(
    "--estimate", "regions", metavar="NAME=MIN,EXTENT,...", type=region_estimate, multiple=True,
    help="Estimate of the size of an input or output, a pair for each dimension, such as input=0,640,0,480; repeatable.",
)  # fmt: skip
_example_option = click.option(
    "--estimate-from", "examples", metavar="NAME=EXTENT,...", type=example_size, multiple=True,
    help="Size of an example input, such as image=1920,1080, from which all estimates that are missing are proposed; "
    "repeatable, for several inputs.",
)  # fmt: skip


_builder_option = click.option(
    "--option", "options", metavar="NAME=VALUE", type=builder_option, multiple=True,
    help="Argument of what builds the pipeline, a function or generator, such as size=160,128; repeatable.",
)  # fmt: skip


def pipeline_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --param, --estimate, --estimate-from and --option, and hand it all as `details` of its pipelines."""

    @_param_option
    @_estimate_option
    @_example_option
    @_builder_option
    @functools.wraps(command)
    def with_details(
        *args: Any,
        scalars: Sequence[tuple[str, Estimate]],
        regions: Sequence[tuple[str, Estimate]],
        examples: Sequence[tuple[str, tuple[int, ...]]],
        options: Sequence[tuple[str, Any]],
        **kwargs: Any,
    ) -> Any:
        details = Details(dict([*scalars, *regions]), dict(options), dict(examples))
        return command(*args, details=details, **kwargs)

    return with_details
