"""Types of the C++ core. One section a topic, in the order of `bindings/topics.h`; each mirrors the file it names."""

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, final

import halide as hl
import numpy as np
from numpy.typing import NDArray
from typing_extensions import Never, Self, TypeVar

# What pybind11 makes of a class of C++.

class _BoundType(type): ...

class _Bound(metaclass=_BoundType):
    """A class without a constructor of its own comes out of functions only: calling it raises TypeError."""

    def __init__(self, *args: Never, **kwargs: Never) -> None: ...

class _Value(_Bound):
    """An immutable value: a copy is the value itself."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Self: ...

# Errors (module.cpp)

class Error(Exception):
    """Base of all errors of the core; a message names the input, the reason and the remedy."""

class InvalidParameter(Error, ValueError):  # noqa: N818
    """A parameter is out of its range."""

class UnsupportedPipeline(Error):  # noqa: N818
    """The analysis cannot express the pipeline (docs/specification/function-dag.md, section 11)."""

class MissingEstimate(UnsupportedPipeline):
    """An output dimension, a parameter or an input extent lacks an estimate."""

class FormatError(Error, ValueError):
    """A file is truncated, of another version, or not of the expected kind."""

class SearchExhausted(Error):  # noqa: N818
    """The search has no legal state left."""

class OutOfResources(Error):  # noqa: N818
    """The machine has not the memory or the threads for what was asked."""

class CompileError(Error):
    """Halide rejected a schedule, or compiling it failed."""

class InternalError(Error):
    """A condition that the specification excludes."""

# The scheduling problem (problem.cpp). Sections and quirks are those of docs/specification/function-dag.md.

@final
class Span(_Bound):
    """An inclusive integer interval (section 6.1)."""

    @property
    def min(self) -> int: ...
    @property
    def max(self) -> int: ...
    @property
    def constant_extent(self) -> bool:
        """Whether the extent is believed to be a compile-time constant."""
    @property
    def extent(self) -> int: ...

@final
class Rational(_Bound):
    """An entry of a load Jacobian; a value that is not known keeps its numbers (section 8.5)."""

    @property
    def known(self) -> bool: ...
    @property
    def numerator(self) -> int: ...
    @property
    def denominator(self) -> int: ...

@final
class Expression(_Bound):
    """A bounds expression over int32 symbols (section 6.2)."""

    @property
    def is_portable(self) -> bool:
        """False if only Halide can evaluate it."""
    @property
    def num_symbols(self) -> int: ...
    @property
    def num_instructions(self) -> int: ...
    def evaluate(self, symbols: Sequence[int]) -> int:
        """The value, each symbol truncated to 32 bits first.

        Raises:
            InternalError: the expression has no value, e.g. because it overflows.
            InvalidParameter: there are fewer values than symbols.
        """

@final
class EdgeBound(_Bound):
    """One side of one dimension of the region that an edge's consumer needs of its producer (section 5.2)."""

    @property
    def kind(self) -> Literal["constant", "affine", "general"]: ...
    @property
    def depends_on_parameter(self) -> bool: ...
    @property
    def of_max(self) -> bool:
        """Affine: whether it follows the loop's max, else its min."""
    @property
    def loop(self) -> int:
        """Affine: the consumer stage's loop."""
    @property
    def coefficient(self) -> int: ...
    @property
    def constant(self) -> int: ...
    @property
    def expression(self) -> int:
        """General: index into `Problem.expressions`; symbols are the min and max of each loop in turn."""

@final
class LoadJacobian(_Bound):
    """How the loads of an edge move with the consumer's loops (section 8.6)."""

    @property
    def rows(self) -> int:
        """Dimensions of the producer."""
    @property
    def columns(self) -> int:
        """Loops of the consumer, innermost first; 0 if there are no rows."""
    @property
    def count(self) -> int: ...
    @property
    def entries(self) -> list[Rational]:
        """Row-major."""

@final
class ComputedDimension(_Bound):
    """What a Func computes of one dimension when a region is required of it (section 4.2)."""

    @property
    def kind(self) -> Literal["equals_required", "union_with_constants", "general"]: ...
    @property
    def constant_min(self) -> int: ...
    @property
    def constant_max(self) -> int: ...
    @property
    def expression_min(self) -> int: ...
    @property
    def expression_max(self) -> int: ...

@final
class Loop(_Bound):
    """One loop of a stage (section 4.3)."""

    @property
    def kind(self) -> Literal["computed_dimension", "constant", "general"]:
        """Where its bounds come from."""
    @property
    def variable(self) -> str: ...
    @property
    def accessor(self) -> str:
        """Source fragment that names the variable."""
    @property
    def pure(self) -> bool: ...
    @property
    def rvar(self) -> bool: ...
    @property
    def pure_dim(self) -> int:
        """Index among the Func's pure arguments, or -1."""
    @property
    def computed_dim(self) -> int: ...
    @property
    def constant_min(self) -> int: ...
    @property
    def constant_max(self) -> int: ...
    @property
    def expression_min(self) -> int: ...
    @property
    def expression_max(self) -> int: ...

@final
class Edge(_Bound):
    """The loads of one Func by one stage (section 5)."""

    @property
    def id(self) -> int: ...
    @property
    def producer(self) -> int:
        """Node id."""
    @property
    def consumer_stage(self) -> int:
        """Stage id."""
    @property
    def calls(self) -> int: ...
    @property
    def bounds(self) -> list[EdgeBound]:
        """Min and max of each dimension of the producer in turn."""
    @property
    def jacobians(self) -> list[LoadJacobian]: ...

@final
class Stage(_Bound):
    """A definition of a Func: index 0 is the pure one, the others are its updates."""

    @property
    def id(self) -> int: ...
    @property
    def node(self) -> int:
        """Node id."""
    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def vector_size(self) -> int:
        """Lanes."""
    @property
    def loops(self) -> list[Loop]:
        """Innermost first."""
    @property
    def incoming(self) -> list[int]:
        """Edge ids."""
    @property
    def upstream(self) -> list[int]:
        """Node ids of its direct and transitive producers, ascending."""
    @property
    def reads_image(self) -> bool: ...
    @property
    def features(self) -> NDArray[np.int32]:
        """Algorithm features of section 9.1, read-only, shape (287,)."""

@final
class Node(_Bound):
    """A Func."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def args(self) -> list[str]: ...
    @property
    def bytes_per_point(self) -> int: ...
    @property
    def vector_size(self) -> int:
        """Lanes; the maximum over its stages."""
    @property
    def is_wrapper(self) -> bool: ...
    @property
    def is_input(self) -> bool: ...
    @property
    def is_output(self) -> bool: ...
    @property
    def is_pointwise(self) -> bool: ...
    @property
    def is_boundary_condition(self) -> bool: ...
    @property
    def is_extern(self) -> bool: ...
    @property
    def first_stage(self) -> int:
        """Stage id."""
    @property
    def num_stages(self) -> int: ...
    @property
    def region_computed(self) -> list[ComputedDimension]: ...
    @property
    def estimated_region(self) -> list[Span]:
        """Of an output, by dimension; else empty."""
    @property
    def unit_stride_dimensions(self) -> list[int]: ...
    @property
    def outgoing(self) -> list[int]:
        """Edge ids."""

@final
class Problem(_Value):
    """A scheduling problem as plain data; immutable. It can be pickled if it is portable."""

    @property
    def name(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def halide_version(self) -> str: ...
    @property
    def parallelism(self) -> int:
        """Cores."""
    @property
    def nodes(self) -> list[Node]:
        """Consumers before producers."""
    @property
    def stages(self) -> list[Stage]: ...
    @property
    def edges(self) -> list[Edge]: ...
    @property
    def expressions(self) -> list[Expression]: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_stages(self) -> int: ...
    @property
    def is_portable(self) -> bool:
        """False if an expression can only be evaluated by Halide."""
    def to_bytes(self) -> bytes:
        """The problem as a file's content.

        Raises:
            UnsupportedPipeline: the problem is not portable.
        """
    @staticmethod
    def from_bytes(data: bytes) -> Problem:
        """The problem that `to_bytes()` wrote.

        Raises:
            FormatError: the bytes are anything else.
        """
    def identity_bytes(self) -> bytes:
        """All that a search depends on (not the display name), the same in every process, to take a digest of."""

# Pipelines as problems (halide_problem.cpp)

class ParameterData(_Bound):
    """What a serialized pipeline loses of a Param or ImageParam, as plain data."""

    def __init__(
        self,
        *,
        name: str,
        type: str,  # noqa: A002
        is_buffer: bool,
        dimensions: int,
        host_alignment: int,
        values: Mapping[str, tuple[str, int | float]],
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def is_buffer(self) -> bool: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def host_alignment(self) -> int:
        """Bytes; buffers only."""
    @property
    def values(self) -> dict[str, tuple[str, int | float]]: ...

def read_parameter(parameter: Any) -> ParameterData:
    """Everything that has been set on a `halide.Parameter`."""

def write_parameter(parameter: Any, data: ParameterData) -> None:
    """Sets everything in `data` on a `halide.Parameter` of the same type."""

def resolve_target(target: str) -> str:
    """The Halide target string that a target stands for, its features in Halide's order.

    "host", alone or with features after it, is this machine, less the instructions that Halide takes its processor to have
    and it has not, as in some virtual machines.
    """

def extract_problem(
    pipeline: bytes, parameters: Sequence[ParameterData], target: str, parallelism: int, name: str
) -> Problem:
    """The scheduling problem of a serialized pipeline with these parameters, as plain data."""

class Undersized:
    """A dimension of an input, or of an output that Funcs read, of which more is read than its estimate provides."""

    @property
    def name(self) -> str: ...
    @property
    def is_output(self) -> bool: ...
    @property
    def dimension(self) -> int: ...
    @property
    def read(self) -> Span: ...
    @property
    def provided(self) -> Span: ...

def undersized_inputs(problem: Problem, pipeline: hl.Pipeline) -> list[Undersized]:
    """Where the problem's own pipeline reads more than estimates provide."""

