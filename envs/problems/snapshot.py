"""A Halide pipeline as plain data: it can be pickled, stored, and rebuilt in another process."""

import dataclasses
import functools
import hashlib
import json
import math
import operator
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import halide as hl
import numpy as np

from halidegym.native import _core
from halidegym.native.checks import INT32_MAX, shown

Estimate: TypeAlias = bool | int | float | Sequence[tuple[int, int]]
"""The value of a scalar parameter, or the (min, extent) of each dimension of an image parameter or an output."""

_LENGTH = struct.Struct("<Q")


@dataclasses.dataclass(frozen=True)
class PipelineSnapshot:
    """A serialized pipeline and what Halide's serialization loses of its parameters.

    Halide 21 writes a Param or ImageParam with its name and type only; estimates, ranges, constraints and values are
    kept here and put back by `restore`.

    Attributes:
        serialized: the bytes of `halide.serialize_pipeline`.
        parameters: everything that was set on each parameter, in the order of their names.
    """

    serialized: bytes
    parameters: tuple[_core.ParameterData, ...]

    @classmethod
    def take(cls, pipeline: hl.Pipeline) -> "PipelineSnapshot":
        """Copy a pipeline, which stays untouched.

        Raises:
            UnsupportedPipeline: a Func has no definition, a parameter has a constraint that is no constant, two have
                the same name, or Halide cannot serialize the pipeline.
        """
        # Halide does not survive the serialization of an undefined pipeline.
        if not pipeline.defined() or not pipeline.outputs():
            raise _core.UnsupportedPipeline("The pipeline has no outputs. Make it from at least one Func.")
        for output in pipeline.outputs():
            if not output.defined():
                raise _core.UnsupportedPipeline(
                    f"The output {output.name()!r} has no definition. Define it before handing it over."
                )
        try:
            serialized, parameters = hl.serialize_pipeline(pipeline, get_params=True)
        except hl.HalideError as error:
            raise _core.UnsupportedPipeline(
                f"Halide cannot serialize the pipeline: {error}\n"
                "Check that every Func it calls is defined, and that no two have the same name."
            ) from error
        try:
            pipeline.infer_arguments()  # where parameters have one name, `restore` would put one in the place of both
        except hl.HalideError as error:
            reason = str(error).removeprefix("Error:").strip()
            raise _core.UnsupportedPipeline(
                f"Halide cannot compile the pipeline: {reason} Give each a name of its own."
            ) from error
        return cls(serialized, tuple(_core.read_parameter(parameters[name]) for name in sorted(parameters)))

    def with_estimates(self, estimates: Mapping[str, Estimate]) -> "PipelineSnapshot":
        """The same pipeline with other estimates of some parameters and outputs.

        Args:
            estimates: by name: a number for a scalar, (min, extent) of every dimension for an image or an output.

        Raises:
            InvalidParameter: no parameter or output has such a name, or the estimate does not fit it; or one that was set on
                a parameter, and stays, does not.
        """
        names = {parameter.name for parameter in self.parameters}
        parameters = tuple(
            _with_estimate(parameter, estimates[parameter.name]) if parameter.name in estimates else _checked(parameter)
            for parameter in self.parameters
        )
        snapshot = PipelineSnapshot(self.serialized, parameters)
        of_outputs = {name: estimate for name, estimate in estimates.items() if name not in names}
        return snapshot._with_output_estimates(of_outputs) if of_outputs else snapshot

    def _with_output_estimates(self, estimates: Mapping[str, Estimate]) -> "PipelineSnapshot":
        pipeline = self.restore()
        outputs = {f.name(): f for f in pipeline.outputs()}
        # Names that several have come first, so that what is told of one of them alone stays.
        for name in sorted(estimates, key=lambda name: name in outputs):
            named = outputs_named(name, outputs)
            if not named:
                known = [parameter.name for parameter in self.parameters]
                known += dict.fromkeys(f.name().partition("$")[0] for f in pipeline.outputs())
                raise _core.InvalidParameter(
                    f"estimates: the pipeline has no parameter or output {name!r}. It has "
                    f"{', '.join(map(repr, known))}."
                )
            for output in named:
                region = _region(f"the output {name!r}", outputs[output].dimensions(), estimates[name])
                outputs[output].set_estimates(region)
        return PipelineSnapshot.take(pipeline)

    def restore(self) -> hl.Pipeline:
        """A fresh copy of the pipeline, with all names and with everything that was set on its parameters.

        Raises:
            FormatError: the parameters are none of this pipeline's; they come from a file that was made by hand.
        """
        parameters = hl.deserialize_parameters(self.serialized)
        for data in self.parameters:
            if data.name not in parameters:
                raise _core.FormatError(
                    f"The saved pipeline has no parameter {data.name!r}, of which estimates were saved. Save it again."
                )
            _core.write_parameter(parameters[data.name], data)
        return hl.deserialize_pipeline(self.serialized, parameters)

    @functools.cached_property
    def algorithm(self) -> str:
        """See `SchedulingProblem.algorithm`. Each schedule of a pipeline that is looked up in a record asks for it."""
        return hashlib.sha256(_core.algorithm_identity(self.restore())).hexdigest()

    def to_bytes(self) -> bytes:
        """Everything, for `from_bytes`: the length of the parameters, the parameters as JSON, the pipeline."""
        parameters = json.dumps([_as_dict(parameter) for parameter in self.parameters]).encode()
        return _LENGTH.pack(len(parameters)) + parameters + self.serialized

    @classmethod
    def from_bytes(cls, data: bytes) -> "PipelineSnapshot":
        """The snapshot that `to_bytes` wrote.

        The caller makes sure that the bytes are undamaged: Halide does not survive a damaged pipeline.

        Raises:
            FormatError: the parameters are damaged all the same.
        """
        try:
            (length,) = _LENGTH.unpack_from(data)
            end = _LENGTH.size + length
            parameters = tuple(_core.ParameterData(**parameter) for parameter in json.loads(data[_LENGTH.size : end]))
        except (struct.error, ValueError, TypeError, RecursionError) as error:
            raise _core.FormatError(
                f"The parameters of the saved pipeline are damaged ({shown(str(error))}). Save the problem again."
            ) from error
        return cls(data[end:], parameters)

    def __reduce__(self) -> tuple[Callable[[bytes], "PipelineSnapshot"], tuple[bytes]]:
        return _from_bytes, (self.to_bytes(),)


