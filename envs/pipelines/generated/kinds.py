"""The stage library: what a Func can be, and how often."""

from collections.abc import Sequence

import halide as hl

from halidegym.envs.pipelines.generated import layout, linear, pointwise, reductions, resampling, stencils
from halidegym.envs.pipelines.generated.blueprint import Stage
from halidegym.envs.pipelines.generated.draws import Draws
from halidegym.envs.pipelines.generated.kind import Kind, Operand
from halidegym.envs.pipelines.generated.pool import Pool, Proposal


def _never(draws: Draws, pool: Pool) -> Proposal:
    return None


def _is_parameter(func: hl.Func, at: Sequence[hl.Var], stage: Stage, operands: Sequence[Operand]) -> None:
    raise AssertionError(f"{stage.kind} is an input: it has no definition")


# Kinds of weight 0 come with others or at the beginning or end of a pipeline.
KINDS: dict[str, Kind] = {
    "input": Kind("input", 0, 1, _never, _is_parameter),
    "weights": Kind("input", 0, 1, _never, _is_parameter),
    "arithmetic": Kind("pointwise", 5, 1, pointwise.propose_arithmetic, pointwise.define_arithmetic),
    "activation": Kind("pointwise", 1.5, 1, pointwise.propose_activation, pointwise.define_activation),
    "broadcast": Kind("pointwise", 1.5, 1, pointwise.propose_broadcast, pointwise.define_broadcast),
    "lookup": Kind("pointwise", 1, 1, pointwise.propose_lookup, pointwise.define_lookup),
    "quantize": Kind("pointwise", 0, 1, _never, pointwise.define_quantize),
    "stencil": Kind("stencil", 4, 1, stencils.propose_stencil, stencils.define_stencil),
    "window": Kind("stencil", 0.7, 2, stencils.propose_window, stencils.define_window),
    "repeat_edge": Kind("boundary", 1, 1, stencils.propose_repeat_edge, stencils.define_repeat_edge),
    "constant_exterior": Kind(
        "boundary", 0.5, 1, stencils.propose_constant_exterior, stencils.define_constant_exterior
    ),
    "mirror_image": Kind("boundary", 0.3, 1, stencils.propose_mirror_image, stencils.define_mirror_image),
    "downsample": Kind("resampling", 1.5, 1, resampling.propose_downsample, resampling.define_downsample),
    "upsample": Kind("resampling", 1.5, 1, resampling.propose_upsample, resampling.define_upsample),
    "pool": Kind("resampling", 0.7, 2, resampling.propose_pool, resampling.define_pool),
    "transpose": Kind("layout", 0.7, 1, layout.propose_transpose, layout.define_transpose),
    "slice": Kind("layout", 0.5, 1, layout.propose_slice, layout.define_slice),
    "stack": Kind("layout", 1, 1, layout.propose_stack, layout.define_stack),
    "flip": Kind("layout", 0.2, 1, layout.propose_flip, layout.define_flip),
    "unshuffle": Kind("layout", 0.3, 1, layout.propose_unshuffle, layout.define_unshuffle),
    "shuffle": Kind("layout", 0.3, 1, layout.propose_shuffle, layout.define_shuffle),
    "reduce": Kind("reduction", 0.7, 2, reductions.propose_reduce, reductions.define_reduce),
    "histogram": Kind("scatter", 2, 3, reductions.propose_histogram, reductions.define_histogram),
    "splat": Kind("scatter", 1.5, 2, reductions.propose_splat, reductions.define_splat),
    "scan": Kind("scan", 1, 3, reductions.propose_scan, reductions.define_scan),
    "matmul": Kind("linear", 1.5, 2, linear.propose_matmul, linear.define_matmul),
    "dense": Kind("linear", 0.5, 2, linear.propose_dense, linear.define_dense),
    "convolution": Kind("linear", 2, 2, linear.propose_convolution, linear.define_convolution),
    "depthwise": Kind("linear", 0.7, 2, linear.propose_depthwise, linear.define_depthwise),
    "outer": Kind("linear", 1, 1, linear.propose_outer, linear.define_outer),
}
