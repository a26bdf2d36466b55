"""Generators of Halide in Python: classes that `halide.generator` decorates, which build a pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypeGuard

import halide as hl

from halidegym.native._core import InvalidParameter, UnsupportedPipeline, resolve_target


def is_generator(source: object) -> TypeGuard[type[hl.Generator]]:
    """Whether this is the class of a generator."""
    return isinstance(source, type) and issubclass(source, hl.Generator)


def generated_pipeline(
    generator: type[hl.Generator], target: str, parameters: Mapping[str, Any] | None = None
) -> hl.Pipeline:
    """Build the pipeline of a generator.

    The generator finds itself built for an autoscheduler (`using_autoscheduler()`), so that it states its estimates and
    leaves its own schedule away.

    Args:
        generator: the class.
        target: Halide target string to build for.
        parameters: its GeneratorParams by name; and `input.type` and `input.dim`, where an input leaves these open.

    Raises:
        InvalidParameter: there is no such target or parameter, or it cannot have such a value; or the class is not
            decorated, or has no `generate`.
        UnsupportedPipeline: the generator fails.
    """
    _check_complete(generator)
    given = {name: _parsed(generator, name, value) for name, value in (parameters or {}).items()}
    known_target = hl.Target(resolve_target(target))
    try:
        with hl.GeneratorContext(known_target, hl.AutoschedulerParams("Adams2019", {})):
            pipeline: hl.Pipeline = generator(generator_params=given)._build_pipeline()
    except hl.HalideError as error:
        raise UnsupportedPipeline(f"The generator {generator.__name__} builds no pipeline: {error}") from error
    return pipeline


def _check_complete(generator: type[hl.Generator]) -> None:
    name = generator.__name__
    if not hasattr(generator, "_halide_registered_name"):
        raise InvalidParameter(f"The class {name} is no registered generator; decorate it with @halide.generator")
    if inspect.isabstract(generator):
        raise InvalidParameter(f"The generator {name} has no generate(self); define the pipeline in it")


def _parsed(generator: type[hl.Generator], name: str, value: object) -> object:
    defaults = {
        key: default._value
        for base in reversed(generator.__mro__)
        for key, default in vars(base).items()
        if isinstance(default, hl.GeneratorParam)
    }
    if name.endswith(".dim") and not (isinstance(value, int) or (isinstance(value, str) and value.isdecimal())):
        raise InvalidParameter(
            f"The parameter {name} of the generator {generator.__name__} is {value!r}; give a number of dimensions, as 2"
        )
    if name.endswith((".dim", ".type")):
        return value
    if name not in defaults:
        known = ", ".join(defaults) or "none"
        raise InvalidParameter(f"The generator {generator.__name__} has no parameter {name!r}; it has these: {known}")
    if isinstance(defaults[name], bool) and isinstance(value, str):
        value = {"true": True, "false": False}.get(value, value)
    kind = type(defaults[name])
    try:
        if kind is bool and not isinstance(value, bool):
            raise ValueError
        parsed = hl.GeneratorParam._parse_value(name, kind, value)
        if kind is int and not isinstance(value, str) and parsed != value:  # Halide cuts a fraction off
            raise ValueError
    except (ValueError, TypeError, hl.HalideError) as error:
        raise InvalidParameter(
            f"The parameter {name} of the generator {generator.__name__} is {value!r}; give one of the kind of its "
            f"default, {defaults[name]!r}"
        ) from error
    return value
