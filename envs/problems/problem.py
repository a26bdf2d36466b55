"""The scheduling problem of a Halide pipeline: the public face of the extraction."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import halide as hl

from halidegym.envs.problems.halide_generators import generated_pipeline, is_generator
from halidegym.envs.problems.snapshot import Estimate, PipelineSnapshot
from halidegym.native import _core
from halidegym.native.checks import INT32_MAX, check_at_least, check_given, check_kind, check_present, checked_path
from halidegym.native.files import write_atomically

PipelineLike: TypeAlias = (
    hl.Func | hl.Pipeline | type[hl.Generator] | Callable[[], hl.Func | hl.Pipeline] | str | os.PathLike[str]
)
"""What `SchedulingProblem.from_pipeline` accepts; a path leads to an `.hlpipe` file."""

# A saved problem: the magic, the version, the lengths of the two sections, their SHA-256, and the sections: the native
# problem and the snapshot of the pipeline. The checksum comes before anything is handed to Halide, which does not survive
# damaged bytes.
_MAGIC = b"halidegym problem\n"
_VERSION = 1
_HEADER = struct.Struct("<IQQ32s")


class NoPipeline(_core.InvalidParameter, TypeError):  # noqa: N818
    """What was handed over is no pipeline, or makes none."""


class SchedulingProblem:
    """What has to be decided to schedule a Halide pipeline for a machine, as immutable plain data.

    It holds the analysis of the pipeline that the Adams2019 autoscheduler starts from (Adams et al. 2019), and a snapshot
    of the pipeline itself, from which `pipeline()` makes fresh copies. Everything that searches or learns schedules works
    on the data alone. A problem can be pickled, compared, and used as a key of a dict.

    Two problems are equal if their analysis, target and parallelism are, whatever their names.
    """

    __slots__ = ("_native", "_snapshot")

    def __init__(self, native: _core.Problem, snapshot: PipelineSnapshot) -> None:
        """Used by the constructors below; start from `from_pipeline` or `load`."""
        self._native = native
        self._snapshot = snapshot

    @classmethod
    def from_pipeline(
        cls,
        pipeline: PipelineLike,
        *,
        target: str | hl.Target = "host",
        parallelism: int | None = None,
        estimates: Mapping[str, Estimate] | None = None,
        name: str | None = None,
    ) -> SchedulingProblem:
        """Analyse a pipeline. It is only read: the problem works on a private copy.

        Args:
            pipeline: a `halide.Func`, a `halide.Pipeline`, a function without arguments that returns one, a generator
                (a class that `halide.generator` decorates), or the path of an `.hlpipe` file. It must carry no schedule,
                but that the order of loops (`reorder`) is what the search starts from. All its outputs need estimates.
            target: a Halide target string, or "host": this machine. Schedules are made for CPUs only.
            parallelism: number of cores to schedule for; the usable cores of this machine by default.
            estimates: estimates of parameters and outputs by their name, which go before those set on them: a number for
                a `Param`, (min, extent) of every dimension for an `ImageParam` or an output. An `.hlpipe` file holds none
                of parameters, so they have to be given for those that occur in its definitions.
            name: what reports call the problem; by default the name of the function, the file or the first output.

        Raises:
            InvalidParameter: the target, the parallelism or an estimate is out of its range.
            MissingEstimate: an output or a parameter lacks an estimate.
            UnsupportedPipeline: the pipeline is none that the analysis can express.
            FormatError: the file is no serialized pipeline, or damaged.
            OSError: the file cannot be read.
            NoPipeline: `pipeline` is none of the above, a TypeError.
        """
        check_at_least(1, INT32_MAX, parallelism=parallelism)
        check_kind(Mapping, estimates=estimates)
        target = str(target)
        check_kind(str, name=name, target=target)
        if isinstance(pipeline, str) and not pipeline:
            raise _core.InvalidParameter("pipeline='' names no file; give the path of an .hlpipe file")
        parallelism = usable_cores() if parallelism is None else parallelism
        if isinstance(pipeline, str | os.PathLike):
            from halidegym.envs.problems.hlpipe import read_hlpipe  # starts processes, which others need not load

            path = Path(pipeline)
            if not path.exists():
                raise FileNotFoundError(
                    f"There is no file {path}; give the path of an .hlpipe file, or what halidegym.pipelines.build makes of "
                    "the name of a registered pipeline"
                )
            name = path.stem if name is None else name
            snapshot = read_hlpipe(path, estimates or {}, target, parallelism, name)
        else:
            built, default_name = _build(pipeline, target)
            name = default_name if name is None else name
            snapshot = PipelineSnapshot.take(built).with_estimates(estimates or {})
        native = _core.extract_problem(
            pipeline=snapshot.serialized,
            parameters=list(snapshot.parameters),
            target=target,
            parallelism=parallelism,
            name=name,
        )
        return cls(native, snapshot)

    @property
    def native(self) -> _core.Problem:
        """The problem as the C++ core sees it."""
        return self._native

    @property
    def name(self) -> str:
        """What reports call the problem."""
        return self._native.name

    @property
    def target(self) -> str:
        """Halide target string; never "host"."""
        return self._native.target

    @property
    def parallelism(self) -> int:
        """Number of cores to schedule for."""
        return self._native.parallelism

    @property
    def hash(self) -> str:
        """Hexadecimal digest of the analysis, the target and the parallelism; the same in every process."""
        return hashlib.sha256(self._native.identity_bytes()).hexdigest()

    @property
    def algorithm(self) -> str:
        """Hexadecimal digest of what the pipeline computes, whatever the names in it; the same in every process.

        It tells apart what the analysis does not, such as `sin` and `exp`, or other numbers in a table: definitions, all
        that is set on parameters, and the contents of embedded buffers.
        """
        return self._snapshot.algorithm

    @property
    def nodes(self) -> Sequence[_core.Node]:
        """The Funcs, consumers before producers; read-only."""
        return self._native.nodes

    @property
    def stages(self) -> Sequence[_core.Stage]:
        """The definitions of all Funcs, by node, pure definition first; read-only."""
        return self._native.stages

    @property
    def edges(self) -> Sequence[_core.Edge]:
        """Which stage calls which other Func, by consumer stage; read-only."""
        return self._native.edges

    @property
    def num_nodes(self) -> int:
        """Number of Funcs, inputs included."""
        return len(self.nodes)

    @property
    def num_stages(self) -> int:
        """Number of definitions of all Funcs, inputs included."""
        return len(self.stages)

    def pipeline(self) -> hl.Pipeline:
        """A fresh, unscheduled copy of the pipeline; to schedule it, to run it, or to give it to an autoscheduler.

        Its Funcs and parameters have their original names, and the parameters their estimates, ranges and constraints.
        """
        return self._snapshot.restore()

    def undersized_inputs(self) -> Sequence[str]:
        """The inputs, and outputs that Funcs read, of which more is read than their estimates provide, one sentence each.

        Schedules are made and timed for inputs that are large enough, as the Adams2019 autoscheduler does; but compiled
        code refuses to run on inputs of the estimated sizes. Outputs have these sizes when schedules are timed, too.
        """
        return [
            f"The pipeline reads {found.read.min} to {found.read.max} of dimension {found.dimension} of the "
            f"{'output' if found.is_output else 'input'} '{found.name}', whose estimate provides {found.provided.min} to "
            f"{found.provided.max}."
            for found in _core.undersized_inputs(self._native, self.pipeline())
        ]

    def with_parallelism(self, parallelism: int) -> SchedulingProblem:
        """The same problem for another number of cores.

        Raises:
            InvalidParameter: `parallelism` is no integer of at least 1.
        """
        check_at_least(1, INT32_MAX, **check_present(parallelism=parallelism))
        return type(self)(_core.with_parallelism(self._native, parallelism), self._snapshot)

    def to_bytes(self) -> bytes:
        """The problem and its pipeline, for `from_bytes`.

        Raises:
            UnsupportedPipeline: a region of the pipeline has bounds that only Halide can evaluate.
        """
        native, snapshot = self._native.to_bytes(), self._snapshot.to_bytes()
        digest = hashlib.sha256(native + snapshot).digest()
        return _MAGIC + _HEADER.pack(_VERSION, len(native), len(snapshot), digest) + native + snapshot

    @classmethod
    def from_bytes(cls, data: bytes) -> SchedulingProblem:
        """The problem that `to_bytes` wrote.

        Raises:
            FormatError: the bytes are truncated, damaged, of another version, or something else altogether.
            InvalidParameter: `data` is none.
        """
        check_given(bytes, data=data)
        if not data.startswith(_MAGIC):
            raise _core.FormatError(
                "This is no saved scheduling problem. Give a file that SchedulingProblem.save wrote."
            )
        start = len(_MAGIC) + _HEADER.size
        if len(data) < start:
            raise _core.FormatError("The saved scheduling problem is truncated. Save it again.")
        version, native_length, snapshot_length, digest = _HEADER.unpack_from(data, len(_MAGIC))
        if version != _VERSION:
            raise _core.FormatError(
                f"The scheduling problem was saved in version {version} of the format; this is version {_VERSION}. "
                "Extract it again from the pipeline."
            )
        body = data[start:]
        if len(body) != native_length + snapshot_length or hashlib.sha256(body).digest() != digest:
            raise _core.FormatError("The saved scheduling problem is truncated or damaged. Save it again.")
        native = _readable(_core.Problem.from_bytes(body[:native_length]))
        return cls(native, PipelineSnapshot.from_bytes(body[native_length:]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the problem and its pipeline to one file.

        Raises:
            UnsupportedPipeline: a region of the pipeline has bounds that only Halide can evaluate.
            InvalidParameter: `path` is none.
            OSError: the file cannot be written.
        """
        write_atomically(checked_path("path", path), self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SchedulingProblem:
        """Read a file that `save` wrote.

        Raises:
            FormatError: the file is truncated, damaged, of another version, or something else altogether.
            InvalidParameter: `path` is none.
            OSError: the file cannot be read.
        """
        try:
            return cls.from_bytes(checked_path("path", path).read_bytes())
        except _core.FormatError as error:
            raise _core.FormatError(f"{os.fspath(path)}: {error}") from error

    def __eq__(self, other: object) -> bool:
        return self.hash == other.hash if isinstance(other, SchedulingProblem) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.hash)

    def __copy__(self) -> SchedulingProblem:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> SchedulingProblem:
        return self

    def __reduce__(self) -> tuple[Callable[[bytes], SchedulingProblem], tuple[bytes]]:
        return _from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return (
            f"SchedulingProblem({self.name!r}, {self.num_nodes} nodes, {self.num_stages} stages, "
            f"target={self.target!r}, parallelism={self.parallelism})"
        )


