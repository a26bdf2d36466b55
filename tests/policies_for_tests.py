"""Policies that have learned nothing."""

from __future__ import annotations

from pathlib import Path


def untrained_policy(folder: Path, seed: int) -> Path:
    """The file of a network as it is before any training."""
    import torch

    from halidegym.training.networks.export import policy_file
    from halidegym.training.networks.network import PolicyNetwork

    torch.manual_seed(seed)
    path = folder / "untrained.npz"
    policy_file(PolicyNetwork()).save(path)
    return path
