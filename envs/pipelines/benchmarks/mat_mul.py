"""mat_mul: matrix product."""

import halide as hl

from halidegym.envs.pipelines.size import side


def build(size: int = 1536) -> hl.Pipeline:
    """Dense single-precision product of two square matrices: output(x, y) = sum over k of A(x, k) * B(k, y).

    Inputs: `A`, `B` float32 (size, size); seen as row-major arrays, the output is B @ A.
    Output: `mat_mul` float32 (size, size), its variables bounded to that size.
    Graph: 4 nodes, 5 stages.
    """
    size = side(size)
    x, y = hl.Var("x"), hl.Var("y")
    a, b = (hl.ImageParam(hl.Float(32), 2, name) for name in "AB")
    a.set_estimates([(0, size), (0, size)])
    b.set_estimates([(0, size), (0, size)])

    prod, output = hl.Func("prod"), hl.Func("mat_mul")
    k = hl.RDom([(0, size)], "k")
    prod[x, y] += a[x, k] * b[k, y]
    output[x, y] = prod[x, y]
    output.bound(x, 0, size).bound(y, 0, size)
    output.set_estimates([(0, size), (0, size)])
    return hl.Pipeline(output)
