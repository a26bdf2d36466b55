"""Weights of the network as a policy's file holds them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from halidegym.agents.learned.policy_file import PolicyFile
from halidegym.native._core import FormatError
from halidegym.native.checks import check_given
from halidegym.training.networks.network import PolicyNetwork


def policy_file(network: PolicyNetwork, training: Mapping[str, Any] | None = None) -> PolicyFile:
    """The network's weights and how they came about.

    Raises:
        InvalidParameter: some are not finite, or the network is none, but a policy around it, say.
    """
    check_given(PolicyNetwork, network=network)
    arrays = {
        name: tensor.detach().cpu().numpy().astype(np.float32, copy=True)
        for name, tensor in network.state_dict().items()
    }
    return PolicyFile(network.config, arrays, training or {})


def network_from(file: PolicyFile) -> PolicyNetwork:
    """The network with a file's weights.

    Raises:
        FormatError: weights are missing, or of other shapes.
    """
    network = PolicyNetwork(file.config)
    try:
        network.load_state_dict({name: torch.tensor(array) for name, array in file.arrays.items()})
    except RuntimeError as error:
        raise FormatError(f"The weights of a policy do not fit its network: {error}") from error
    return network
