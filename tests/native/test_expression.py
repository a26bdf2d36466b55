"""Bounds expressions against Halide's simplifier (docs/specification/function-dag.md, section 6.2)."""

import random
from collections.abc import Callable, Sequence

import halide as hl
import pytest

from halidegym.native._core import (
    InternalError,
    InvalidParameter,
    compile_expression,
    simplify_to_integer,
)

SYMBOLS = ["a", "b", "c"]
A, B, C = (hl.Expr(hl.Var(name)) for name in SYMBOLS)

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
EXTREMES = [0, 1, -1, 2, -7, 100, 127, 128, 255, 256, -128, 32767, 65535, 46341, INT_MAX - 1, INT_MAX, INT_MIN]

SIGNED = [hl.Int(8), hl.Int(16), hl.Int(32), hl.Int(64)]
INTEGERS = [*SIGNED, hl.UInt(8), hl.UInt(16), hl.UInt(32), hl.UInt(64)]
FLOATS = [hl.Float(32), hl.Float(64)]
FOLDED_FUNCTIONS = [
    hl.floor, hl.ceil, hl.trunc, hl.sqrt, hl.exp, hl.log, hl.sin, hl.cos, hl.tan, hl.asin, hl.acos, hl.atan, hl.sinh,
    hl.cosh, hl.tanh, hl.asinh, hl.acosh, hl.atanh, hl.round, hl.abs, hl.erf, hl.hypot, hl.pow, hl.atan2,
]  # fmt: skip


def value_or_none(evaluate: Callable[[], int]) -> int | None:
    try:
        return evaluate()
    except InternalError:
        return None


def evaluations(expression: hl.Expr, values: list[int]) -> tuple[int | None, int | None]:
    """What the bytecode and what the library make of an expression."""
    compiled = compile_expression(expression, SYMBOLS)
    ours = value_or_none(lambda: compiled.evaluate(values))
    return ours, value_or_none(lambda: simplify_to_integer(expression, SYMBOLS, values))


class Generator:
    """Random expressions of any type that the bytecode knows."""

    def __init__(self, seed: int, constants: Sequence[int], max_shift: int) -> None:
        self.random = random.Random(seed)
        self.constants = constants
        self.max_shift = max_shift

    def constant(self, type_: hl.Type) -> hl.Expr:
        value = self.random.choice(self.constants)
        if type_ in FLOATS:
            return hl.cast(type_, hl.f64(value / self.random.choice([1, 2, 16])))
        return hl.cast(type_, hl.i64(value))

    def leaf(self, type_: hl.Type) -> hl.Expr:
        if self.random.random() < 0.3:
            return self.constant(type_)
        return hl.cast(type_, self.random.choice([A, B, C]))

    def condition(self, depth: int) -> hl.Expr:
        choice = self.random.randrange(8)
        if choice == 0:
            return self.condition(depth - 1) & self.condition(depth - 1) if depth > 0 else A < B
        if choice == 1:
            return self.condition(depth - 1) | hl.logical_not(C == 0) if depth > 0 else A >= C
        type_ = self.random.choice([hl.Int(32), *INTEGERS, *FLOATS])
        a, b = self.expression(type_, depth - 1), self.expression(type_, depth - 1)
        return [a < b, a <= b, a > b, a >= b, a == b, a != b][choice - 2]

    def expression(self, type_: hl.Type, depth: int) -> hl.Expr:
        if depth <= 0:
            return self.leaf(type_)
        choice = self.random.randrange(13 if type_ in FLOATS else 20)
        if choice == 0:
            return hl.select(self.condition(depth - 1), *(self.expression(type_, depth - 1) for _ in range(2)))
        if choice == 1:
            other = self.random.choice([hl.Int(32), *INTEGERS, *FLOATS])
            return hl.cast(type_, self.expression(other, depth - 1))
        a, b = self.expression(type_, depth - 1), self.expression(type_, depth - 1)
        match choice:
            case 2 | 3:
                return a + b
            case 4:
                return a - b
            case 5:
                return a * b
            case 6:
                return a / b
            case 7:
                return a % b
            case 8 | 9:
                return hl.min(a, b)
            case 10 | 11:
                return hl.max(a, b)
        return self.function(type_, a, b) if type_ in FLOATS else self.integer_operation(type_, choice, a, b)

    def function(self, type_: hl.Type, a: hl.Expr, b: hl.Expr) -> hl.Expr:
        if type_ == hl.Float(64):
            return self.random.choice([hl.abs, hl.round])(a)
        function = self.random.choice(FOLDED_FUNCTIONS)
        return function(a, b) if function in (hl.pow, hl.atan2, hl.hypot) else function(a)

    def integer_operation(self, type_: hl.Type, choice: int, a: hl.Expr, b: hl.Expr) -> hl.Expr:
        match choice:
            case 12:
                absolute = hl.abs(a) if type_ in SIGNED and self.random.random() < 0.5 else hl.absd(a, b)
                return hl.cast(type_, absolute)
            case 13:
                distance = self.random.randint(0, self.max_shift)
                return hl.cast(type_, a << distance if self.random.random() < 0.5 else a >> distance)
            case 14:
                return a & b
            case 15:
                return a | b
            case 16:
                return a ^ b
            case 17:
                return ~a
            case 18:
                count = self.random.choice([hl.popcount, hl.count_leading_zeros, hl.count_trailing_zeros])
                return hl.cast(type_, count(a))
        other = self.random.choice(INTEGERS + FLOATS)
        return hl.saturating_cast(type_, self.expression(other, 0))


