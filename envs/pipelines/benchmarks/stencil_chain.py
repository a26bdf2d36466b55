"""stencil_chain: a long chain of integer stencils."""

import halide as hl

from halidegym.envs.pipelines.size import LARGE, Size, width_and_height


def build(size: Size = LARGE, stencils: int = 32) -> hl.Pipeline:
    """5x5 stencils in wrapping 16-bit arithmetic, one after another (from the benchmarks of Adams et al. 2019).

    Inputs: `input` uint16 (width, height).
    Output: `stencil_chain` uint16 (width, height).
    Graph: 36 nodes, 36 stages (for 32 stencils).
    """
    width, height = width_and_height(size)
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.UInt(16), 2, "input")
    image.set_estimates([(0, width), (0, height)])

    stage = hl.BoundaryConditions.repeat_edge(image)
    for s in range(stencils):
        total = hl.u16(0)
        for i in range(-2, 3):
            for j in range(-2, 3):
                total = total + (i + 3) * (j + 3) * stage[x + i, y + j]
        stage = hl.Func(f"stage_{s}")
        stage[x, y] = total

    output = hl.Func("stencil_chain")
    output[x, y] = stage[x, y]
    output.set_estimates([(0, width), (0, height)])
    return hl.Pipeline(output)
