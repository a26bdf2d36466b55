"""Every way to draw complete schedules: to measure them, to learn from them, and to choose among them."""

from halidegym.agents.proposals.beams import beam_winners
from halidegym.agents.proposals.descents import careless_descents, dropout_descents, random_walks
from halidegym.agents.proposals.groups import grouped_descents
from halidegym.agents.proposals.neighbours import neighbours
from halidegym.agents.proposals.proposal import Proposal, distinct, in_turn, proposal_of

__all__ = [
    "Proposal",
    "beam_winners",
    "careless_descents",
    "distinct",
    "dropout_descents",
    "grouped_descents",
    "in_turn",
    "neighbours",
    "proposal_of",
    "random_walks",
]
