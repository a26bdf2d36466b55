"""Planners and learned policies behind one `Agent` interface."""

from halidegym.agents import reference
from halidegym.agents.agent import Agent
from halidegym.agents.beam import BeamSearch
from halidegym.agents.exhaustive import ExhaustiveSearch
from halidegym.agents.greedy import Greedy
from halidegym.agents.iterated import IteratedSearch
from halidegym.agents.mb2fbs import MB2FBS
from halidegym.agents.mcts import MCTS
from halidegym.agents.plan import Candidate, Improvement, Plan, Rules
from halidegym.agents.random_search import RandomSearch
from halidegym.agents.tag import TAG
from halidegym.agents.uct import UCT

__all__ = [
    "MB2FBS",
    "MCTS",
    "TAG",
    "UCT",
    "Agent",
    "BeamSearch",
    "Candidate",
    "ExhaustiveSearch",
    "Greedy",
    "Improvement",
    "IteratedSearch",
    "Plan",
    "RandomSearch",
    "Rules",
    "reference",
]
