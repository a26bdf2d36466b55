"""`halidegym reproduce`: tables and figures of the papers, run again; one file an experiment."""

from __future__ import annotations

import click

from halidegym.evaluation.commands.reproduce.cost_model_beams import cost_model_beams
from halidegym.evaluation.commands.reproduce.guided import guided
from halidegym.evaluation.commands.reproduce.learned import learned_command
from halidegym.evaluation.commands.reproduce.mb2fbs_synthetic import mb2fbs_synthetic
from halidegym.evaluation.commands.reproduce.mb2fbs_tables import mb2fbs_tables
from halidegym.evaluation.commands.reproduce.measured_candidates import measured_candidates
from halidegym.evaluation.commands.reproduce.protuner_figures_4_5 import protuner_figures_4_5
from halidegym.evaluation.commands.reproduce.tag_library import tag_library_command
from halidegym.evaluation.commands.reproduce.tuning import tuning


@click.group()
def reproduce() -> None:
    """Run experiments of the papers again, and show the results beside the printed ones.

    Others are suites of `halidegym bench`: papers, learned, equal-time, equal-time-longer, protuner-figure7.
    """


for command in (
    mb2fbs_tables,
    mb2fbs_synthetic,
    measured_candidates,
    cost_model_beams,
    protuner_figures_4_5,
    learned_command,
    guided,
    tag_library_command,
    tuning,
):
    reproduce.add_command(command)
