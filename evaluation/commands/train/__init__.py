"""`halidegym train`: from generated pipelines to policies, from run times to cost models; one file a recipe."""

from __future__ import annotations

import click

from halidegym.evaluation.commands.train.aggrevate import aggrevate
from halidegym.evaluation.commands.train.cost_model import cost_model
from halidegym.evaluation.commands.train.data import data
from halidegym.evaluation.commands.train.dqn import dqn
from halidegym.evaluation.commands.train.expert import expert
from halidegym.evaluation.commands.train.imitate import imitate
from halidegym.evaluation.commands.train.ppo import ppo


@click.group()
def train() -> None:
    """Train policies that schedule pipelines they have not seen, and cost models that know this machine.

    Needs the extra: pip install 'halidegym[train]'.
    """


for command in (data, imitate, expert, aggrevate, ppo, dqn, cost_model):
    train.add_command(command)
