"""Random pipelines of what users write and generated ones leave out.

Tuples, scans, scatters, gathers, several updates and outputs, fixed coordinates, predicates, no dimensions at all, prime
sizes and sizes of one. Integers stay in range and never come from computed floats, so that equal schedules of a pipeline
give equal integers, and outputs can be verified.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import halide as hl

_X, _Y, _Z = hl.Var("x"), hl.Var("y"), hl.Var("z")
_SIZES = (1, 2, 3, 7, 16, 31, 64, 97, 160)
_INTEGERS = (hl.UInt(8), hl.UInt(16), hl.Int(16), hl.Int(32))
_FLOATS = (hl.Float(32), hl.Float(32), hl.Float(64))
_INDEX_RANGE = 251  # that integers are brought to, and gathered from


class _Builder:
    """Draws Funcs, each of what was drawn before."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._sizes = [self._random.choice(_SIZES) for _ in range(3)]
        self._funcs = [self._image(index) for index in range(self._random.randint(1, 2))]

    def pipeline(self) -> hl.Pipeline:
        kinds: Sequence[Callable[[hl.Func], None]] = (
            self._pointwise, self._pointwise, self._stencil, self._resampled, self._tuple, self._reduction, self._scan,
            self._scatter, self._gather, self._transposed, self._updates, self._total,
        )  # fmt: skip
        for index in range(self._random.randint(2, 9)):
            func = hl.Func(f"f{index}")
            self._random.choice(kinds)(func)
            self._funcs.append(func)
        inner, last = self._funcs[:-1], self._funcs[-1]
        extra = [func for func in self._random.sample(inner, min(len(inner), 1)) if self._random.random() < 0.3]
        outputs = [self._output(func, index) for index, func in enumerate([last, *extra])]
        return hl.Pipeline(outputs)

    def _image(self, index: int) -> hl.Func:
        element = self._random.choice((*_INTEGERS, *_FLOATS))
        dimensions = self._random.randint(1, 3)
        image = hl.ImageParam(element, dimensions, f"in{index}")
        bounds = [(0, size) for size in self._sizes[:dimensions]]
        image.set_estimates(bounds)
        boundary = self._random.choice((hl.BoundaryConditions.repeat_edge, hl.BoundaryConditions.mirror_image))
        return boundary(image, bounds)

    def _output(self, func: hl.Func, index: int) -> hl.Func:
        output, variables = hl.Func(f"out{index}"), self._variables(func)
        if func.outputs() > 1:
            output[variables] = hl.Tuple([func[variables][element] for element in range(func.outputs())])
        else:
            output[variables] = func[variables] + hl.cast(func.type(), 1)
        output.set_estimates([(0, size) for size in self._sizes[: len(variables)]])
        return output

    def _variables(self, func: hl.Func) -> list[hl.Var]:
        return [_X, _Y, _Z][: func.dimensions()]

    def _any(self) -> hl.Func:
        return self._random.choice(self._funcs[-4:])

    def _at(self, func: hl.Func, place: Sequence[hl.Expr | hl.Var | int]) -> hl.Expr:
        """A value of a Func; places with too many or too few coordinates are cut, or filled with zeros."""
        coordinates = [hl.i32(each) for each in [*place, 0, 0, 0][: func.dimensions()]]
        value = func[coordinates] if coordinates else func[()]
        return hl.Expr(value[self._random.randrange(func.outputs())] if func.outputs() > 1 else value)

    def _read(self, *offset: int, dimensions: int = 2) -> hl.Expr:
        variables = (_X, _Y, _Z)[:dimensions]
        return self._at(
            self._any(), [variable + by for variable, by in zip(variables, (*offset, 0, 0, 0), strict=False)]
        )

    def _joined(self, a: hl.Expr, b: hl.Expr) -> hl.Expr:
        """Both in one value: of floats if there is one, or an integer that is small enough to go on with."""
        if a.type().is_float() or b.type().is_float():
            kind = hl.Float(64) if 64 in (a.type().bits(), b.type().bits()) else hl.Float(32)
            return hl.cast(kind, a) * hl.cast(kind, 0.5) + hl.cast(kind, b) * hl.cast(kind, 0.25)
        kind = self._random.choice(_INTEGERS)
        a, b = self._small(a), self._small(b)
        return hl.cast(kind, self._random.choice((a + b, hl.max(a, b), hl.select(a > b, a - b, b), a * 3 + b // 2)))

    def _small(self, value: hl.Expr) -> hl.Expr:
        """An integer between 0 and 250."""
        return hl.i32(value) % _INDEX_RANGE

    def _integer(self) -> hl.Expr | None:
        value = self._read()
        return None if value.type().is_float() else self._small(value)

    def _reductions(self, extents: Sequence[int]) -> hl.RDom:
        return hl.RDom([(0, extent) for extent in extents], self._random.choice("rst"))

    def _pointwise(self, func: hl.Func) -> None:
        dimensions = self._random.randint(1, 3)
        value = self._joined(self._read(dimensions=dimensions), self._read(dimensions=dimensions))
        func[[_X, _Y, _Z][:dimensions]] = value

    def _stencil(self, func: hl.Func) -> None:
        value = self._read(-1)
        for offset in ((1, 0), (0, self._random.randint(-3, 3)), (2, -1))[: self._random.randint(1, 3)]:
            value = self._joined(value, self._read(*offset))
        func[_X, _Y] = value

    def _resampled(self, func: hl.Func) -> None:
        source = self._any()
        near, far = self._random.choice(
            [
                ([_X * 2, _Y], [_X * 2 + 1, _Y]),
                ([_X // 2, _Y // 2], [(_X + 1) // 2, _Y]),
                ([_X, _Y * 3], [_X, _Y * 3 + 2]),
            ]
        )
        func[_X, _Y] = self._joined(self._at(source, near), self._at(source, far))

    def _tuple(self, func: hl.Func) -> None:
        first, second = self._read(), self._read(1)
        func[_X, _Y] = hl.Tuple([first, self._joined(first, second)])

    def _reduction(self, func: hl.Func) -> None:
        r = self._reductions([self._random.choice(_SIZES)])
        value = self._at(self._any(), [_X + r.x, _Y])
        if value.type().is_float():
            func[_X, _Y] = hl.cast(value.type(), 0)
            func[_X, _Y] = hl.max(func[_X, _Y], value)
        else:
            if self._random.random() < 0.5:
                r.where(r.x % 3 != 1)
            func[_X, _Y] = hl.i32(0)
            func[_X, _Y] += self._small(value)

    def _scan(self, func: hl.Func) -> None:
        r = hl.RDom([(1, self._random.choice(_SIZES))], "r")
        source = self._any()
        start, added = self._at(source, [0, _Y]), self._at(source, [r.x, _Y])
        if start.type().is_float():
            func[_X, _Y] = start
            func[r.x, _Y] = func[r.x - 1, _Y] * hl.cast(start.type(), 0.5) + hl.cast(start.type(), added)
        else:
            func[_X, _Y] = self._small(start)
            func[r.x, _Y] = (func[r.x - 1, _Y] + self._small(added)) % 1021

    def _scatter(self, func: hl.Func) -> None:
        r = self._reductions([self._random.choice(_SIZES), self._random.choice(_SIZES)])
        value = self._at(self._any(), [r.x, r.y])
        if value.type().is_float():
            self._reduction(func)
            return
        func[_X] = hl.i32(0)
        func[hl.clamp(self._small(value), 0, _INDEX_RANGE - 1)] += 1

    def _gather(self, func: hl.Func) -> None:
        index = self._integer()
        if index is None:
            self._stencil(func)
            return
        func[_X, _Y] = self._at(self._any(), [hl.clamp(index - _X, 0, self._sizes[0] - 1), _Y])

    def _transposed(self, func: hl.Func) -> None:
        func[_X, _Y] = self._joined(self._at(self._any(), [_Y, _X]), self._at(self._any(), [0, _Y]))

    def _updates(self, func: hl.Func) -> None:
        """Several, of which one is at fixed coordinates."""
        func[_X, _Y] = self._joined(self._read(), self._read(0, 1))
        kind = func.type()
        func[_X, 0] = hl.cast(kind, 7)
        if kind.is_float():
            func[_X, _Y] = func[_X, _Y] * hl.cast(kind, 0.5)
        else:
            r = self._reductions([self._random.choice(_SIZES)])
            func[_X, r.x] = hl.cast(kind, self._small(func[_X, r.x] + self._small(self._at(self._any(), [r.x, _X]))))

    def _total(self, func: hl.Func) -> None:
        """No dimensions: one number for all."""
        r = self._reductions([self._random.choice(_SIZES), self._random.choice(_SIZES)])
        value = self._at(self._any(), [r.x, r.y])
        if value.type().is_float():
            func[()] = hl.cast(value.type(), 0)
            func[()] = hl.max(func[()], value)
        else:
            func[()] = hl.i32(0)
            func[()] += self._small(value)


def build(seed: int = 0) -> hl.Pipeline:
    """The pipeline of this seed, unscheduled and with all its estimates."""
    return _Builder(seed).pipeline()