def _readable(native: _core.Problem) -> _core.Problem:
    """The problem, if all its names are UTF-8; the core takes any bytes."""
    try:
        str((native.name, native.target, native.halide_version))
        for node in native.nodes:
            str((node.name, node.args))
        for stage in native.stages:
            str((stage.name, [(loop.variable, loop.accessor) for loop in stage.loops]))
    except UnicodeDecodeError as error:
        raise _core.FormatError(
            f"A name in the saved scheduling problem is damaged: {error.reason}. Save it again."
        ) from error
    return native


# Pickles name a function of a module, because cloudpickle takes a method apart, down to the globals of its module.
def _from_bytes(data: bytes) -> SchedulingProblem:
    return SchedulingProblem.from_bytes(data)


def usable_cores() -> int:
    """How many cores this process may run on."""
    return len(os.sched_getaffinity(0))


def _build(
    pipeline: hl.Func | hl.Pipeline | type[hl.Generator] | Callable[[], hl.Func | hl.Pipeline], target: str
) -> tuple[hl.Pipeline, str]:
    """The pipeline itself, and what to call it."""
    if isinstance(pipeline, hl.Func):
        return hl.Pipeline(pipeline), _stem(pipeline.name())
    if isinstance(pipeline, hl.Pipeline):
        outputs = pipeline.outputs() if pipeline.defined() else []
        return pipeline, _stem(outputs[0].name()) if outputs else ""
    if is_generator(pipeline):
        return generated_pipeline(pipeline, target), pipeline.__name__
    if callable(pipeline):
        built = pipeline()
        if isinstance(built, hl.Func | hl.Pipeline):
            built, name = _build(built, target)
            function_name = getattr(pipeline, "__name__", "<lambda>")
            return built, name if function_name == "<lambda>" else function_name
        raise NoPipeline(
            f"The function {getattr(pipeline, '__name__', repr(pipeline))} returned {_kind(built)}; let it return a "
            "halide.Func or a halide.Pipeline, which may have several outputs: halide.Pipeline([f, g])"
        )
    raise NoPipeline(
        f"A pipeline is a halide.Func, a halide.Pipeline, a function that returns one, a generator, or the path of an "
        f".hlpipe file; not {_kind(pipeline)}"
    )


def _kind(value: object) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


def _stem(func_name: str) -> str:
    """The name without the suffix that keeps it unique in this process."""
    return func_name.partition("$")[0]
