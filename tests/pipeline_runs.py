"""Running pipelines in tests. Arrays are indexed in reverse: (c, y, x) is Halide's (x, y, c)."""

import halide as hl
import numpy as np


def run(
    pipeline: hl.Pipeline,
    output: np.ndarray,
    minimum: list[int] | None = None,
    inlined: tuple[str, ...] = (),
    **inputs: object,
) -> np.ndarray:
    """Run the pipeline with each Func computed at root but for those `inlined`, and return the output."""
    for i, name in enumerate(pipeline_functions(pipeline)):
        if name.split("$")[0] not in inlined:
            pipeline.get_func(i).compute_root()
    arguments = pipeline.infer_arguments()
    kernel = pipeline.compile_to_callable(arguments, hl.get_host_target())
    buffer = hl.Buffer(output)
    if minimum is not None:
        buffer.set_min(minimum)
    values = [inputs[argument.name] for argument in arguments]
    buffers = [hl.Buffer(value) if isinstance(value, np.ndarray) else value for value in values]
    kernel(*buffers, buffer)
    return output


def pipeline_functions(pipeline: hl.Pipeline) -> list[str]:
    names: list[str] = []
    while True:
        try:
            names.append(pipeline.get_func(len(names)).name())
        except hl.HalideError:
            return names


def random(*shape: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    return np.random.default_rng(1).uniform(low, high, shape).astype(np.float32)


def luma(image: np.ndarray) -> np.ndarray:
    weights = np.array([0.299, 0.587, 0.114], np.float32)
    return np.tensordot(weights, image.astype(np.float32), 1)