def algorithm_identity(pipeline: hl.Pipeline) -> bytes:
    """What a pipeline computes, as bytes in which no name counts; the same in every process."""

def with_parallelism(problem: Problem, parallelism: int) -> Problem:
    """The same problem for a machine of another number of cores."""

# Expressions of Halide (halide_expression.cpp)

def compile_expression(expression: hl.Expr, symbols: Sequence[str]) -> Expression:
    """Compile an expression over the int32 variables with these names, symbol i being the i-th of them."""

def simplify_to_integer(expression: hl.Expr, symbols: Sequence[str], values: Sequence[int]) -> int:
    """What Halide's simplifier makes of an expression for these values: the reference for `compile_expression()`.

    Raises:
        InternalError: that is no integer constant.
    """

# The loop nest (nest.cpp). Sections and quirks are those of docs/specification/search-space.md.

@final
class StageDirectives(_Bound):
    """The scheduling calls on one stage, in order, as plain data; immutable and picklable (section 13)."""

    @property
    def stage(self) -> int:
        """Id of the stage."""
    def __len__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

def is_reserved(word: str) -> bool:
    """Whether nothing can be called so in the source of a schedule, in C++ or in Python."""

def schedule_source(problem: Problem, stages: Sequence[StageDirectives]) -> str:
    """Return the calls as C++ source, as the Adams2019 autoscheduler prints it (section 13.7).

    Raises:
        InvalidParameter: the calls do not fit the problem; so of all that take both.
    """

def cpp_statements(problem: Problem, stages: Sequence[StageDirectives]) -> str:
    """Return the calls as C++ statements on a `Halide::Pipeline` named `pipeline`, with names that are identifiers."""

def python_source(problem: Problem, stages: Sequence[StageDirectives]) -> str:
    """Return the calls as Python statements on an `hl.Pipeline` named `pipeline`."""

@final
class LoopSize(_Bound):
    """Trip count of one loop of a level."""

    @property
    def count(self) -> int: ...
    @property
    def constant(self) -> bool:
        """Whether the range that it covers has a constant extent."""
    def __eq__(self, other: object) -> bool: ...
    __hash__ = None  # type: ignore[assignment]

@final
class LoopNest(_Bound):
    """A loop level, or the whole nest, as its text shows it; immutable (section 5)."""

    @staticmethod
    def parse(text: str) -> LoopNest:
        """Return the nest that `text` shows; `str` gives the text back, after an empty line.

        Raises:
            FormatError: the text is no loop nest; the message names the line.
        """
    @property
    def func(self) -> str:
        """Name of the Func; empty at the root."""
    @property
    def stage(self) -> int:
        """Index of the stage within its Func."""
    @property
    def sizes(self) -> list[LoopSize]:
        """One entry per loop, innermost first."""
    @property
    def vectorized_loop(self) -> int:
        """Index of the loop, -1 if none."""
    @property
    def vector_dim(self) -> int:
        """Index of the pure argument, -1 at the root."""
    @property
    def tileable(self) -> bool: ...
    @property
    def innermost(self) -> bool: ...
    @property
    def parallel(self) -> bool: ...
    @property
    def store_at(self) -> list[str]:
        """Names of the Funcs stored in the body."""
    @property
    def children(self) -> list[LoopNest]:
        """Levels in the body, in reverse of the printed order."""
    @property
    def inlined(self) -> list[tuple[str, int]]:
        """Funcs inlined in the body, with their numbers of calls."""
    def __eq__(self, other: object) -> bool: ...
    __hash__ = None  # type: ignore[assignment]

# The cost model (cost.cpp). Sections and quirks are those of docs/specification/search-and-cost-model.md.

@final
class Weights(_Value):
    """The six tensors of the Adams2019 cost model (section 3.2); immutable, hashable, picklable."""

    @staticmethod
    def from_bytes(data: bytes, origin: str = "bytes") -> Weights:
        """Parse the bytes of a .weights file (section 4.4); raises FormatError, naming `origin`, for anything else."""
    def to_bytes(self) -> bytes:
        """The bytes of a .weights file."""
    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Copies of the tensors in the order of the file, the output channel last.

        head1_filter [7, 40, 8], head1_bias [8], head2_filter [39, 24], head2_bias [24], conv1_filter [32, 32],
        conv1_bias [32].
        """

class InstructionSet(enum.Enum):
    """What the inner loops of the cost model are compiled for; it makes no difference to any result."""

    __pybind11_native_enum__: Any

    Baseline = 0
    Avx2 = 1
    Avx512 = 2

def available_instruction_sets() -> list[InstructionSet]:
    """Those of this machine, ascending."""

@final
class Network(_Bound):
    """Inference with the Adams2019 cost model (sections 3.3 to 3.5), equal to the plugin's bit for bit."""

    def __init__(self, weights: Weights, instruction_set: InstructionSet = ...) -> None: ...
    def predict(
        self,
        pipeline_features: NDArray[Any],
        schedule_features: NDArray[Any],
        parallelism: int,
    ) -> NDArray[np.float32]:
        """Costs [B] of B states with S stages each, in milliseconds as trained.

        Args:
            pipeline_features: [S, 7, 40], converted to float32; stages in the model's order (section 3.1).
            schedule_features: [B, S, 39], or [S, 39] for one state; converted to float64, and rounded to float32.
            parallelism: number of cores.

        Raises:
            InvalidParameter: the shapes do not fit, or `parallelism` is below 1.
        """

# States (state.cpp, expansion.cpp). Sections and quirks are those of docs/specification/search-space.md.

@final
class Space(_Value):
    """A problem, the rules of its schedules, and the cost model that rates them; immutable."""

    def __init__(
        self,
        problem: Problem,
        weights: Weights,
        *,
        subtiling: bool = True,
        memory_limit: int = -1,
        max_recompute: float = 8.0,
    ) -> None:
        """The space of the schedules of a problem.

        Args:
            problem: what to schedule.
            weights: of the cost model.
            subtiling: whether a Func may be tiled more than once (section 14).
            memory_limit: bytes of working set beyond the outputs that a schedule may use; negative: unlimited.
            max_recompute: how many times the fewest points possible a stage may compute (section 7.4); inf: unlimited.

        Raises:
            InvalidParameter: `max_recompute` is below 1.
        """
    @property
    def problem(self) -> Problem: ...
    @property
    def subtiling(self) -> bool: ...
    @property
    def memory_limit(self) -> int: ...
    @property
    def max_recompute(self) -> float: ...
    @property
    def weights(self) -> Weights: ...
    def initial_state(self) -> State:
        """Nothing decided."""

