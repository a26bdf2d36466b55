"""From a blueprint to a Halide pipeline."""

import halide as hl

from halidegym.envs.pipelines.generated.blueprint import Blueprint, Stage
from halidegym.envs.pipelines.generated.kind import Operand
from halidegym.envs.pipelines.generated.kinds import KINDS
from halidegym.envs.pipelines.generated.values import halide_type


def assemble(blueprint: Blueprint) -> hl.Pipeline:
    """Build the pipeline, without a schedule and with all its estimates.

    Each Func is named after its kind and its index in the blueprint. So no name occurs twice in a pipeline, and the
    order of its graph does not depend on the suffixes by which Halide tells apart those of different pipelines.
    """
    operands: list[Operand] = []
    for index, stage in enumerate(blueprint.stages):
        func = _func(f"{stage.kind}_{index}", stage, [operands[o] for o in stage.operands])
        operands.append(Operand(func, stage.tensor))
    outputs = [operands[output].func for output in blueprint.outputs]
    for output, index in zip(outputs, blueprint.outputs, strict=True):
        output.set_estimates(_box(blueprint.stages[index]))
    return hl.Pipeline(outputs)


def _func(name: str, stage: Stage, operands: list[Operand]) -> hl.Func | hl.ImageParam:
    if not stage.operands:
        image = hl.ImageParam(halide_type(stage.tensor.type), len(stage.tensor.extents), name)
        image.set_estimates(_box(stage))
        return image
    func = hl.Func(name)
    at = [hl.Var(letter) for letter in "xyzw"[: len(stage.tensor.extents)]]
    KINDS[stage.kind].define(func, at, stage, operands)
    return func


def _box(stage: Stage) -> list[tuple[int, int]]:
    return [(0, extent) for extent in stage.tensor.extents]