def outputs_named(name: str, outputs: Collection[str]) -> list[str]:
    """The outputs that an estimate is of: the one of this name, or all that have it but for what keeps names unique."""
    return [name] if name in outputs else [output for output in outputs if output.partition("$")[0] == name]


def _from_bytes(data: bytes) -> "PipelineSnapshot":
    return PipelineSnapshot.from_bytes(data)


def _as_dict(parameter: _core.ParameterData) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": parameter.type,
        "is_buffer": parameter.is_buffer,
        "dimensions": parameter.dimensions,
        "host_alignment": parameter.host_alignment,
        "values": parameter.values,
    }


def _checked(parameter: _core.ParameterData) -> _core.ParameterData:
    if "estimate" in parameter.values:
        _check_limits("set_estimate", parameter, parameter.values["estimate"][1])
    return parameter


def _with_estimate(parameter: _core.ParameterData, estimate: Estimate) -> _core.ParameterData:
    values = dict(parameter.values)
    if parameter.is_buffer:
        for dimension, (minimum, extent) in enumerate(
            _region(f"the image {parameter.name!r}", parameter.dimensions, estimate)
        ):
            values[f"min_estimate.{dimension}"] = ("int32", minimum)
            values[f"extent_estimate.{dimension}"] = ("int32", extent)
    else:
        number = _number(parameter, estimate)
        _check_limits("estimates", parameter, number)
        values["estimate"] = (parameter.type, number)
    return _core.ParameterData(**{**_as_dict(parameter), "values": values})


def _region(what: str, dimensions: int, estimate: Estimate) -> list[tuple[int, int]]:
    try:
        region = [
            (_coordinate(minimum), _coordinate(extent))
            for minimum, extent in estimate  # type: ignore[union-attr]
        ]
    except (TypeError, ValueError):
        region = []
    if len(region) != dimensions or not all(_has_coordinates(*interval) for interval in region):
        raise _core.InvalidParameter(
            f"estimates: {shown(estimate)} does not fit {what}. "
            f"Give {dimensions} pairs of integers (min, extent), one a dimension, with extents of at least 1 and no "
            "coordinate beyond 32 bits."
        )
    return region


def _coordinate(value: Any) -> int:
    if isinstance(value, bool):  # an integer to Python
        raise TypeError(value)
    return operator.index(value)


def _has_coordinates(minimum: int, extent: int) -> bool:
    return 1 <= extent <= INT32_MAX and -INT32_MAX - 1 <= minimum <= INT32_MAX - extent + 1


def _plain(number: object) -> int | float | None:
    """A finite number as one of Python's own; None for whatever else."""
    plain = number.item() if isinstance(number, np.generic) else number
    if not isinstance(plain, int | float):
        return None
    try:
        return plain if math.isfinite(plain) else None
    except OverflowError:  # an integer beyond all floats
        return None


def _number(parameter: _core.ParameterData, estimate: Estimate) -> int | float:
    if "handle" in parameter.type:
        raise _core.InvalidParameter(
            f"estimates: no number stands for {parameter.name!r}, which is a pointer. Write the pipeline with a number or "
            "an input buffer in its place."
        )
    number = _plain(estimate)
    if number is None:
        raise _core.InvalidParameter(
            f"estimates: {shown(estimate)} does not fit the scalar {parameter.name!r} of type {parameter.type}. "
            "Give one number, and a finite one."
        )
    if "float" in parameter.type:
        return float(number)
    bits = int(parameter.type.lstrip("uint"))
    low, high = (0, 2**bits - 1) if parameter.type.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if number != int(number) or not low <= number <= high:
        raise _core.InvalidParameter(
            f"estimates: {shown(estimate)} does not fit the scalar {parameter.name!r} of type {parameter.type}. "
            f"Give an integer from {low} to {high}."
        )
    return int(number)


def _check_limits(source: str, parameter: _core.ParameterData, number: int | float) -> None:
    limits = {limit: parameter.values[limit][1] for limit in ("min", "max") if limit in parameter.values}
    # Limits are as precise as the parameter: 0.1 keeps to one of 0.1, and what is beyond its type is infinite.
    with np.errstate(over="ignore"):
        stored = np.dtype(parameter.type).type(number) if parameter.type in ("float16", "float32") else number
    if not limits.get("min", stored) <= stored <= limits.get("max", stored):
        words = " and ".join(f"at {'least' if limit == 'min' else 'most'} {value}" for limit, value in limits.items())
        raise _core.InvalidParameter(
            f"{source}: {number} does not fit the scalar {parameter.name!r}, which must be {words}: compiled code refuses "
            "to run on any other value."
        )