def test_agrees_on_moderate_values() -> None:
    """Away from overflows the two agree on everything, also on what has no value."""
    generator = Generator(seed=1, constants=range(-9, 10), max_shift=6)
    decided = 0
    for _ in range(4000):
        expression = generator.expression(hl.Int(32), depth=2)
        values = [generator.random.randint(-40, 40) for _ in SYMBOLS]
        ours, reference = evaluations(expression, values)
        assert ours == reference, f"{expression} at {values}"
        decided += reference is not None and compile_expression(expression, SYMBOLS).is_portable
    assert decided > 3500


@pytest.mark.parametrize("depth", [1, 3, 4])
def test_never_disagrees_with_the_library(depth: int) -> None:
    """After an overflow the library sometimes still finds a value where we raise; never the other way round."""
    generator = Generator(seed=depth, constants=[*EXTREMES, *range(-9, 10)], max_shift=70)
    decided = 0
    for _ in range(4000):
        expression = generator.expression(hl.Int(32), depth)
        values = [generator.random.choice([*EXTREMES, generator.random.randint(-40, 40)]) for _ in SYMBOLS]
        ours, reference = evaluations(expression, values)
        if ours is not None:
            assert ours == reference, f"{expression} at {values}"
            decided += compile_expression(expression, SYMBOLS).is_portable
    assert decided > 2000


@pytest.mark.parametrize(
    ("expression", "values", "expected"),
    [
        (A + B, [INT_MAX, 1, 0], None),
        (A + B - C, [INT_MAX, 1, 1], None),  # an intermediate overflow that would cancel
        (A * B, [46341, 46341, 0], None),
        (A - B, [INT_MIN, 1, 0], None),
        (hl.Expr(1792) - A * 256, [3, 0, 0], 1024),
        (B - (A + 3), [5, 2, 0], -6),
        (hl.Expr(-2) - A, [INT_MAX, 0, 0], None),
        (A / B, [-7, 2, 0], -4),
        (A / B, [7, -2, 0], -3),
        (A / B, [-7, -2, 0], 4),
        (A % B, [-7, 2, 0], 1),
        (A % B, [-7, -2, 0], 1),
        (A / B, [5, 0, 0], 0),
        (A % B, [5, 0, 0], 0),
        (A / B, [INT_MIN, -1, 0], INT_MIN),
        (A / B + C, [INT_MIN, -1, 0], None),
        (hl.cast(hl.Int(32), hl.cast(hl.UInt(8), A)), [300, 0, 0], 44),
        (hl.cast(hl.Int(32), hl.cast(hl.Int(8), A) + hl.i8(1)), [127, 0, 0], -128),
        (hl.cast(hl.Int(32), hl.cast(hl.UInt(16), A) - hl.u16(1)), [0, 0, 0], 65535),
        (hl.cast(hl.Int(32), hl.cast(hl.Float(32), A) * 0.5), [-7, 0, 0], -3),
        (hl.cast(hl.Int(32), hl.round(hl.cast(hl.Float(32), A) * 0.5)), [5, 0, 0], 2),
        (hl.cast(hl.Int(32), hl.cast(hl.Float(32), A)), [16777217, 0, 0], 16777216),
        (hl.cast(hl.Int(32), hl.sqrt(hl.cast(hl.Float(32), A))), [-1, 0, 0], None),
        (A >> 1, [-7, 0, 0], -4),
        (A << B, [1, 32, 0], None),
        (hl.cast(hl.Int(32), hl.absd(A, B)), [INT_MIN, INT_MAX, 0], -1),
        (hl.select(A < B, C, C + INT_MAX), [0, 1, 5], 5),  # the other arm overflows
        (hl.select(A < B, C, C + INT_MAX), [1, 0, 5], None),
        (hl.select((A < B) & (C + INT_MAX < B), 1, 2), [1, 0, 5], 2),
        (hl.max(hl.min(hl.likely(A), 2047), 0), [3000, 0, 0], 2047),
        (hl.cast(hl.UInt(8), A), [3, 0, 0], None),  # no signed integer
        (A, [2**32 + 5, 0, 0], 5),  # symbols are truncated to 32 bits
        (A, [2**31, 0, 0], INT_MIN),
    ],
    ids=str,
)
def test_tabulated(expression: hl.Expr, values: list[int], expected: int | None) -> None:
    assert compile_expression(expression, SYMBOLS).is_portable
    assert evaluations(expression, values) == (expected, expected)


