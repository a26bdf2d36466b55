"""What may stand for PIPELINE on the command line."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib
import importlib.util
import inspect
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from halidegym.envs import pipelines, sources
from halidegym.envs.problems.halide_generators import is_generator
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.snapshot import Estimate
from halidegym.native._core import InvalidParameter, MissingEstimate

HELP = """PIPELINE is one of

\b
  harris              a name that `halidegym list` shows,
  blur.py:build       a function in a Python file that returns an hl.Func or hl.Pipeline,
  blur.py:Blur        a generator: a class that halide.generator decorates,
  my.module:build     the same in a module,
  blur.hlpipe         a file written by halide.serialize_pipeline, or by a generator with -e hlpipe.

A serialized file has lost the estimates of its parameters: --param and --estimate supply what is missing, or
--estimate-from the sizes of example inputs, from which the rest is proposed. --option is for the function that builds
the pipeline, or a parameter of the generator.
"""


def with_pipeline_help(function: Callable[..., Any]) -> Callable[..., Any]:
    """Append to a command's help what PIPELINE may be."""
    function.__doc__ = f"{inspect.getdoc(function)}\n\n{HELP}"
    return function


@dataclasses.dataclass(frozen=True)
class Details:
    """What the command line says about pipelines besides their names.

    Attributes:
        estimates: of parameters and outputs, see `SchedulingProblem.from_pipeline`.
        options: arguments of the function that builds the pipeline.
        examples: extents of example inputs, from which estimates are proposed that are missing; none, if nothing is to
            be proposed.
    """

    estimates: Mapping[str, Estimate] = dataclasses.field(default_factory=dict)
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    examples: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)


def check_name(pipeline: str) -> None:
    """Refuse a text that stands for no pipeline, before the work for others; what a user's file has is seen when it is read.

    Raises:
        InvalidParameter: there is no such name or file.
    """
    module, separator, _ = pipeline.rpartition(":")
    check_file(module)
    if not separator and not pipelines.is_name(pipeline) and not Path(pipeline).is_file():
        raise InvalidParameter(
            f"There is no pipeline {pipeline!r}; `halidegym list` shows the names, and file.py:function stands for yours"
        )


def load_problem(
    pipeline: str,
    *,
    target: str = "host",
    parallelism: int | None = None,
    details: Details | None = None,
) -> SchedulingProblem:
    """Build the pipeline that the text stands for, and analyse it.

    Args:
        pipeline: see `HELP`.
        target: Halide target string, or "host".
        parallelism: number of cores to schedule for; None for the usable ones.
        details: estimates and options; None for none.

    Raises:
        InvalidParameter: the text stands for nothing, or for something that has no such options.
        Exception: whatever the user's function raises, and the errors of `SchedulingProblem.from_pipeline`.
    """
    check_name(pipeline)
    module, separator, function = pipeline.rpartition(":")
    source = named_in_module(module, function) if separator else pipeline
    details = details or Details()
    try:
        return sources.load_problem(
            source,
            target=target,
            parallelism=parallelism,
            estimates=details.estimates,
            pipeline_options=details.options,
            example_inputs=details.examples,
            on_proposal=functools.partial(_tell, details.examples),
        )
    except SystemExit as ended:
        raise InvalidParameter(f"{pipeline} ends the program (sys.exit) when it is called; let it return") from ended
    except MissingEstimate as error:
        raise MissingEstimate(
            f"{error} Or, if it has inputs, give their sizes, such as --estimate-from image=1920,1080: what is missing is "
            "proposed."
        ) from error


def _tell(inputs: Collection[str], proposed: Mapping[str, Estimate]) -> None:
    # Outputs without what keeps a name unique in this process, unless it tells two of them apart. Names of inputs and
    # parameters are what the pipeline calls them.
    outputs = {name for name, estimate in proposed.items() if isinstance(estimate, Sequence) and name not in inputs}
    stems = {name: name.partition("$")[0] if name in outputs else name for name in proposed}
    count = Counter(stems.values())
    names = {name: stem if count[stem] == 1 else name for name, stem in stems.items()}
    options = " ".join(_option(names[name], estimate) for name, estimate in proposed.items())
    click.echo(f"Proposed: {options}", err=True)


def _option(name: str, estimate: Estimate) -> str:
    """The option that gives this estimate, as a shell takes it."""
    if isinstance(estimate, bool | int | float):
        return f"--param {shlex.quote(f'{name}={str(estimate).lower()}')}"
    region = ",".join(f"{minimum},{extent}" for minimum, extent in estimate)
    return f"--estimate {shlex.quote(f'{name}={region}')}"


def named_in_module(module_name: str, function_name: str) -> Callable[..., Any]:
    """The function or class of this name in a Python file or module.

    Raises:
        InvalidParameter: there is none, or the file is no Python.
        Exception: whatever the module raises when it is imported.
    """
    check_file(module_name)
    module = _load_file(Path(module_name).resolve()) if module_name.endswith(".py") else _import(module_name)
    function = getattr(module, function_name, None)
    if not callable(function):
        own = [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ or is_generator(value)
        ]
        public = [name for name in own if not name.startswith("_")]
        remedy = f"it has {', '.join(public)}" if public else "check the name after the colon"
        raise InvalidParameter(f"{module_name} has no function {function_name or 'without a name'}; {remedy}")
    return function  # type: ignore[no-any-return]


def check_file(module_name: str) -> None:
    """Refuse a Python file that does not exist; of a module, its import tells.

    Raises:
        InvalidParameter: there is none.
    """
    if module_name.endswith(".py") and not Path(module_name).is_file():
        raise InvalidParameter(f"There is no file {module_name}; check the path before the colon")


@functools.cache  # a generator may be registered only once
def _load_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    assert spec is not None and spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses, typing and pickle look for what belongs to a class
    sys.path.insert(0, str(path.parent))  # as `python file.py` does, for the modules next to it
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[spec.name]
        if isinstance(error, SyntaxError):
            raise InvalidParameter(f"{error.filename}, line {error.lineno}, is no Python: {error.msg}") from error
        if isinstance(error, SystemExit):
            raise InvalidParameter(_ended(path)) from error
        raise
    finally:
        sys.path.pop(0)
    return module


def _module_name(path: Path) -> str:
    """What a file is imported as: by its own name, unless that is another module's."""
    if path.stem.isidentifier() and path.stem not in sys.modules:
        found = importlib.util.find_spec(path.stem)
        if found is None or found.origin == str(path):
            return path.stem
    return f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"


def _import(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        return importlib.import_module(name)
    except (ModuleNotFoundError, ValueError) as error:
        raise InvalidParameter(
            f"Cannot import {name or 'a module without a name'}: {error}. Check the name before the colon"
        ) from error
    except SystemExit as ended:
        raise InvalidParameter(_ended(name)) from ended
    finally:
        sys.path.pop(0)


def _ended(module: str | Path) -> str:
    return f"{module} ends the program (sys.exit) when it is loaded; let it do so only if __name__ == '__main__'"
