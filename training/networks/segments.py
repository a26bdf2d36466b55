"""Reductions over parts of different lengths that lie in one tensor: row i belongs to part `segment[i]`."""

from __future__ import annotations

import torch
from torch import Tensor


def segment_sum(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """The sum of each of `count` parts; 0 where a part is empty."""
    return values.new_zeros((count, *values.shape[1:])).index_add(0, segment, values)


def segment_mean(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """The mean of each of `count` parts; 0 where a part is empty."""
    sizes = torch.bincount(segment, minlength=count).clamp(min=1).to(values.dtype)
    return segment_sum(values, segment, count) / sizes.reshape(-1, *[1] * (values.dim() - 1))


def segment_max(values: Tensor, segment: Tensor, count: int) -> Tensor:
    """The maximum of each of `count` parts, by column; -inf where a part is empty."""
    index = segment.reshape(-1, *[1] * (values.dim() - 1)).expand_as(values)
    return values.new_full((count, *values.shape[1:]), -torch.inf).scatter_reduce(0, index, values, "amax")


def segment_log_softmax(logits: Tensor, segment: Tensor, count: int) -> Tensor:
    """The logarithms of the probabilities within each of `count` parts."""
    shifted = logits - segment_max(logits.detach(), segment, count)[segment]
    return shifted - segment_sum(shifted.exp(), segment, count).log()[segment]


def segment_softmax(logits: Tensor, segment: Tensor, count: int) -> Tensor:
    """The probabilities within each of `count` parts."""
    return segment_log_softmax(logits, segment, count).exp()
