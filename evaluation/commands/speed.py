"""`halidegym speed`: how fast searches and environments are, as ratios, on the command line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from rich.markup import escape

from halidegym.envs.problems.rules import Rules
from halidegym.evaluation.arguments.options import SECONDS, Integer, pipeline_options, target_option
from halidegym.evaluation.arguments.paths import OutputFile, WritingCommand
from halidegym.evaluation.arguments.pipeline import Details, load_problem, with_pipeline_help
from halidegym.evaluation.output.console import Table, name_columns, number_columns, output_console
from halidegym.evaluation.output.pages import write_table
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.output.spread import Spread
from halidegym.evaluation.parity.check import Setting
from halidegym.evaluation.parity.speed import SIDES, compare_speed
from halidegym.evaluation.studies import environment_speed, search_speed
from halidegym.evaluation.studies.allocations import count_allocations
from halidegym.native._core import Space

_NAMES = (
    *("harris", "unsharp", "conv_layer", "mat_mul", "hist", "iir_blur"),
    *("max_filter", "stencil_chain", "camera_pipe"),
)
_ENVIRONMENTS = ("toy_blur", "harris", "camera_pipe")
_THREADS = 2
_POOL = 64
_CART_POLE, _SYNCHRONOUS, _NATIVE = "CartPole-v1", "SyncVectorEnv", "_core.VectorEnvironment"
_COLUMNS = ("part", "pipeline", "quantity", "median", "least", "greatest")


@dataclass(frozen=True)
class Vectors:
    """The sizes of vectors of environments.

    Attributes:
        size: of one that `gym.make_vec` makes.
        native_size: of one below Python.
        small_room: decisions that an observation has room for, where it has less than by default.
    """

    size: int
    native_size: int
    small_room: int


# The small room holds all decisions of any toy; of the others, it is what learners take.
_TOYS = Vectors(size=256, native_size=256, small_room=64)
_OTHERS = Vectors(size=16, native_size=64, small_room=256)


@dataclass(frozen=True)
class Measurement:
    """A line of the table."""

    part: str
    pipeline: str
    quantity: str
    values: Spread

    @property
    def cells(self) -> tuple[str, ...]:
        """As text."""
        values = (self.values.median, self.values.least, self.values.greatest)
        return (self.part, self.pipeline, self.quantity, *map(_number, values))


@dataclass(frozen=True)
class Run:
    """What was asked for.

    Attributes:
        names: of the pipelines.
        environments: of those that environments are about.
        setting: of the searches that the plugin does, too.
        details: of the pipelines.
        rounds: of each measurement.
        seconds: of CPU time, for each value of a rate.
        on_step: called with a text when something begins.
        on_difference: called with a text for each number that is not the plugin's.
    """

    names: Sequence[str]
    environments: Sequence[str]
    setting: Setting
    details: Details
    rounds: int
    seconds: float
    on_step: Callable[[str], None]
    on_difference: Callable[[str], None]

    def space(self, name: str) -> Space:
        """The schedules of a pipeline."""
        target, parallelism = self.setting.target, self.setting.parallelism
        return Rules().space(load_problem(name, target=target, parallelism=parallelism, details=self.details))


def _beam(run: Run) -> Iterator[Measurement]:
    for name in run.names:
        speed = compare_speed(name, run.setting, runs=run.rounds, details=run.details, on_run=run.on_step)
        for check in dict.fromkeys(speed.checks):
            if not check.equal:
                run.on_difference(f"{name}: {check.quantity} {check.ours}, and the plugin's {check.plugin}")
        yield Measurement("beam", name, "CPU time, plugin / ours", speed.speedup)
        yield Measurement("beam", name, "peak memory, plugin / ours", speed.memory_ratio)
        yield Measurement("beam", name, "evaluations computed / s", speed.evaluation_rate)
        yield Measurement("beam", name, "evaluations computed / counted", Spread((speed.distinct_share,)))


def _growth(run: Run) -> Iterator[Measurement]:
    rates = {name: search_speed.evaluations(run.space(name), run.seconds) for name in search_speed.GROWTH}
    measured = search_speed.in_turns(rates, run.rounds, run.on_step)
    first = measured[next(iter(search_speed.GROWTH))]
    for name, funcs in search_speed.GROWTH.items():
        microseconds = Spread(tuple(1e6 / rate for rate in measured[name].values))
        yield Measurement("growth", name, f"us per evaluation, {funcs} Funcs", microseconds)
        yield Measurement("growth", name, "time per evaluation / that of the first", first / measured[name])


def _network(run: Run) -> Iterator[Measurement]:
    rates = {"network rows": search_speed.network_rows, "feature rows": search_speed.feature_rows}
    return _against_evaluations(run, "network", rates)


def _search(run: Run) -> Iterator[Measurement]:
    rates = {"rollouts": search_speed.rollouts, "simulations": search_speed.simulations}
    return _against_evaluations(run, "search", rates)


def _against_evaluations(
    run: Run, part: str, rates: Mapping[str, Callable[[Space, float], search_speed.Rate]]
) -> Iterator[Measurement]:
    for name in run.names:
        space = run.space(name)
        kinds = {"evaluations": search_speed.evaluations, **rates}
        measured = search_speed.in_turns(
            {what: rate(space, run.seconds) for what, rate in kinds.items()}, run.rounds, run.on_step
        )
        for what in rates:
            yield Measurement(part, name, f"{what} / s", measured[what])
            yield Measurement(part, name, f"{what} / evaluations of a beam", measured[what] / measured["evaluations"])


def _environment(run: Run) -> Iterator[Measurement]:
    for name in run.environments:
        yield from _beside_cart_pole(run, name, _TOYS if name.startswith("toy_") else _OTHERS)
    pool, apart = f"pool={_POOL}", "the same pipelines, each alone"
    measured = _in_turns(run, {pool: environment_speed.pooled(_POOL), apart: environment_speed.pooled_apart(_POOL)})
    for what, steps in measured.items():
        yield Measurement("environment", "random", f"{what}: steps / s", steps)
    yield Measurement("environment", "random", f"{pool} / {apart}", measured[pool] / measured[apart])


def _beside_cart_pole(run: Run, name: str, vectors: Vectors) -> Iterator[Measurement]:
    count, room = vectors.size, vectors.small_room
    single, synchronous = "gym.make", f"{_SYNCHRONOUS} of {count}"
    together, native = f"gym.make_vec of {count}", f"{_NATIVE} of {vectors.native_size}"
    vector = partial(environment_speed.vector, name, num_envs=count)
    native_vector = partial(environment_speed.native_vector, name, num_envs=vectors.native_size)
    loops = {
        _CART_POLE: environment_speed.cart_pole(),
        single: environment_speed.schedules(name),
        f"{single}, max_decisions={room}": environment_speed.schedules(name, max_decisions=room),
        f"{single}, copy=False": environment_speed.schedules(name, copy=False),
        together: vector(),
        f"{together}, copy=False": vector(copy=False),
        f"{together}, copy=False, resets in the next step": vector(copy=False, autoreset_mode="NextStep"),
        f"{together}, copy=False, max_decisions={room}": vector(copy=False, max_decisions=room),
        native: native_vector(),
        synchronous: environment_speed.synchronous(name, num_envs=count),
    }
    by_clock = {
        f"{what}, threads={threads}": make(threads=threads, clock=time.perf_counter)
        for what, make in {together: vector, native: native_vector}.items()
        for threads in (1, _THREADS)
    }
    measured = _in_turns(run, {**loops, **by_clock})
    for what in loops:
        yield Measurement("environment", name, f"{what}: steps / s", measured[what])
        if what != _CART_POLE:
            yield Measurement("environment", name, f"{what} / {_CART_POLE}", measured[what] / measured[_CART_POLE])
    for other in (single, synchronous):
        yield Measurement("environment", name, f"{together} / {other}", measured[together] / measured[other])
    for what in (together, native):
        ratio = measured[f"{what}, threads={_THREADS}"] / measured[f"{what}, threads=1"]
        yield Measurement("environment", name, f"{what}, {_THREADS} threads / 1", ratio)


def _in_turns(run: Run, loops: Mapping[str, environment_speed.Loop]) -> Mapping[str, Spread]:
    rates = {what: partial(loop, run.seconds) for what, loop in loops.items()}
    return search_speed.in_turns(rates, run.rounds, run.on_step)


def _allocations(run: Run) -> Iterator[Measurement]:
    for name in run.names:
        run.on_step(f"{name}: allocations")
        target, parallelism = run.setting.target, run.setting.parallelism
        problem = load_problem(name, target=target, parallelism=parallelism, details=run.details)
        counted = count_allocations(problem)
        yield Measurement("allocations", name, "per evaluation", Spread((counted.per_evaluation,)))
        yield Measurement("allocations", name, "per rollout", Spread((counted.per_rollout,)))


_PARTS: dict[str, Callable[[Run], Iterable[Measurement]]] = {
    "beam": _beam,
    "growth": _growth,
    "network": _network,
    "allocations": _allocations,
    "search": _search,
    "environment": _environment,
}


@click.command(cls=WritingCommand)
@click.argument("names", metavar="[PIPELINE]...", nargs=-1)
@click.option(
    "--part",
    "parts",
    type=click.Choice(list(_PARTS)),
    multiple=True,
    help="Only this part; repeatable.  [default: all]",
)
@click.option("--runs", "rounds", type=Integer(1), default=5, show_default=True, help="Of each side, in turns.")
@click.option("--beam", type=Integer(1), default=32, show_default=True, help="Width of the compared beam.")
@click.option("--passes", type=Integer(1), default=5, show_default=True, help="Passes of the compared beam.")
@click.option("--seconds", type=SECONDS, default=0.3, show_default=True, help="CPU time for each value of a rate.")
@click.option("--csv", "table", type=OutputFile(), help="File to write the table to.")
@target_option
@click.option("--parallelism", type=Integer(1), default=16, show_default=True, help="Cores to schedule for.")
@pipeline_options
@with_pipeline_help
def speed(
    names: tuple[str, ...],
    parts: tuple[str, ...],
    rounds: int,
    beam: int,
    passes: int,
    seconds: float,
    table: Path | None,
    target: str,
    parallelism: int,
    details: Details,
) -> None:
    """Measure how fast searches and environments are, as ratios to something measured in turn with them.

    Without a PIPELINE, nine of the papers' are measured. The parts: "beam" is a beam search beside Halide's Adams2019
    autoscheduler, CPU time and peak memory, each run in a process of its own, from a pipeline to source code; the better
    of the plugin's settings (with or without its memoization of features) counts. "growth" is the time of an evaluation
    on pipelines of 13, 38, 76 and 104 Funcs. "network" is rows through the network alone, and rows of features alone.
    "allocations" are calls of operator new for an evaluation and for a rollout, exact counts. "search" is random rollouts,
    and simulations of tree search. "environment" is steps of HalideSchedule-v0 and of vectors of environments, those of
    Gymnasium and those below Python, with one and two threads, on three pipelines without a PIPELINE, beside Gymnasium's
    CartPole-v1 and its synchronous vectors; and of generated pipelines from a warm pool beside the same pipelines each
    alone.

    Rates are per second of CPU time of one thread; threads are compared by the clock, so on an idle machine. Rows, rollouts
    and simulations are beside evaluations of a beam of 4 with one pass. The exit status is 1 if a cost or a number of
    evaluations is not the plugin's. After Ctrl-C, what has been measured is shown.
    """
    differences: list[str] = []
    measurements: list[Measurement] = []
    chosen, pipelines = parts or tuple(_PARTS), names or _NAMES
    try:
        with steps_bar(_steps(chosen, len(pipelines), len(names or _ENVIRONMENTS), rounds)) as on_step:
            setting = Setting(target=target, parallelism=parallelism, beam_size=beam, passes=passes)
            run = Run(pipelines, names or _ENVIRONMENTS, setting, details, rounds, seconds, on_step, differences.append)
            for part in chosen:
                for measurement in _PARTS[part](run):
                    measurements.append(measurement)
    finally:
        if measurements:
            _report(measurements, differences, table)
    if differences:
        raise SystemExit(1)


def _report(measurements: Sequence[Measurement], differences: Sequence[str], table: Path | None) -> None:
    console = output_console()
    console.print(_table(measurements))
    if table:
        write_table(table, _COLUMNS, [measurement.cells for measurement in measurements])
    for difference in differences:
        console.print(f"DIFFERENT. {difference}", markup=False, style="red")


def _steps(parts: Sequence[str], pipelines: int, environments: int, rounds: int) -> int:
    steps = {
        "beam": len(SIDES) * rounds * pipelines,
        "growth": len(search_speed.GROWTH) * rounds,
        "network": 3 * rounds * pipelines,
        "allocations": pipelines,
        "search": 3 * rounds * pipelines,
        "environment": (11 * environments + 2) * rounds,
    }
    return sum(steps[part] for part in parts)


def _table(measurements: Sequence[Measurement]) -> Table:
    table = Table(
        *name_columns("part", "pipeline", "quantity"), *number_columns("median", "least", "greatest"),
        box=None, pad_edge=False,
    )  # fmt: skip
    for measurement in measurements:
        table.add_row(*map(escape, measurement.cells))
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
