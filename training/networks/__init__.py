"""The network of policies in torch, which only training needs: agents run the same weights in C++."""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "Training needs torch, which is not installed: pip install halidegym[train]", name="torch"
    ) from error

from halidegym.training.networks.batches import Decisions, Problems, Rows, StateAt, States, join, join_problems
from halidegym.training.networks.export import network_from, policy_file
from halidegym.training.networks.network import Encoded, PolicyNetwork
from halidegym.training.networks.segments import segment_log_softmax, segment_mean, segment_softmax

__all__ = [
    "Decisions",
    "Encoded",
    "PolicyNetwork",
    "Problems",
    "Rows",
    "StateAt",
    "States",
    "join",
    "join_problems",
    "network_from",
    "policy_file",
    "segment_log_softmax",
    "segment_mean",
    "segment_softmax",
]
