"""Run the Adams2019 plugin on a test pipeline and print what it reports; from the folder `tests`, for example::

python -m oracle.run_plugin blur --parallelism 8 --beam-size 4 --trace blur.trace
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pipelines_for_tests
from halidegym.agents.reference import Adams2019
from oracle.builder_problem import SSE_AVX2, BuilderProblem
from oracle.trace import read_trace, trace_environment


def main() -> None:
    parser = argparse.ArgumentParser(prog="run_plugin", description=__doc__)
    parser.add_argument("pipeline", choices=sorted(pipelines_for_tests.ALL))
    parser.add_argument("--target", default=SSE_AVX2)
    parser.add_argument("--parallelism", type=int, default=16)
    parser.add_argument("--beam-size", type=int, default=32)
    parser.add_argument("--passes", type=int)
    parser.add_argument("--random-dropout", type=int, default=100, help="per cent")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory-limit", type=int)
    parser.add_argument("--disable-subtiling", action="store_true")
    parser.add_argument("--memoized-features", action="store_true", help="as by default, with errors in rare cases")
    parser.add_argument("--log", action="store_true", help="print the whole log: graph, loop nests, features")
    parser.add_argument("--trace", type=Path, help="file for every batch of evaluations; read it with oracle.trace")
    arguments = parser.parse_args()

    agent = Adams2019(
        beam_size=arguments.beam_size,
        passes=arguments.passes,
        random_dropout=arguments.random_dropout,
        random_dropout_seed=arguments.seed,
        disable_subtiling=arguments.disable_subtiling,
        memoized_features=arguments.memoized_features,
        memoized_blocks=not arguments.disable_subtiling,
        memory_limit=arguments.memory_limit,
    )
    problem = BuilderProblem(arguments.pipeline, arguments.parallelism, arguments.target)
    environment = {} if arguments.trace is None else trace_environment(arguments.trace.resolve())
    result = agent.run(problem, environment=environment)
    if arguments.log:
        sys.stdout.write(result.log)
    print(result.loop_nest)
    print("pass costs: ", *result.pass_costs_text)
    print("best cost:  ", result.cost)
    print("evaluations:", result.evaluations)
    print(
        f"time:        {result.seconds:.3f} s, {result.cpu_seconds:.3f} s CPU, {result.peak_memory_bytes / 1e6:.1f} MB"
    )
    if arguments.trace is not None:
        sizes = [f"{batch.num_stages}x{len(batch.costs)}" for batch in read_trace(arguments.trace)]
        print("batches (stages x states):", *sizes)


if __name__ == "__main__":
    main()
