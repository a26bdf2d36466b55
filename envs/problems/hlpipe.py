"""Reading pipelines from `.hlpipe` files, which may be damaged.

Halide checks little of what it reads: a damaged file ends the process, at once or in whatever it does with the pipeline
later, and not in the same way each time. So another process reads the file, and does with the pipeline everything that
this one will. It hands over what it wrote itself: a well-formed pipeline, with which all of this went well.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import halide as hl

from halidegym.envs.problems.snapshot import Estimate, PipelineSnapshot
from halidegym.envs.processes.confined import ProcessEnded
from halidegym.envs.processes.isolated import PythonProcess
from halidegym.native import _core

T = TypeVar("T")

_OTHER_FILES = {
    ".py": "Python source. Name the function in it that returns the pipeline, {path}:FUNCTION on the command line; in "
    "Python, import it and hand it over",
    ".cpp": "C++ source. Build its generator, and let that write an .hlpipe file, with -e hlpipe",
    ".json": "JSON, as plans are, and no pipeline. Give the pipeline; a plan goes with it, such as "
    "`halidegym time PIPELINE --plan {path}`",
}

# The largest pipelines take seconds, and hundreds of megabytes.
_TIMEOUT_S = 120.0
_MEMORY_BYTES = 4 << 30


def read_hlpipe(
    path: Path, estimates: Mapping[str, Estimate], target: str, parallelism: int, name: str
) -> PipelineSnapshot:
    """Read a file that `halide.serialize_pipeline` wrote, for the analysis with these arguments.

    Raises:
        FormatError: it is no pipeline that Halide can read, or damaged.
        MissingEstimate, UnsupportedPipeline, InvalidParameter: as the analysis does.
        OSError: it cannot be read.
    """
    return in_another_process(path, _read, path, estimates, target, parallelism, name)


def in_another_process(path: Path, function: Callable[..., T], *arguments: Any) -> T:
    """What a function returns that reads this file, called in a process that may end.

    Raises:
        FormatError: it ended, or could not read the file.
        MissingEstimate, UnsupportedPipeline, InvalidParameter: as the function does.
        InvalidParameter: it is source code, or a plan.
        OSError: the file cannot be read.
    """
    path.open("rb").close()
    if remedy := _OTHER_FILES.get(path.suffix):
        raise _core.InvalidParameter(f"{path} is {remedy.format(path=path)}.")
    with PythonProcess(memory_bytes=_MEMORY_BYTES) as process:
        try:
            return process.call(function, *arguments, timeout_s=_TIMEOUT_S)
        except (_core.MissingEstimate, _core.UnsupportedPipeline, _core.InvalidParameter) as error:
            raise type(error)(f"{path}: {error}") from error
        except ProcessEnded as ended:
            reason = f"the process that read it {ended.finished.ending}"
        except _core.Error as error:
            reason = str(error).strip() or "Halide gives no reason"
    raise _core.FormatError(
        f"{path} is no pipeline that Halide can read: {reason}. It is damaged, or of another version of Halide: "
        f"write it again with halide.serialize_pipeline of Halide {importlib.metadata.version('halide')}."
    )


def read_pipeline(path: Path) -> PipelineSnapshot:
    """The pipeline of a file, in a process that may end.

    Raises:
        FormatError: Halide cannot read it, or it has no outputs.
    """
    try:
        pipeline = hl.deserialize_pipeline(path)
        if not pipeline.defined() or not pipeline.outputs():
            raise _core.FormatError("it has no outputs")
        return PipelineSnapshot.take(pipeline)
    except hl.HalideError as error:
        raise _core.FormatError(str(error).removeprefix("Error:").strip()) from error


def _read(path: Path, estimates: Mapping[str, Estimate], target: str, parallelism: int, name: str) -> PipelineSnapshot:
    """What the other process does."""
    try:
        snapshot = read_pipeline(path).with_estimates(estimates)
        PipelineSnapshot.take(snapshot.restore())
        problem = _core.extract_problem(
            pipeline=snapshot.serialized,
            parameters=list(snapshot.parameters),
            target=target,
            parallelism=parallelism,
            name=name,
        )
        for node in problem.nodes:
            str(node.name)
    except (hl.HalideError, UnicodeDecodeError) as error:  # the latter in names
        raise _core.FormatError(str(error).removeprefix("Error:").strip()) from error
    return snapshot
