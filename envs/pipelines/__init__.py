"""The registered pipelines, as algorithms without schedules.

`names()` lists them and `build(name)` returns one as a `halide.Pipeline` at its published size; options make it
smaller. They come in suites: the benchmarks of the papers, one file each, whose `build` says what it computes, its inputs
and outputs, and the size of its graph; toys with known optima; and generated ones without number.

The order of a graph's nodes, and with it the course of a search, follows the Func names and the order in which a walk
over the definitions meets them (docs/specification/function-dag.md, section 2.1). So the names and the order of terms
are part of a pipeline here. Halide keeps names unique in a process by a suffix (`gray`, `gray$1`, ...), by which Funcs of
one name are ordered, as texts: `gray$10` comes before `gray$9`. So no two Funcs of a pipeline here have one name, and one
that is built twice gives the same graph twice.
"""

from halidegym.envs.pipelines.benchmarks import resnet_50
from halidegym.envs.pipelines.registry import build, entry, is_name, members, names, suites
from halidegym.envs.pipelines.suite import Entry, Suite

__all__ = ["Entry", "Suite", "build", "entry", "is_name", "members", "names", "resnet_50", "suites"]
