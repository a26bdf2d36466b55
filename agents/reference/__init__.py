"""The autoschedulers of the `halide` package as agents: the baselines, and the oracle that parity is held against."""

from halidegym.agents.reference.autoschedulers import Adams2019, Li2018, Mullapudi2016, Reference, ReferenceResult
from halidegym.agents.reference.process import AutoschedulerFailed

__all__ = ["Adams2019", "AutoschedulerFailed", "Li2018", "Mullapudi2016", "Reference", "ReferenceResult"]
