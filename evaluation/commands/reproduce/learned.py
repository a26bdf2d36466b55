"""`halidegym reproduce learned`."""

from __future__ import annotations

import itertools
from pathlib import Path

import click

from halidegym.envs.pipelines.generated import SUITES
from halidegym.evaluation.arguments.options import Integer
from halidegym.evaluation.arguments.paths import OutputFolder
from halidegym.evaluation.arguments.pipeline import check_name
from halidegym.evaluation.output.console import output_console
from halidegym.evaluation.output.pages import write_table
from halidegym.evaluation.output.progress import steps_bar
from halidegym.evaluation.papers.learned_agents import (
    BEAM,
    GREEDY,
    append_runs,
    compare,
    learned,
    read_runs,
    searches,
    together,
)
from halidegym.evaluation.papers.learned_report import (
    HEADER,
    PAIRS_HEADER,
    by_pipeline,
    by_policy,
    cells,
    pairs,
    summarize,
    table,
)
from halidegym.evaluation.papers.mb2fbs import PAPER


@click.command("learned")
@click.argument("pipelines", metavar="[PIPELINE]...", nargs=-1)
@click.option("--policy", "policies", multiple=True, default=("default",), show_default=True,
              help="Name of a policy of the package, or the path of its file; repeatable, one a training seed. Several also "
              "draw together, one by lot for each schedule.")  # fmt: skip
@click.option("--agent", "agents", multiple=True, help="Only agents whose name contains this; repeatable.")
@click.option("--generated", type=Integer(0), default=0, show_default=True,
              help="So many generated pipelines instead of the papers'.")  # fmt: skip
@click.option("--suite", type=click.Choice([suite for suite, split in SUITES.items() if split != "train"]),
              default="random-validation-v1", show_default=True, help="Of the generated pipelines.")  # fmt: skip
@click.option("--seeds", type=Integer(1), default=5, show_default=True, help="Runs of each agent.")
@click.option("--output", type=OutputFolder(), required=True,
              help="Folder of the runs, which are not made again, and of the tables.")  # fmt: skip
def learned_command(
    pipelines: tuple[str, ...],
    policies: tuple[str, ...],
    agents: tuple[str, ...],
    generated: int,
    suite: str,
    seeds: int,
    output: Path,
) -> None:
    """Compare learned policies with search, at equal evaluations and at equal time.

    By default on the fifteen pipelines of the papers, scheduled for 16 cores; none of them is used in training. Files:
    learned-runs.tsv has every run; learned.csv, learned-pairs.csv, learned-pipelines.csv and learned-policies.csv the tables
    made of them.
    """
    if pipelines and generated:
        raise click.UsageError("Give PIPELINEs or --generated, not both.")
    for pipeline in pipelines:
        check_name(pipeline)
    chosen = pipelines or (tuple(f"{suite}/{i}" for i in range(generated)) if generated else tuple(PAPER))
    fields = [searches(), *(learned(policy) for policy in policies)]
    if len(policies) > 1:
        fields.append(together(policies))
    names = list(dict.fromkeys(itertools.chain(*fields)))
    for part in agents:
        if not any(part in name for name in names):
            raise click.UsageError(f"--agent {part!r} is in no agent's name; give a part of one of {'; '.join(names)}.")
    beam = {BEAM: fields[0][BEAM]}
    wanted = [
        beam
        | {
            name: entrant
            for name, entrant in field.items()
            if not agents or name == GREEDY or any(part in name for part in agents)
        }
        for field in fields
    ]
    path = output / "learned-runs.tsv"
    with steps_bar(len(chosen) * sum(len(field) for field in wanted)) as on_step:
        for pipeline, field in itertools.product(chosen, wanted):
            known = read_runs(path)
            for _ in append_runs(path, compare([pipeline], field, seeds=range(seeds), known=known, on_step=on_step)):
                pass
    runs = [run for run in read_runs(path) if run.pipeline in chosen]
    summaries = summarize(runs)
    write_table(output / "learned.csv", HEADER, [cells(summary) for summary in summaries])
    write_table(output / "learned-pipelines.csv", *by_pipeline(runs))
    write_table(output / "learned-policies.csv", *by_policy(runs))
    write_table(output / "learned-pairs.csv", PAIRS_HEADER, pairs(runs))
    output_console().print(table(summaries))
