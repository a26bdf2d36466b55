"""Planners and learned policies behind one `Agent` interface."""

from halidegym.agents import reference
from halidegym.agents.agent import Agent
from halidegym.agents.iterated import IteratedSearch
from halidegym.agents.language_model import LanguageModelAgent
from halidegym.agents.learned.guided_mcts import PolicyGuidedMCTS
from halidegym.agents.learned.guided_replay import GuidedReplay
from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.learned.sgbs import SGBS
from halidegym.agents.plan import Candidate, Improvement, Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.dynamic_programming import DynamicProgramming
from halidegym.agents.planners.exhaustive import ExhaustiveSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.mb2fbs import MB2FBS
from halidegym.agents.planners.mcts import MCTS
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.agents.planners.soft_sampling import SoftSampling
from halidegym.agents.planners.tag import TAG
from halidegym.agents.planners.uct import UCT
from halidegym.agents.tuner.autotune import Autotune
from halidegym.agents.tuner.plan import TunedPlan
from halidegym.envs.problems.rules import Rules

__all__ = [
    "MB2FBS",
    "MCTS",
    "SGBS",
    "TAG",
    "UCT",
    "Agent",
    "Autotune",
    "BeamSearch",
    "Candidate",
    "DynamicProgramming",
    "ExhaustiveSearch",
    "Greedy",
    "GuidedReplay",
    "Improvement",
    "IteratedSearch",
    "LanguageModelAgent",
    "Plan",
    "PolicyAgent",
    "PolicyGuidedMCTS",
    "RandomSearch",
    "Rules",
    "SoftSampling",
    "TunedPlan",
    "reference",
]
