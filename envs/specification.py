"""What `env.spec` says of an environment: enough to make it again, here or elsewhere."""

from __future__ import annotations

import base64
import copy
import dataclasses
import enum
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec

from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.native._core import Error, FormatError, InvalidParameter

# What a problem has settled already, and what does not fit it any more.
_SETTLED = ("target", "parallelism", "estimates", "pipeline_options")

_KEY = "problem"


class PortableSpec(EnvSpec):
    """A specification that can be copied, pickled and written as JSON.

    Names and paths of pipelines stay what they are. Whatever else a pipeline was given as, among them Halide objects, of
    which there are no copies, is replaced by the problem that was made of it, for its target and number of cores.
    """

    @classmethod
    def of(cls, spec: EnvSpec, problems: Sequence[SchedulingProblem]) -> PortableSpec:
        """The specification of an environment that was made by `spec` and has these problems."""
        kwargs = dict(spec.kwargs)
        pipeline = kwargs.get("pipeline")
        if isinstance(pipeline, np.ndarray):
            pipeline = pipeline.tolist()
        if isinstance(pipeline, str | os.PathLike):
            kwargs["pipeline"] = os.fspath(pipeline)
        elif isinstance(pipeline, Sequence) and all(isinstance(source, str | os.PathLike) for source in pipeline):
            kwargs["pipeline"] = [os.fspath(source) for source in pipeline]
        elif pipeline is not None:
            kwargs = {name: value for name, value in kwargs.items() if name not in _SETTLED}
            kwargs["pipeline"] = list(problems) if len(problems) > 1 else problems[0]
        others = {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec) if field.init}
        return cls(**{**others, "kwargs": kwargs})

    def __eq__(self, other: object) -> bool:
        """Whether both make the same environment, as what `EnvSpec.from_json` reads from `to_json` does."""
        if not isinstance(other, EnvSpec):
            return NotImplemented
        try:
            ours, theirs = (json.loads(PortableSpec.to_json(spec)) for spec in (self, other))  # type: ignore[arg-type]
        except (Error, ValueError):  # one has no such form
            ours, theirs = (
                [getattr(spec, field.name) for field in dataclasses.fields(EnvSpec)] for spec in (self, other)
            )
        return bool(ours == theirs)

    def to_json(self) -> str:
        """The specification as JSON, for `EnvSpec.from_json`.

        Raises:
            InvalidParameter: an argument has no such form, such as a cost model's `weights` that are not a path, or `costs`.
            UnsupportedPipeline: a region of a pipeline has bounds that only Halide can evaluate.
        """
        plain = copy.copy(self)
        plain.kwargs = _json_forms(self.kwargs)
        plain.additional_wrappers = tuple(
            dataclasses.replace(wrapper, kwargs=wrapper.kwargs and _json_forms(wrapper.kwargs, f" of {wrapper.name}"))
            for wrapper in self.additional_wrappers
        )
        return EnvSpec.to_json(plain)


class Specified:
    """What environments, single and in vectors, have in common that `gym.make` and `gym.make_vec` made."""

    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """How the environment was made, and is made again; see `PortableSpec`."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = None if spec is None else PortableSpec.of(spec, self._given_problems())

    def _given_problems(self) -> Sequence[SchedulingProblem]:
        """Those that `pipeline` stands for."""
        return ()


def saved_problem(source: Mapping[str, str]) -> SchedulingProblem:
    """The problem that JSON holds in place of a pipeline.

    Raises:
        FormatError: it holds none, or a damaged one.
    """
    try:
        data = zlib.decompress(base64.b64decode(source[_KEY], validate=True))
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise FormatError(
            f"pipeline: a mapping with {', '.join(map(repr, source)) or 'nothing in it'} is no saved problem ({error}). "
            "Take one out of what env.spec.to_json() wrote"
        ) from error
    return SchedulingProblem.from_bytes(data)


def _json_forms(kwargs: Mapping[str, Any], whose: str = "") -> dict[str, Any]:
    return {name: _json_form(f"{name}{whose}", value) for name, value in kwargs.items()}


def _json_form(name: str, value: Any) -> Any:
    if isinstance(value, SchedulingProblem):
        return {_KEY: base64.b64encode(zlib.compress(value.to_bytes())).decode()}
    if isinstance(value, list | tuple):
        return [_json_form(name, item) for item in value]
    if isinstance(value, dict):
        return {key: _json_form(f"{name}[{key!r}]", item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, enum.Enum):  # such as Gymnasium's AutoresetMode, which vectors take as text, too
        return value.value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    try:
        json.dumps(value)
    except TypeError as error:
        raise InvalidParameter(
            f"{name}={value!r} has no JSON form: pickle the specification, give a name, a number or the path of a file, or "
            "leave it out and hand it to make() again"
        ) from error
    return value