@pytest.mark.parametrize(
    "expression",
    [hl.likely(A) + 1, hl.lerp(A, B, 0.5), hl.cast(hl.Int(32), hl.sqrt(hl.cast(hl.Float(64), A))), A + hl.Var("d"),
     hl.unsafe_promise_clamped(A, B, C), hl.cast(hl.Int(32), hl.cast(hl.Float(16), A))],
    ids=str,
)  # fmt: skip
def test_outside_the_language_asks_the_library(expression: hl.Expr) -> None:
    compiled = compile_expression(expression, SYMBOLS)
    assert not compiled.is_portable
    for values in ([1, 2, 3], [2, 1, 3], [2049, 0, 0]):
        ours, reference = evaluations(expression, values)
        assert ours == reference


def test_the_library_is_asked_only_where_it_must_be() -> None:
    clamped = hl.max(hl.min(A / 2 + 1, 2047), 0)
    assert compile_expression(clamped, SYMBOLS).is_portable
    assert compile_expression(hl.cast(hl.Int(32), hl.erf(hl.cast(hl.Float(32), A))), SYMBOLS).is_portable


def test_equal_parts_are_computed_once() -> None:
    part = (A + B) * C
    assert (
        compile_expression(part * part, SYMBOLS).num_instructions
        == compile_expression(part, SYMBOLS).num_instructions + 1
    )


def test_equality_is_that_of_the_code() -> None:
    assert compile_expression(A + 1, SYMBOLS) == compile_expression(hl.Expr(hl.Var("a")) + 1, SYMBOLS)
    assert compile_expression(A + 1, SYMBOLS) != compile_expression(A + 2, SYMBOLS)
    assert compile_expression(hl.likely(A), SYMBOLS) != compile_expression(hl.likely(A), SYMBOLS)


def test_long_expressions_work() -> None:
    total = A
    for i in range(500):
        total = total + hl.min(B, i)
    assert compile_expression(total, SYMBOLS).num_instructions > 1000
    assert evaluations(total, [3, 1000, 0]) == (3 + 499 * 250, 3 + 499 * 250)


def test_missing_values_are_refused() -> None:
    compiled = compile_expression(A + C, SYMBOLS)
    assert compiled.num_symbols == 3
    with pytest.raises(InvalidParameter, match="3 symbols was given 2 values"):
        compiled.evaluate([1, 2])


@pytest.mark.parametrize("not_an_expression", [3, "a", hl.Var("x"), hl.Expr])
def test_only_expressions_of_the_halide_module_are_taken(not_an_expression: object) -> None:
    with pytest.raises(TypeError, match=r"expected a halide\.Expr"):
        compile_expression(not_an_expression, SYMBOLS)
