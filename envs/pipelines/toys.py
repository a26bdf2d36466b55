"""The suite toy-v1: pipelines so small that every complete schedule can be tried, with their proven optima.

For one target and one number of cores, `optimum(name)` is the best schedule under the pretrained cost model and the rules
of the default search space. An exhaustive search found it (`halidegym.agents.ExhaustiveSearch`); `halidegym optima
--check` repeats that in seconds. So for any agent on `problem(name)`, cost / optimum - 1 is the true optimality gap.

The pipelines differ in what makes scheduling difficult: stencils that trade recomputation for locality, updates that cannot
be inlined, a Func with several consumers, several outputs. The suffix of the suite changes whenever a pipeline does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import halide as hl

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import FormatError

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"
PARALLELISM = 4

T = TypeVar("T")

#: What `halidegym optima --write` writes.
OPTIMA_FILE = Path(__file__).with_name("optima.json")


@dataclass(frozen=True)
class Optimum:
    """The best complete schedule of a toy problem.

    Attributes:
        num_schedules: complete schedules, all of which were evaluated; different decisions may lead to equal ones.
        cost: of the best, in the cost model's unit (milliseconds as trained); exact.
        actions: per decision, the index of the one taken among the legal ones; of several optimal schedules, the first
            in the order of decisions.
        loop_nest: lines of the optimal loop nest, see `Schedule.loop_nest`.
        problem_hash: of the problem, see `SchedulingProblem.hash`.
        weights_hash: of the cost model, see `halidegym.native.weights.weights_hash`.
        proof: command that repeats the exhaustive search.
    """

    num_schedules: int
    cost: float
    actions: tuple[int, ...]
    loop_nest: tuple[str, ...]
    problem_hash: str
    weights_hash: str
    proof: str


def problem(name: str) -> SchedulingProblem:
    """Return a toy problem, for the target and the number of cores that its optimum was proven for.

    Raises:
        ValueError: there is no toy of this name.
    """
    return SchedulingProblem.from_pipeline(_known(name, BUILDERS)(), target=TARGET, parallelism=PARALLELISM, name=name)


def optimum(name: str) -> Optimum:
    """Return the proven optimum of `problem(name)`.

    Raises:
        ValueError: there is no toy of this name.
        FormatError: the file of the optima is damaged.
    """
    return _known(name, read_optima())


def read_optima(path: Path = OPTIMA_FILE) -> dict[str, Optimum]:
    """Read the optima of all toys, by name.

    Raises:
        FormatError: the file holds none.
    """
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["optima"]
        return {
            name: Optimum(**entry | {key: tuple(entry[key]) for key in ("actions", "loop_nest")})
            for name, entry in entries.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise FormatError(f"{path} holds no optima ({error!r}); make it with `halidegym optima --write`") from error


def _known(name: str, of_all: Mapping[str, T]) -> T:
    if name not in of_all:
        raise ValueError(f"There is no toy {name!r}: use one of {', '.join(of_all)}")
    return of_all[name]


def _input(name: str, *extents: int, scalar: hl.Type | None = None) -> hl.ImageParam:
    image = hl.ImageParam(scalar or hl.Float(32), len(extents), name)
    image.set_estimates([(0, extent) for extent in extents])
    return image


def _outputs(*funcs: hl.Func, extents: tuple[int, ...]) -> hl.Pipeline:
    for func in funcs:
        func.set_estimates([(0, extent) for extent in extents])
    return hl.Pipeline(list(funcs))


def pointwise() -> hl.Pipeline:
    """Two pointwise steps on an array of 64 by 64 by 16."""
    x, y, z = hl.Var("x"), hl.Var("y"), hl.Var("z")
    image = _input("input", 64, 64, 16)
    doubled, squared = hl.Func("doubled"), hl.Func("squared")
    doubled[x, y, z] = image[x, y, z] * 2
    squared[x, y, z] = doubled[x, y, z] * doubled[x, y, z]
    return _outputs(squared, extents=(64, 64, 16))


def stencils() -> hl.Pipeline:
    """Three sums of three neighbours in a row, on 1024 numbers."""
    x = hl.Var("x")
    previous: hl.Func | hl.ImageParam = _input("input", 1030)
    for name in ("first", "second", "third"):
        sums = hl.Func(name)
        sums[x] = previous[x] + previous[x + 1] + previous[x + 2]
        previous = sums
    return _outputs(previous, extents=(1024,))


def blur() -> hl.Pipeline:
    """Separable 3 by 3 box filter of an image of 32 by 32."""
    x, y = hl.Var("x"), hl.Var("y")
    image = _input("input", 34, 34)
    rows, columns = hl.Func("rows"), hl.Func("columns")
    rows[x, y] = image[x, y] + image[x + 1, y] + image[x + 2, y]
    columns[x, y] = rows[x, y] + rows[x, y + 1] + rows[x, y + 2]
    return _outputs(columns, extents=(32, 32))


def stencil_chain() -> hl.Pipeline:
    """A horizontal and two vertical sums of three neighbours, on an image of 64 by 64."""
    x, y = hl.Var("x"), hl.Var("y")
    image = _input("input", 66, 68)
    first, second, third = hl.Func("first"), hl.Func("second"), hl.Func("third")
    first[x, y] = image[x, y] + image[x + 1, y] + image[x + 2, y]
    second[x, y] = first[x, y] + first[x, y + 1] + first[x, y + 2]
    third[x, y] = second[x, y] + second[x, y + 1] + second[x, y + 2]
    return _outputs(third, extents=(64, 64))


def mat_mul() -> hl.Pipeline:
    """Product of two matrices of 32 by 32, negative entries cut off."""
    x, y = hl.Var("x"), hl.Var("y")
    a, b = _input("A", 32, 32), _input("B", 32, 32)
    product, positive = hl.Func("product"), hl.Func("positive")
    k = hl.RDom([(0, 32)], "k")
    product[x, y] += a[k, y] * b[x, k]
    positive[x, y] = hl.max(product[x, y], 0)
    return _outputs(positive, extents=(32, 32))


def histogram() -> hl.Pipeline:
    """Relative frequencies of the values of a byte image of 256 by 256, counted by row first."""
    x, y = hl.Var("x"), hl.Var("y")
    image = _input("input", 256, 256, scalar=hl.UInt(8))
    by_row, total, frequency = hl.Func("by_row"), hl.Func("total"), hl.Func("frequency")
    column, row = hl.RDom([(0, 256)], "column"), hl.RDom([(0, 256)], "row")
    by_row[x, y] = hl.i32(0)
    by_row[hl.i32(image[column, y]), y] += 1
    total[x] = hl.i32(0)
    total[x] += by_row[x, row]
    frequency[x] = hl.f32(total[x]) / (256 * 256)
    return _outputs(frequency, extents=(256,))


def scan() -> hl.Pipeline:
    """Running sums down the columns of an image of 64 by 64, relative to the sum of the column."""
    x, y = hl.Var("x"), hl.Var("y")
    image = _input("input", 64, 64)
    sums, relative = hl.Func("sums"), hl.Func("relative")
    k = hl.RDom([(1, 63)], "k")
    sums[x, y] = image[x, y]
    sums[x, k.x] += sums[x, k.x - 1]
    relative[x, y] = sums[x, y] / sums[x, 63]
    return _outputs(relative, extents=(64, 64))


def two_outputs() -> hl.Pipeline:
    """Square roots of an image of 32 by 32, of which one output takes pairs and the other single ones."""
    x, y = hl.Var("x"), hl.Var("y")
    image = _input("input", 33, 32)
    root, pairs, single = hl.Func("root"), hl.Func("pairs"), hl.Func("single")
    root[x, y] = hl.sqrt(image[x, y])
    pairs[x, y] = root[x, y] + root[x + 1, y]
    single[x, y] = root[x, y] * 2
    return _outputs(pairs, single, extents=(32, 32))


def diamond() -> hl.Pipeline:
    """Square roots of an image of 32 by 16; horizontal and vertical pairs of them; and the quotient of those."""
    x, y = hl.Var("x"), hl.Var("y")
    image = _input("input", 33, 17)
    root, across, down, quotient = hl.Func("root"), hl.Func("across"), hl.Func("down"), hl.Func("quotient")
    root[x, y] = hl.sqrt(image[x, y])
    across[x, y] = root[x, y] + root[x + 1, y]
    down[x, y] = root[x, y] + root[x, y + 1]
    quotient[x, y] = across[x, y] / down[x, y]
    return _outputs(quotient, extents=(32, 16))


#: By registered name.
BUILDERS: dict[str, Callable[..., hl.Pipeline]] = {
    f"toy_{build.__name__}": build
    for build in (pointwise, stencils, blur, stencil_chain, mat_mul, histogram, scan, two_outputs, diamond)
}
