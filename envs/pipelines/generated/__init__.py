"""Random pipelines: an endless supply of valid ones, in the spirit of Adams et al. 2019, section 5.

See `names` for what they are called, `sample` for how they are drawn, and `kinds` for what they are made of.
"""

import halide as hl

from halidegym.envs.pipelines.generated.assemble import assemble
from halidegym.envs.pipelines.generated.names import (
    COUNT,
    SUITES,
    blueprint,
    is_name,
    name_in_turn,
    name_of,
    split_of,
    suite_and_number,
    suite_of,
    version_of,
)
from halidegym.envs.pipelines.generated.sample import MAX_EDGES, MAX_LOOPS, MAX_NODES, MAX_STAGES, MIN_NODES

__all__ = [
    "COUNT",
    "MAX_EDGES",
    "MAX_LOOPS",
    "MAX_NODES",
    "MAX_STAGES",
    "MIN_NODES",
    "SUITES",
    "blueprint",
    "build",
    "is_name",
    "name_in_turn",
    "name_of",
    "split_of",
    "suite_and_number",
    "suite_of",
    "version_of",
]


def build(name: str) -> hl.Pipeline:
    """Build the generated pipeline of this name, unscheduled and with all its estimates.

    Raises:
        ValueError: the text is no such name.
    """
    return assemble(blueprint(name))