@final
class Decision(_Value):
    """One decision, recognizable among those of other states; an immutable value, equal to itself and hashable.

    It is a choice by position: "tile" is an index into the tilings of a level, or into the ways to make tasks.

    Attributes:
        KINDS: names of the kinds, by their codes in `Expansion.sizes`.
    """

    KINDS: ClassVar[tuple[str, ...]]

    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Expansion(_Bound):
    """The legal decisions of one state in the reference's order, and the children that they lead to (section 7)."""

    @property
    def count(self) -> int: ...
    def __len__(self) -> int: ...
    def decision(self, index: int) -> Decision:
        """A decision as a value.

        Raises:
            InvalidParameter: there is no such decision.
        """
    def index_of(self, decision: Decision) -> int:
        """Where a decision, say of another state, stands among these.

        Raises:
            InvalidParameter: it is not legal here.
        """
    def describe(self, index: int) -> dict[str, Any]:
        """A decision in words: its kind and Func, and as far as it has them its level, tiles, tasks and vector_dim.

        Raises:
            InvalidParameter: there is no such decision.
        """
    def sizes(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """What `describe` says of all decisions, in numbers.

        Returns:
            Codes [count, 4]: the kind, as in `Decision.KINDS`; of a placement the stage of its level (-1: the root), the
            depth of that and vector_dim, of others -2. Sizes [count, 3, loops]: the outer tile, the inner tile and the
            tasks, each with an entry for each loop, innermost first, and zeros behind them.
        """
    def child(self, index: int) -> State:
        """The state after a decision.

        Raises:
            InvalidParameter: there is no such decision.
        """
    def costs(self) -> NDArray[np.float64]:
        """Costs [count] of all children by the cost model, as `State.cost` gives them, in milliseconds as trained.

        Much faster than building them: of each child, only what makes it differ from its parent is computed. A child
        that exceeds a limit would be NaN, but legal decisions lead to none.

        Raises:
            InvalidParameter: the weights of the cost model give a cost that is no number.
        """
    def child_features(self, index: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """What `child(index).features()` gives, ids [S] of stages and their features [S, 39], without building it.

        Whoever compares agents by their evaluations counts a call as one: to find the features is most of the work of
        `costs`.

        Raises:
            InvalidParameter: there is no such decision.
        """

@final
class State(_Value):
    """A partial or complete schedule; an immutable value (section 7)."""

    @property
    def space(self) -> Space: ...
    @property
    def nest(self) -> LoopNest: ...
    @property
    def num_decisions_made(self) -> int: ...
    @property
    def decisions_made(self) -> list[Decision]:
        """The decisions that led here, the first one first."""
    @property
    def num_decisions(self) -> int:
        """Of a complete schedule: two per Func, inputs included."""
    @property
    def is_complete(self) -> bool: ...
    @property
    def next_func(self) -> str:
        """Name of the Func that the next decision is about.

        Raises:
            InvalidParameter: the schedule is complete.
        """
    @property
    def next_phase(self) -> Literal["place", "parallelize"]:
        """What the next decision is about: where the Func is computed, or how its root loops become parallel tasks.

        Raises:
            InvalidParameter: the schedule is complete.
        """
    def expand(self) -> Expansion: ...
    def apply(self, index: int) -> State:
        """The state after one of the legal decisions; `expand` is faster for many.

        Raises:
            InvalidParameter: there is no such decision.
        """
    def child_if_legal(self, decision: Decision) -> State | None:
        """The state after a decision, say of another state, if it is legal here; faster than listing all decisions."""
    def random_decision(self, seed: int) -> tuple[int, State]:
        """A uniformly random legal decision, and the state after it.

        Raises:
            SearchExhausted: there is none.
        """
    def cost(self) -> float:
        """Of the cost model (docs/specification/search-and-cost-model.md, section 3.5)."""
    def features(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Ids [S] of the stages that have features, and the features [S, 39] (docs/specification/schedule-features.md)."""
    def hash(self, depth: int) -> int:
        """Structural hash that looks `depth` levels deep (docs/specification/search-and-cost-model.md, section 2.4)."""
    def directives(self) -> list[StageDirectives]:
        """The scheduling calls of a complete schedule (section 13).

        Raises:
            InvalidParameter: decisions are still to be made.
        """
    def dump(self) -> str:
        """The nest as text (docs/specification/search-and-cost-model.md, section 2.11)."""

# Search spaces (search_spaces.cpp). Planners take, as `space`, a Space, a SyntheticTree, a TransformSpace, or a Python
# object with the methods of `halidegym.agents.spaces.SearchSpace`.

@final
class SyntheticNode(_Value):
    """A node of a synthetic tree; an immutable value, equal and hashed by its path."""

    @property
    def depth(self) -> int: ...
    @property
    def cost(self) -> float:
        """Of this node alone."""
    @property
    def path_cost(self) -> float:
        """Of all nodes from the root to this one."""

@final
class SyntheticTree(_Value):
    """A random tree with the exact optimum known (Gao et al. 2022); it has the methods of a search space.

    A node at depth d costs Uniform[0, d), a leaf Uniform[d + delta, d + delta^2) (the bounds swap if delta is below 1).
    Planners compare path costs, i.e. the sum of all nodes from the root, of partial paths too. Nothing is stored. A node of
    a tree with other parameters is refused with InvalidParameter.
    """

    def __init__(self, *, branching: int = ..., depth: int = ..., delta: float = ..., seed: int = ...) -> None:
        """A tree whose inner nodes have `branching` children and whose leaves are at `depth`.

        Raises:
            InvalidParameter: an argument is out of its range.
        """
    @property
    def branching(self) -> int: ...
    @property
    def delta(self) -> float: ...
    @property
    def seed(self) -> int: ...
    def optimum(self) -> tuple[float, list[int]]:
        """The least path cost of a leaf, and the decisions that lead there; by branch and bound."""
    def root(self) -> SyntheticNode: ...
    def is_complete(self, state: SyntheticNode) -> bool: ...
    def depth(self, state: SyntheticNode) -> int: ...
    def max_depth(self) -> int: ...
    def decisions(self, state: SyntheticNode) -> range: ...
    def apply(self, state: SyntheticNode, decision: int) -> SyntheticNode:
        """The child that a decision leads to.

        Raises:
            InvalidParameter: there is no such child.
        """
    def cost(self, state: SyntheticNode) -> float:
        """The path cost."""

# Plans of Fourier transforms (transform.cpp).

@final
class TransformState(_Value):
    """A plan some of whose problems are open; an immutable value, equal and hashed by its steps."""

    @property
    def text(self) -> str:
        """The plan as one line, with a ``?`` for each open problem."""
    @property
    def space(self) -> TransformSpace:
        """That it is a plan of."""
    @property
    def plan(self) -> str:
        """The text of the plan, with the fallback for all that is open."""
    @property
    def is_complete(self) -> bool: ...
    @property
    def model_cost(self) -> float:
        """Microseconds of `plan` by the model."""

@final
class TransformSpace(_Value):
    """Plans of a Fourier transform of size `n`, as a space to search; it has the methods of a search space.

    A plan is a tree of steps, each about a problem that the step above it leaves: a codelet, a loop over columns, or a split
    into two smaller transforms (Cooley and Tukey). A partial plan costs what it costs with the *fallback* for what is open:
    the best plan of that problem by the model without context. So every cost is that of a plan that can be run.
    """

    def __init__(
        self,
        n: int = ...,
        *,
        space: Literal["basic", "lanes", "wide"] = ...,
        order: Literal["first", "any"] = ...,
        lanes: Sequence[int] | None = ...,
        context: float = ...,
        cost: Callable[[str], float | None] | None = ...,
    ) -> None:
        """The plans of a transform of size 2^a 3^b 5^c 7^d, up to 65536.

        Args:
            n: the size.
            space: "basic": no scratch memory, loops over single columns, the widest vectors that the columns fill; "lanes":
                all vectors; "wide": all places of splits, all radices, loops over 1, 4 and 16 columns.
            order: which problem is decided: "first": the first open one, so that the space is a tree; "any": each, so that
                plans are met again in many orders.
            lanes: complex numbers in a vector register: some of 1, 2 and 4, 1 among them; None for all.
            context: of the model, at least 0: nanoseconds for each number that the second half of a split reads in another
                pattern than the first half has stored it, or beyond the first cache.
            cost: microseconds of a complete plan, given its text, or None if it is not acceptable; asked once a plan. By
                default the model, without a clock.

        Raises:
            InvalidParameter: an argument is out of its range, or the library lacks the size.
            OutOfResources: the "wide" space of this size has too many problems.
        """
    @property
    def n(self) -> int: ...
    @property
    def space(self) -> Literal["basic", "lanes", "wide"]: ...
    @property
    def order(self) -> Literal["first", "any"]: ...
    @property
    def lanes(self) -> tuple[int, ...]: ...
    @property
    def context(self) -> float: ...
    @property
    def num_problems(self) -> int:
        """Distinct problems that steps lead to."""
    @property
    def num_pairs(self) -> int:
        """Distinct problems, each with every step that applies; dynamic programming measures those that leave a choice."""
    @property
    def max_choices(self) -> int:
        """The most steps that apply to one problem."""
    def count_plans(self) -> int | None:
        """Complete plans, exactly; None beyond 128 bits, as for the other counts."""
    def count_words(self) -> int | None:
        """Plans, complete or not: the vertices of the graph of derivations in any order."""
    def count_walks(self) -> int | None:
        """Derivations in any order: the leaves of the same space as a tree."""
    def optimum(self) -> tuple[float, list[int]]:
        """The least cost of the model, and the decisions that lead there; by dynamic programming.

        Raises:
            InvalidParameter: the space has another `cost`.
        """
    def state(self, text: str) -> TransformState:
        """The state with this text, complete or with a ``?`` for each open problem.

        Raises:
            InvalidParameter: the text is that of no plan, or a step is none of this space.
        """
    def problem(self, problem: int) -> TransformProblem:
        """One of the problems. They come after those that their steps leave; the last one is the whole transform."""
    def choices(self, problem: int) -> list[tuple[str, list[int]]]:
        """The steps that apply to a problem, each with the problems that it leaves."""
    def model_cost_of(self, problem: int, sub_plan: str) -> float:
        """Microseconds of a sub-plan of a problem by the model, alone.

        Raises:
            InvalidParameter: a step of the sub-plan is none of this space.
        """
    def steps(self, state: TransformState) -> list[tuple[int, str]]:
        """The decisions: number of the open problem, counted from the left, and the step that is taken about it."""
    def root(self) -> TransformState: ...
    def is_complete(self, state: TransformState) -> bool: ...
    def depth(self, state: TransformState) -> int:
        """Steps that are decided."""
    def max_depth(self) -> int: ...
    def decisions(self, state: TransformState) -> range: ...
    def apply(self, state: TransformState, decision: int) -> TransformState:
        """The state after a decision.

        Raises:
            InvalidParameter: there is no such decision.
        """
    def inherits_cost(self, state: TransformState, decision: int) -> bool:
        """Whether the decision takes the fallback's step, so that the cost stays as it is."""
    def hash(self, state: TransformState, depth: int) -> int:
        """A structural hash that looks `depth` steps below the first."""
    def cost(self, state: TransformState) -> float | None:
        """Microseconds of the plan, with the fallback for what is open."""

@final
class TransformView(_Value):
    """What environments see of plans, and what their actions mean; for one or more spaces of order "first".

    Actions are steps; each is legal where it applies to the first open problem.
    """

    def __init__(self, spaces: Sequence[TransformSpace], *, estimates: bool = ...) -> None: ...
    @property
    def actions(self) -> tuple[str, ...]:
        """The step behind each action."""
    @property
    def rows(self) -> int:
        """The most steps of a plan."""
    def look(self, state: TransformState) -> tuple[dict[str, NDArray[Any]], int]:
        """The observation of a state, and the number of legal actions."""
    def look_at_all(self, states: Sequence[TransformState]) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
        """The same of several states, with their number in front."""
    def step(self, state: TransformState, action: int) -> tuple[TransformState, bool]:
        """The state after an action, and whether it was legal; if not, the legal one with its number was taken, counted
        round.
        """

# Plans of transforms that run, and their times (transform_plan.cpp, transform_stopwatch.cpp).

@final
class TransformProblem(_Value):
    """What one step of a transform has to compute: `columns` transforms of size `n`. Strides count complex numbers."""

    @property
    def n(self) -> int: ...
    @property
    def input_stride(self) -> int: ...
    @property
    def output_stride(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def input_column_stride(self) -> int:
        """From a column to the next; 0 if there is one."""
    @property
    def output_column_stride(self) -> int: ...
    @property
    def is_scaled(self) -> bool:
        """Whether inputs are multiplied with twiddles."""
    @property
    def twiddle_stride(self) -> int: ...
    @property
    def twiddle_column_stride(self) -> int: ...
    @property
    def is_in_place(self) -> bool: ...
    @property
    def is_below_loop(self) -> bool: ...

@final
class TransformStepUse:
    """A step of a plan where it stands: its text, its problem, how often it runs, and the number of steps above it."""

    @property
    def step(self) -> str: ...
    @property
    def problem(self) -> TransformProblem: ...
    @property
    def runs(self) -> int: ...
    @property
    def level(self) -> int: ...

@final
class TransformPlan:
    """How a transform of a size is computed. See `halidegym.envs.transform.plan.TransformPlan`."""

    def __init__(self, n: int, text: str) -> None:
        """Read the text of a plan.

        Raises:
            InvalidParameter: the size is impossible, the text cannot be read, or a step does not apply.
        """
    @property
    def n(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def flops(self) -> float: ...
    def problems(self) -> list[TransformStepUse]: ...
    def run(self, x: NDArray[np.complex128], out: NDArray[np.complex128] | None = None) -> NDArray[np.complex128]:
        """The transform of an array.

        Raises:
            InvalidParameter: an array does not fit, or this machine lacks the vectors of a codelet.
        """

@final
class TransformTiming:
    """How long a plan and the reference take, in turns: seconds per run; none if the plan's output is wrong."""

    @property
    def samples_s(self) -> list[float]: ...
    @property
    def reference_samples_s(self) -> list[float]: ...
    @property
    def relative_error(self) -> float: ...
    @property
    def executed_s(self) -> float: ...

@final
class TransformStopwatch:
    """Times plans of one size in turns with a reference, in seconds of the processor. For one thread at a time."""

    def __init__(
        self, n: int, reference: str, values: NDArray[np.complex128], expected: NDArray[np.complex128]
    ) -> None: ...
    @property
    def reference_s(self) -> float:
        """Median of the reference's samples when the stopwatch was made."""
    def error_of(self, plan: str) -> float:
        """Relative error of a plan's output; infinite if it left out a number, or touched its input."""
    def time(self, plans: Sequence[str], *, turns: int, sample_s: float, tolerance: float) -> list[TransformTiming]:
        """Time plans, each in turns with the reference."""
    def take_turns(self, plans: Sequence[str], *, rounds: int, sample_s: float) -> list[list[float]]:
        """Seconds per run of each plan in each round."""
    def take_turns_at(
        self, problem: TransformProblem, ways: Sequence[str], *, rounds: int, sample_s: float
    ) -> list[list[float]]:
        """The same for sub-plans of a problem, on buffers of its own."""

def available_lanes() -> list[int]:
    """Complex numbers in a vector register, as this machine has them, ascending."""

# Planners (search.cpp). A search that is ended by a budget, a callback or Ctrl-C returns the best so far.
#
# The parameters of each are an immutable object. Its constructor takes them by name, and has the defaults; they stand in the
# structs of the same names in native/search/. It raises InvalidParameter if one is out of its range.

_StateT_co = TypeVar("_StateT_co", covariant=True, default=State)

@final
class Solution(_Bound, Generic[_StateT_co]):
    """A complete state that a search found."""

    @property
    def state(self) -> _StateT_co: ...
    @property
    def cost(self) -> float:
        """Of the cost model, without penalties."""
    @property
    def actions(self) -> list[int]:
        """Per decision, the index of the one taken among the legal ones."""

@final
class Improvement(_Bound):
    """The best cost so far, and what it took to find it."""

    @property
    def seconds(self) -> float: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def expansions(self) -> int: ...
    @property
    def cost(self) -> float: ...

class SearchResult(_Bound, Generic[_StateT_co]):
    """What a search found, and what it took."""

    @property
    def solutions(self) -> list[Solution[_StateT_co]]:
        """Best first, at most 32, never none."""
    @property
    def pass_solutions(self) -> list[Solution[_StateT_co]]:
        """The result of each pass of a multi-pass search."""
    @property
    def pass_costs(self) -> list[float]:
        """Their costs as they were compared: penalties included."""
    @property
    def history(self) -> list[Improvement]: ...
    @property
    def evaluations(self) -> int:
        """How often a cost was asked for."""
    @property
    def distinct_evaluations(self) -> int:
        """How many of these costs were computed, the others being known from an earlier pass."""
    @property
    def expansions(self) -> int: ...
    @property
    def forwards(self) -> int:
        """How many states went through a learned network."""
    @property
    def seconds(self) -> float: ...
    @property
    def ended_by(self) -> Literal["finished", "budget", "interrupt"]:
        """See `halidegym.agents.budget.EndedBy`."""

@final
class BeamOptions(_Bound):
    """Parameters of a beam search: an object with them as attributes."""

    def __init__(
        self,
        *,
        beam_size: int = ...,
        passes: int | None = ...,
        random_dropout: int = ...,
        threads: int = ...,
        seed: int = ...,
    ) -> None:
        """Parameters of a beam search.

        Args:
            beam_size: states expanded per level.
            passes: of the search; None for one if greedy, else five.
            random_dropout: percent of runs in which no state is dropped at random.
            threads: that evaluate states; they make no difference to what is found.
            seed: of the dropout.
        """
    @property
    def beam_size(self) -> int: ...
    @property
    def passes(self) -> int | None: ...
    @property
    def num_passes(self) -> int:
        """Of the search, the default resolved."""
    @property
    def random_dropout(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def seed(self) -> int: ...

def beam_search(
    space: Any,
    options: BeamOptions = ...,
    *,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    max_expansions: int | None = None,
    on_progress: Callable[[int, int, int, int, float], bool] | None = None,
) -> SearchResult[Any]:
    """Multi-pass coarse-to-fine beam search (docs/specification/search-and-cost-model.md, section 2).

    Args:
        space: to search.
        options: of the search.
        max_seconds: wall-clock budget.
        max_evaluations: budget of cost evaluations.
        max_expansions: budget of expanded states.
        on_progress: receives pass, depth, evaluations, expansions and the best cost so far, at most twenty times a
            second; returns whether to go on.

    Raises:
        InvalidParameter: a parameter is out of its range.
        SearchExhausted: no legal schedule is left.
        OutOfResources: there is not enough memory, or a thread cannot start.
    """

def evaluated_states(space: Space, options: BeamOptions = ...) -> list[tuple[NDArray[np.float32], float]]:
    """All that a beam search evaluates, in order: features [stages, 39] and cost."""

@final
class RandomSearchOptions(_Bound):
    """Parameters of a random search: an object with them as attributes."""

    def __init__(self, *, seed: int = ...) -> None: ...
    @property
    def seed(self) -> int: ...

def random_search(
    space: Any,
    options: RandomSearchOptions = ...,
    *,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    max_expansions: int | None = None,
    on_progress: Callable[[int, int, int, int, float], bool] | None = None,
) -> SearchResult[Any]:
    """The best of many complete schedules, each decision drawn uniformly; limits as for `beam_search`.

    Raises:
        InvalidParameter: there is no budget, or a parameter is out of its range.
        SearchExhausted: no random schedule was legal.
    """

def exhaustive_search(
    space: Any,
    *,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    max_expansions: int | None = None,
    on_progress: Callable[[int, int, int, int, float], bool] | None = None,
) -> SearchResult[Any]:
    """Every complete schedule, each evaluated once; limits as for `beam_search`.

    The number of evaluations is that of the complete schedules, if the search finished.

    Raises:
        InvalidParameter: a parameter is out of its range.
        SearchExhausted: there is no legal schedule.
    """

@final
class TreePolicy(_Bound):
    """How a search tree chooses the child to look into (Haj-Ali et al. 2020, equation 1 and Table 1)."""

    def __init__(
        self,
        *,
        value: str = ...,
        bonus: str = ...,
        exploration: float = ...,
        log_factor: float = ...,
        normalized: bool = ...,
        exploration_by_spread: bool = ...,
        exploration_decay: float = ...,
    ) -> None:
        """Score children by value * (1 + bonus) or value + bonus, bonus = exploration * sqrt(log_factor * ln n / n_j).

        Args:
            value: "mean_cost", "mean_inverse", "best_cost" or "success_rate".
            bonus: "multiplied" or "added", or "prior" for value + exploration * p_j * sqrt(n) / (1 + n_j) with a policy's
                probability p_j of the child's decision.
            exploration: weight of the bonus.
            log_factor: of the logarithm.
            normalized: costs relative to the best so far.
            exploration_by_spread: weight in proportion to the relative spread of the costs below the parent.
            exploration_decay: factor of the weight per level.

        Raises:
            InvalidParameter: a name is unknown.
        """
    @property
    def value(self) -> Literal["mean_cost", "mean_inverse", "best_cost", "success_rate"]: ...
    @property
    def bonus(self) -> Literal["multiplied", "added", "prior"]: ...
    @property
    def exploration(self) -> float: ...
    @property
    def log_factor(self) -> float: ...
    @property
    def normalized(self) -> bool: ...
    @property
    def exploration_by_spread(self) -> bool: ...
    @property
    def exploration_decay(self) -> float: ...

@final
class MctsOptions(_Bound):
    """Parameters of a tree search: an object with them as attributes."""

    def __init__(
        self,
        *,
        trees: int = ...,
        greedy_trees: int = ...,
        epsilon: float = ...,
        deviations: float | None = ...,
        draws: int = ...,
        first_beam: int | None = ...,
        first_draws: int = ...,
        iterations: int | None = ...,
        seconds_per_decision: float | None = ...,
        policy: TreePolicy = ...,
        candidates: int | None = ...,
        winner: str = ...,
        tells_roots: bool = ...,
        widening: float = ...,
        front_loading: float = ...,
        tree_memory: int = ...,
        threads: int = ...,
        seed: int = ...,
    ) -> None:
        """Parameters of a tree search.

        Args:
            trees: how many, up to 65,536.
            greedy_trees: how many of them simulate greedily.
            epsilon: probability of a greedy step in the simulations of the others, where they repeat nothing.
            deviations: steps of these simulations, on average, that do not repeat the best known state; None repeats
                nothing.
            draws: their random children are the best of so many.
            first_beam: size of a beam whose first pass gives the first complete state.
            first_draws: random complete states, the best of which is the first; 0 for a greedy one if any is to be repeated.
            iterations: of each tree per decision.
            seconds_per_decision: wall-clock time.
            policy: that a tree explores by.
            candidates: decisions of each root that a policy draws, to be halved until one is left; None to let all compete.
            winner: "best", "average", or the "candidate" that is left.
            tells_roots: whether the result tells what became of the decisions that were tried at each root.
            widening: exponent of the number of children by visits.
            front_loading: power by which the rest of a budget falls with the decisions left.
            tree_memory: bytes of all nodes.
            threads: to run the trees on.
            seed: of the random numbers.
        """
    @property
    def trees(self) -> int: ...
    @property
    def greedy_trees(self) -> int: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def deviations(self) -> float | None: ...
    @property
    def draws(self) -> int: ...
    @property
    def first_beam(self) -> int | None: ...
    @property
    def first_draws(self) -> int: ...
    @property
    def iterations(self) -> int | None: ...
    @property
    def seconds_per_decision(self) -> float | None: ...
    @property
    def policy(self) -> TreePolicy: ...
    @property
    def candidates(self) -> int | None: ...
    @property
    def winner(self) -> Literal["best", "average", "candidate"]: ...
    @property
    def tells_roots(self) -> bool: ...
    @property
    def widening(self) -> float: ...
    @property
    def front_loading(self) -> float: ...
    @property
    def tree_memory(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def seed(self) -> int: ...

@final
class TriedAtRoot:
    """The decisions that have led from a root of a tree search to complete states before it moved on."""

    @property
    def depth(self) -> int:
        """Decisions before the root."""
    @property
    def actions(self) -> list[int]:
        """The decisions, by their places among the legal ones."""
    @property
    def costs(self) -> list[float]:
        """The least cost of these complete states, by decision."""

@final
class MctsResult(SearchResult[_StateT_co]):
    """What a tree search found, and what it took."""

    @property
    def deciding_trees(self) -> list[int]:
        """Per pass, the index of the tree that found what decided; the greedy trees come first, and -1 is none of them."""
    @property
    def roots(self) -> list[TriedAtRoot]:
        """Per pass, what was tried; empty unless the options say `tells_roots`."""

@final
class TreeOrder(_Value):
    """What the trees of an ensemble are told before a search: where to go, what to follow, how long to search; picklable."""

    def repeated(self) -> TreeOrder:
        """What to tell trees that take the place of lost ones: the same, or without the search if seconds limit it."""

@final
class TreeReport(_Value):
    """What a tree of an ensemble tells after a search: counts, its best schedule, and what else decides; picklable."""

    @property
    def tree(self) -> int:
        """Its index in the ensemble."""
    @property
    def evaluations(self) -> int:
        """Costs that it has asked for in this search."""

@final
class TreeShare(_Bound):
    """Some trees of the ensemble of `mcts`, which are what they are there."""

    def __init__(self, space: Space, options: MctsOptions, remainder: int, divisor: int) -> None:
        """Trees at the first decision of a space.

        Args:
            space: of the schedules.
            options: of the whole search.
            remainder: that their indices leave, from 0 to below the divisor.
            divisor: number of shares, up to that of trees.

        Raises:
            InvalidParameter: a parameter is out of its range.
            OutOfResources: a thread cannot start.
        """

    def search(self, order: TreeOrder) -> list[TreeReport]:
        """Follow an order; orders build on one another.

        Raises:
            Error: another thread is searching with these trees.
            OutOfResources: there is not enough memory.
        """

def mcts(
    space: Any,
    options: MctsOptions = ...,
    measure: Callable[[Any, list[int]], float | None] | None = None,
    trees: Callable[[TreeOrder, Callable[[int], bool]], list[TreeReport] | None] | None = None,
    *,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    max_expansions: int | None = None,
    on_progress: Callable[[int, int, int, int, float], bool] | None = None,
) -> MctsResult[Any]:
    """Monte Carlo tree search with an ensemble of trees (Haj-Ali et al. 2020, Figure 6); limits as for `beam_search`.

    The result has one pass per decision that left a choice. Budgets are divided among the decisions left if there is
    neither a limit of iterations nor of seconds per decision.

    Args:
        space: to search.
        options: of the search.
        measure: from a complete state and its actions to seconds, infinite if it failed, or None if there is nothing to
            tell; called by one thread at a time.
        trees: has all trees search that are held elsewhere, for a space of schedules: hands an order to each `TreeShare`,
            and returns the reports in the order of the trees. It asks its second argument now and then whether to go on,
            telling how many states were rated in this search so far; None if not. By default the trees live here.

    Raises:
        InvalidParameter: a parameter is out of its range, or nothing limits the search; or the trees of a space of another
            kind are elsewhere.
        SearchExhausted: no random schedule was legal.
        OutOfResources: there is not enough memory, or a thread cannot start.
    """

def rollout_speed(space: Space, *, seconds: float = 1.0, seed: int = 0) -> tuple[float, float]:
    """Complete random schedules per second of CPU time, with their costs, measured in turns.

    Args:
        space: of the schedules.
        seconds: CPU time for each of the two.
        seed: of the decisions.

    Returns:
        With one child drawn and built at each step, and with all children built at each step.
    """

def estimate_num_schedules(space: Any, *, walks: int = 64, seed: int = 0) -> float:
    """Unbiased estimate of the number of complete schedules from random walks (Knuth 1975); infinity on overflow.

    Raises:
        InvalidParameter: `walks` is below 1.
    """

# Searches whose decisions a policy draws (search_guided.cpp)

@final
class GuidanceOptions(_Bound):
    """How decisions are drawn from a policy: an object with the parameters as attributes."""

    def __init__(
        self,
        *,
        temperature: float = ...,
        other_temperature: float | None = ...,
        shortlist: int = ...,
        shortlist_share: float = ...,
        max_decisions: int = ...,
        memory: int = ...,
        seed: int = ...,
    ) -> None:
        """How decisions are drawn from a policy.

        Args:
            temperature: of the draws; 0 for the favourites.
            other_temperature: of half of the draws of a schedule, by lot; None for the same.
            shortlist: children that are read at each decision; 0 for none.
            shortlist_share: of the draws, how many are from the shortlist.
            max_decisions: that the policy looks at, evenly spread.
            memory: bytes, of what is remembered of states.
            seed: of the shortlists.

        Raises:
            InvalidParameter: a parameter is out of its range.
        """
    @property
    def temperature(self) -> float: ...
    @property
    def other_temperature(self) -> float | None: ...
    @property
    def shortlist(self) -> int: ...
    @property
    def shortlist_share(self) -> float: ...
    @property
    def max_decisions(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def seed(self) -> int: ...

@final
class GuidedSpace:
    """Schedules of which policies draw the random decisions; for `mcts`, `rollout_search` and `sgbs`."""

    def __init__(self, space: Space, policy: Policy | Sequence[Policy] | None, options: GuidanceOptions = ...) -> None:
        """A space in which a policy draws.

        Args:
            space: of the schedules.
            policy: of that space; several, of which one by lot draws each schedule, and at each node of a tree; None to draw
                a child of cost c with a probability in proportion to c^(-1 / temperature).
            options: of the draws.

        Raises:
            InvalidParameter: a policy is of another problem; there are no policies among several; there is a shortlist but
                no policy.
        """

    def completion_costs(self, expansion: Expansion, actions: Sequence[int], *, seed: int = 0) -> NDArray[np.float64]:
        """Cost of the complete schedule that draws make of each of some children; infinity where they come to a dead end.

        Args:
            expansion: of a state of this space.
            actions: which children.
            seed: of the draws, the same for each child.

        Returns:
            [len(actions)]

        Raises:
            InvalidParameter: an action is no index of a legal decision.
        """

@final
class RolloutSearchOptions(_Bound):
    """Parameters of a search by rollouts: an object with them as attributes."""

    def __init__(
        self,
        *,
        rollouts: int | None = ...,
        free_rollouts: int = ...,
        deviations: float | None = ...,
        patience: int | None = ...,
        seed: int = ...,
    ) -> None:
        """Parameters of a search by rollouts.

        Args:
            rollouts: how many different ones; None for as many as the budget allows. A schedule that comes again is not
                looked at again; after a thousand of these in a row, the search is over.
            free_rollouts: how many of them come before any repeats the best one.
            deviations: steps of the others, on average, that do not repeat the best one; None repeats nothing.
            patience: rollouts without a better one, after which it begins again; None for never.
            seed: of the random numbers.

        Raises:
            InvalidParameter: a parameter is out of its range.
        """
    @property
    def rollouts(self) -> int | None: ...
    @property
    def free_rollouts(self) -> int: ...
    @property
    def patience(self) -> int | None: ...
    @property
    def deviations(self) -> float | None: ...
    @property
    def seed(self) -> int: ...

def rollout_search(
    space: Any,
    options: RolloutSearchOptions = ...,
    *,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    max_expansions: int | None = None,
    on_progress: Callable[[int, int, int, int, float], bool] | None = None,
) -> SearchResult[Any]:
    """The best of many complete schedules that are drawn, or repeated from the best; limits as for `beam_search`.

    Raises:
        InvalidParameter: neither a number of rollouts nor a budget is given, or a parameter is out of its range.
        SearchExhausted: no random schedule was legal.
    """

# Best-first beams (search_mb2fbs.cpp)

@final
class SgbsOptions(_Bound):
    """Parameters of a simulation-guided beam search: an object with them as attributes."""

    def __init__(
        self,
        *,
        beam_size: int = ...,
        children: int = ...,
        sampled: bool = ...,
        passes: int | None = ...,
        seed: int = ...,
    ) -> None:
        """Parameters of a simulation-guided beam search.

        Args:
            beam_size: states that are kept of each depth.
            children: of each of them, that are completed by a rollout.
            sampled: whether they are drawn without repetition, and not the likeliest ones.
            passes: how many, each with a beam and children twice as many; None for as many as the budget allows.
            seed: of the random numbers.

        Raises:
            InvalidParameter: a parameter is out of its range.
        """
    @property
    def beam_size(self) -> int: ...
    @property
    def children(self) -> int: ...
    @property
    def sampled(self) -> bool: ...
    @property
    def passes(self) -> int | None: ...
    @property
    def seed(self) -> int: ...

def sgbs(
    space: Any,
    options: SgbsOptions = ...,
    *,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    max_expansions: int | None = None,
    on_progress: Callable[[int, int, int, int, float], bool] | None = None,
) -> SearchResult[Any]:
    """Simulation-guided beam search (Choo et al. 2022): a beam that is kept by what rollouts of its children come to.

    Limits as for `beam_search`.

    Raises:
        InvalidParameter: nothing limits the search, or a parameter is out of its range.
        SearchExhausted: no rollout was legal.
    """

@final
class Mb2fbsResult(SearchResult[_StateT_co]):
    """What an MB2FBS found, and what it took."""

    @property
    def pass_expansions(self) -> list[list[int]]:
        """Expanded states, per pass and depth."""
    @property
    def pass_complete_states(self) -> list[int]:
        """Complete states taken off the queue, per pass."""

@final
class Mb2fbsOptions(_Bound):
    """Parameters of an MB2FBS: an object with them as attributes; see `halidegym.agents.planners.mb2fbs.MB2FBS`."""

    def __init__(
        self,
        *,
        beta1: int | None = ...,
        beta2: int | None = ...,
        beta: int | None = ...,
        memory: int | None = ...,
        passes: int = ...,
        priority: str | Callable[[float, int, float, float], float] = ...,
        stop_at_complete: bool = ...,
    ) -> None:
        """Parameters of an MB2FBS.

        Args:
            beta1: states expanded per iteration; None for all.
            beta2: states kept per iteration; None for all.
            beta: states expanded per depth of a pass; None for any number.
            memory: states in a queue; None for any number.
            passes: of the search.
            priority: "cost", "depth_and_cost", or a function of cost, depth, X and D_max; the larger goes first.
            stop_at_complete: end a pass at the first complete state.
        """
    @property
    def beta1(self) -> int | None: ...
    @property
    def beta2(self) -> int | None: ...
    @property
    def beta(self) -> int | None: ...
    @property
    def memory(self) -> int | None: ...
    @property
    def passes(self) -> int: ...
    @property
    def priority(self) -> Literal["cost", "depth_and_cost"] | Callable[[float, int, float, float], float]: ...
    @property
    def stop_at_complete(self) -> bool: ...

def mb2fbs(
    space: Any,
    options: Mb2fbsOptions = ...,
    *,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    max_expansions: int | None = None,
    on_progress: Callable[[int, int, int, int, float], bool] | None = None,
) -> Mb2fbsResult[Any]:
    """Memory-bounded best-first beam search (Gao et al. 2022); limits as for `beam_search`.

    Raises:
        InvalidParameter: a parameter is out of its range, or `memory` is too small for the others.
        SearchExhausted: no complete state was reached.
    """

# Bandits on the graph of states (search_tag.cpp)

@final
class TagOptions(_Bound):
    """Parameters of threshold ascent on a graph: an object with them as attributes."""

    def __init__(self, *, best_rewards: int = ..., delta: float = ..., merge: bool = ..., seed: int = ...) -> None:
        """Parameters of threshold ascent on a graph.

        Args:
            best_rewards: of which the bandit asks where they came from.
            delta: of the bandit.
            merge: whether equal states are one vertex; if not, the graph is a tree.
            seed: of the random walks.
        """
    @property
    def best_rewards(self) -> int: ...
    @property
    def delta(self) -> float: ...
    @property
    def merge(self) -> bool: ...
    @property
    def seed(self) -> int: ...

def tag_search(
    space: Any,
    options: TagOptions = ...,
    *,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    max_expansions: int | None = None,
    on_progress: Callable[[int, int, int, int, float], bool] | None = None,
) -> SearchResult[Any]:
    """Threshold Ascent on Graph (de Mesmay et al. 2009); ends by itself once it knows all complete states.

    The limits are as for `beam_search`; evaluations are of complete states.

    Raises:
        InvalidParameter: a parameter is out of its range.
        SearchExhausted: there is no legal schedule, or none was found by many random walks.
    """

@final
class UctOptions(_Bound):
    """Parameters of upper confidence bounds on a tree: an object with them as attributes."""

    def __init__(self, *, exploration: float = ..., merge: bool = ..., seed: int = ...) -> None:
        """Parameters of upper confidence bounds on a tree.

        Args:
            exploration: weight of the confidence radius sqrt(ln n / n_i).
            merge: whether equal states are one vertex; if not, the graph is a tree.
            seed: of the random walks.
        """
    @property
    def exploration(self) -> float: ...
    @property
    def merge(self) -> bool: ...
    @property
    def seed(self) -> int: ...

def uct_search(
    space: Any,
    options: UctOptions = ...,
    *,
    max_seconds: float | None = None,
    max_evaluations: int | None = None,
    max_expansions: int | None = None,
    on_progress: Callable[[int, int, int, int, float], bool] | None = None,
) -> SearchResult[Any]:
    """UCT (Kocsis and Szepesvári 2006) in the setting of `tag_search`; limits as there.

    Raises:
        InvalidParameter: a parameter is out of its range, or a cost is not positive.
        SearchExhausted: there is no legal schedule, or none was found by many random walks.
    """

# Parts of searches alone, to measure what they take (search_parts.cpp)

def compute_features(states: Sequence[State]) -> int:
    """Compute the schedule features of states of one space, one after another; return how many rows that were."""

def random_rollouts(space: Space, count: int, *, seed: int = 0) -> int:
    """Draw so many complete schedules with their costs; return how many of them were legal to the end."""

# What learners see of problems and states (observation.cpp)

def problem_rows(space: Space) -> dict[str, NDArray[Any]]:
    """What stays the same for all states of a problem, of S stages and E edges; `HalideSchedule` describes the columns.

    Returns:
        `algorithm_features` float32 [S, 280]; `stage_features` float32 [S, 24]; `edges` int32 [E, 2], producer stage and
        consumer stage; `edge_features` float32 [E, 8].
    """

def replay_rows(
    space: Space,
    actions: Sequence[int],
    *,
    candidates: int = 64,
    seed: int = 0,
    loops: int = 8,
    child_features: bool = False,
    reference_cost: float = 1.0,
    shown: Sequence[Sequence[int]] = (),
) -> dict[str, NDArray[Any]]:
    """The N states on the path of a plan that leave a choice, each with the decision taken and some others.

    Args:
        space: the plan's.
        actions: of the plan, from the state in which nothing is decided; they need not complete the schedule.
        candidates: how many decisions are shown of a state at most: the one that the plan takes, and others drawn
            without repetition, each as likely as the others. They are in the order of `Expansion`.
        seed: of these draws.
        loops: L, of which a decision's row tells trip counts.
        child_features: whether to tell what the children of the decisions shown are like. Each is an evaluation.
        reference_cost: what the first of the child features is relative to.
        shown: by decision of the plan, indices of decisions that are shown besides the one taken, even if these are more
            than `candidates`.

    Returns:
        For each state: `deciding` int32 [N, 2], the first stage of the Func that is decided and their number; `phase`
        int8 [N], 0: placing, 1: parallelizing; `decided` float32 [N], the share of decisions made; `places` int8 [N, S],
        of each stage's Func, 0: undecided, or an input, 1: inlined, 2: at the root, 3: within another's loops;
        `num_legal` int32 [N]; `taken` int32 [N], the index among the decisions shown; `offsets` int32 [N + 1], where
        the rows of each state begin. For all decisions shown: `indices` int32 [..], among the legal ones of their state;
        `decisions` float32 [.., 29 + 3 L], as the environment shows them; `decision_stage` int32 [..], the stage of the
        decision's level, -1: the root, or none. If asked for, `decision_features` float32 [.., 43] and `costs` float64
        [..], of the cost model.

    Raises:
        InvalidParameter: an action is no index of a legal decision or there are too many, a number is out of its range,
            or the weights of the cost model give a cost that is no number.
    """

# Environments (env.cpp)

@final
class PolicyNetwork(_Value):
    """The weights of a policy, ready to be asked. Results do not depend on the instruction set."""

    def __init__(
        self,
        arrays: Mapping[str, NDArray[np.float32]],
        *,
        width: int = 64,
        rounds: int = 3,
        loops: int = 8,
        use_stage_features: bool = True,
        use_edge_features: bool = True,
        use_demands: bool = True,
        instruction_set: InstructionSet | None = None,
    ) -> None:
        """Take weights by the names and shapes of the network in torch; None is the machine's best instruction set.

        Raises:
            InvalidParameter: a size is out of range, or an array is missing, unknown, of another shape or not finite.
        """

@final
class Policy(_Value):
    """A network on one problem, whose encoding it keeps."""

    def __init__(self, network: PolicyNetwork, space: Space) -> None: ...
    def blind_logits(self, expansion: Expansion, actions: Sequence[int] | None = None) -> NDArray[np.float32]:
        """Logits of some decisions of a state, or of all, by what they say themselves. Nothing is evaluated.

        Raises:
            InvalidParameter: there is no such decision.
        """
    def child_logits(self, expansion: Expansion, actions: Sequence[int] | None = None) -> NDArray[np.float32]:
        """Logits of some decisions of a state, or of all, by their children's features, too: an evaluation each.

        Raises:
            InvalidParameter: there is no such decision, or the weights of the cost model give a cost that is no number.
        """
    def value(self, state: State, relative_cost: float) -> float:
        """Estimate log(cost of the best schedule below a state / that of a reference).

        Args:
            state: the state.
            relative_cost: its own cost / that of the reference.
        """

@final
class ObservationShape(_Value):
    """Sizes of the arrays of an observation."""

    def __init__(
        self, *, stages: int, edges: int, loops: int, decisions: int, child_features: bool = False
    ) -> None: ...
    @staticmethod
    def of(space: Space) -> ObservationShape:
        """The smallest shape that holds the problem of a space, with one decision."""
    @property
    def stages(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def loops(self) -> int:
        """Of a stage."""
    @property
    def decisions(self) -> int: ...
    @property
    def child_features(self) -> bool:
        """Whether the children of the decisions are shown, too."""
    @property
    def descriptor_size(self) -> int:
        """Columns of the descriptor of a decision."""

@final
class Environment(_Bound):
    """An episode over the decisions of a schedule; see `halidegym.envs.halide_schedule.HalideSchedule`."""

    def __init__(self, shape: ObservationShape, *, skip_forced: bool = True, copy: bool = True) -> None:
        """An environment in no state yet.

        Args:
            shape: of observations.
            skip_forced: whether it takes decisions without an alternative itself.
            copy: whether the arrays of an observation belong to the caller. If not, they are read-only, and written again:
                those of `start_and_look` and `observe` by the next of these, those of a step by the second step from there.
                Only what changed is written.

        Raises:
            InvalidParameter: a size is below 1.
        """
    def start(self, state: State, reference_cost: float = 1.0, evaluations: int = 0) -> None:
        """Begin in a state, or in the next one that offers a choice, but do not complete the schedule.

        Args:
            state: the state.
            reference_cost: that costs are told relative to.
            evaluations: those that count for the episode already.

        Raises:
            InvalidParameter: the problem exceeds the shape, the reference cost is no positive number, `evaluations` is not
                from 0 to 2^62, or see `step`.
        """
    def step(self, action: int) -> bool:
        """Take a decision; whether the action was legal. If not, it counts modulo the number of legal ones.

        Raises:
            InvalidParameter: there is no legal decision, or the cost of the state that it leads to is no number.
        """
    def observe(self) -> dict[str, NDArray[Any]]:
        """The observation as a dict of arrays of one dimension. One that belongs to the caller is used again only when
        nobody refers to it any longer.
        """
    def start_and_look(
        self, state: State, reference_cost: float, evaluations: int
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """`start(...)`, then `observe()` and the information that `HalideSchedule` gives of every position.

        Raises:
            InvalidParameter: see `start`.
        """
    def step_and_look(self, action: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The same after `step(action)`, with the legality of the action in the information.

        Raises:
            InvalidParameter: see `step`.
        """
    def end(self) -> tuple[State, float | None]:
        """The state, and its cost if it is complete."""
    @property
    def state(self) -> State: ...
    @property
    def shape(self) -> ObservationShape: ...
    @property
    def num_legal_decisions(self) -> int: ...
    @property
    def evaluations(self) -> int:
        """Nests whose features the observations of the episode have shown so far: one of each state in which something is
        scheduled, and one of each child shown.
        """
    def presented_decisions(self) -> NDArray[np.int64]:
        """Indices into the legal decisions that the actions stand for."""

# Environments that step together (env_vector.cpp)

@final
class VectorEnvironment(_Bound):
    """Environments that take their steps together, in several threads, without the interpreter's lock.

    Each does what an `Environment` does alone, bit for bit, whatever the number of threads. They may have different
    problems, as far as these fit the shape.

    The arrays have a row for each environment. They are read-only, the same at all times, and change with each call: copy
    what is to be kept. Belongs to one thread at a time.

    If an environment raises an error, the others go on, and the error's message names the first that did.
    """

    def __init__(self, shape: ObservationShape, *, skip_forced: bool = True, num_envs: int, threads: int = 1) -> None:
        """Environments in no state yet, and threads that wait for their steps.

        Raises:
            InvalidParameter: a size, `num_envs` or `threads` is below 1.
            OutOfResources: the machine has not so many threads.
        """
    def start(self, states: Sequence[State | None], reference_costs: Sequence[float] = ()) -> None:
        """Begin in these states, one for each environment; those with None go on where they are.

        Args:
            states: the states.
            reference_costs: for each environment, the cost that costs are told relative to; all 1 if empty.

        Raises:
            InvalidParameter: their number is not that of environments, or see `Environment.start`.
        """
    def restart(self, chosen: NDArray[np.bool_]) -> None:
        """Begin again where the chosen environments began last.

        Raises:
            InvalidParameter: the length is not the number of environments, or one of them never began.
        """
    def step(self, actions: NDArray[np.int64], chosen: NDArray[np.bool_]) -> None:
        """Take an action in each chosen environment; see `Environment.step`.

        Raises:
            InvalidParameter: a length is not the number of environments; or an episode is over, or has not begun, and
                then no environment takes a step.
        """
    def copy_observation(self) -> dict[str, NDArray[Any]]:
        """What `observation` shows, in new arrays, which belong to the caller."""
    def copy_rows(self, chosen: NDArray[np.bool_]) -> list[dict[str, NDArray[Any]]]:
        """What each chosen environment shows, in its turn: `Environment.observe`. The arrays belong to the caller.

        Raises:
            InvalidParameter: the length is not the number of environments, or one of them never began.
        """
    def information(self, chosen: NDArray[np.bool_] | None = None) -> dict[str, NDArray[Any]]:
        """What else there is to tell of the chosen positions, or all; 0 of the others. The arrays belong to the caller.

        `action_mask`, int8, (num_envs, decisions); `num_legal_decisions`, int64, and `decisions_truncated`, bool: whether
        that is more than there is room for; `evaluations`, int64.

        Raises:
            InvalidParameter: the length is not the number of environments.
        """
    def states(self, chosen: NDArray[np.bool_]) -> list[State]:
        """The current state of each chosen environment, in their order.

        Raises:
            InvalidParameter: the length is not the number of environments, or one of the chosen has not begun.
        """
    def state(self, index: int) -> State:
        """The current state of an environment.

        Raises:
            InvalidParameter: there is no such environment, or it has not begun.
        """
    @property
    def shape(self) -> ObservationShape: ...
    @property
    def observation(self) -> dict[str, NDArray[Any]]:
        """What `Environment.observe` returns, with a row for each environment.

        Each call writes what changes, from the first request on.
        """
    @property
    def num_legal_decisions(self) -> NDArray[np.int64]: ...
    @property
    def evaluations(self) -> NDArray[np.int64]:
        """As `Environment.evaluations`."""
    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Where no decision is left."""
    @property
    def illegal_action(self) -> NDArray[np.bool_]:
        """Where the action of the last step was illegal, and another decision was taken."""
    @property
    def cost(self) -> NDArray[np.float64]:
        """Of complete schedules; NaN elsewhere, so at dead ends, too."""

# Schedules on Halide's side (halide_schedule.cpp)

def apply_schedule(
    problem: Problem, stages: Sequence[StageDirectives], original: hl.Pipeline, pipeline: hl.Pipeline
) -> None:
    """Make the scheduling calls on an unscheduled pipeline: the problem's own, `original`, or one built in the same way.

    Raises:
        InvalidParameter: it is a different pipeline, or has a schedule already.
        CompileError: Halide refuses a call; the calls before it stay in effect.
    """
