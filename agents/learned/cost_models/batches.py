"""Measured schedules of any pipelines as tensors, a row a stage."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from halidegym.agents.learned.cost_models.terms import cost_terms
from halidegym.envs.timing.measured_schedule import MeasuredSchedule


@dataclass(frozen=True)
class Batch:
    """N schedules with R stages in all, U of them with different algorithm features, in G groups.

    The schedules of a group are of one pipeline and ran on the same number of threads, so their times can be compared.

    Attributes:
        algorithm_features: [U, 280], types by operations.
        algorithm: [R], which of these a stage has.
        log_features: [R, 39], logarithms of 1 + the schedule features.
        terms: [R, 32], see `cost_terms`.
        schedule: [R], that a stage belongs to.
        times: [N], milliseconds.
        fastest: [N], the shortest time of a schedule's group.
        group: [N].
        num_groups: G.
    """

    algorithm_features: Tensor
    algorithm: Tensor
    log_features: Tensor
    terms: Tensor
    schedule: Tensor
    times: Tensor
    fastest: Tensor
    group: Tensor
    num_groups: int

    def __len__(self) -> int:
        return len(self.times)

    def to(self, device: torch.device) -> Batch:
        """The batch on a device."""
        tensors: dict[str, Any] = {
            name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)
        }
        return dataclasses.replace(self, **tensors)

    @classmethod
    def of(cls, schedules: Sequence[MeasuredSchedule], dtype: torch.dtype = torch.float32) -> Batch:
        """Collect schedules, at least one."""
        different = dict[bytes, int]()  # by the algorithm features of all stages of a pipeline: where its rows begin
        algorithm_rows, algorithm = list[NDArray[np.float32]](), list[NDArray[np.int64]]()
        num_rows = 0
        for measured in schedules:
            key, num = measured.pipeline_features.tobytes(), len(measured.pipeline_features)
            if key not in different:
                different[key] = num_rows
                algorithm_rows.append(measured.pipeline_features.reshape(num, -1).astype(np.float32))
                num_rows += num
            algorithm.append(different[key] + np.arange(num))
        stages = [len(measured.schedule_features) for measured in schedules]
        # The reference rounds features before it computes with them (docs/specification/search-and-cost-model.md, quirk C6).
        features = np.concatenate([measured.schedule_features for measured in schedules]).astype(np.float32)
        is_first = np.zeros(len(features), np.bool_)
        is_first[np.cumsum([0, *stages[:-1]])] = True
        parallelism = np.repeat([float(measured.parallelism) for measured in schedules], stages)
        groups = {key: index for index, key in enumerate(dict.fromkeys(map(group_key, schedules)))}
        group = np.array([groups[group_key(measured)] for measured in schedules])
        times = 1e3 * np.array([measured.run_time_s for measured in schedules])
        fastest = np.full(len(groups), np.inf)
        np.minimum.at(fastest, group, times)

        def tensor(array: NDArray[np.float64] | NDArray[np.float32]) -> Tensor:
            # A copy, whose place in memory is aligned alike each time, and rounding the same.
            return torch.tensor(array, dtype=dtype)

        return cls(
            algorithm_features=tensor(np.concatenate(algorithm_rows)),
            algorithm=torch.from_numpy(np.concatenate(algorithm)),
            log_features=tensor(np.log1p(features.astype(np.float64))),
            terms=tensor(cost_terms(features.astype(np.float64), is_first, parallelism)),
            schedule=torch.from_numpy(np.repeat(np.arange(len(schedules)), stages)),
            times=tensor(times),
            fastest=tensor(fastest[group]),
            group=torch.from_numpy(group),
            num_groups=len(groups),
        )


def group_key(measured: MeasuredSchedule) -> tuple[str, int]:
    """What schedules have in common whose times can be compared."""
    return measured.pipeline, measured.threads


def chunks(schedules: Sequence[MeasuredSchedule], groups: int, random: np.random.Generator) -> list[Batch]:
    """Batches of so many groups, in random order, that together hold all schedules."""
    members = dict[tuple[str, int], list[MeasuredSchedule]]()
    for measured in schedules:
        members.setdefault(group_key(measured), []).append(measured)
    order = [list(members.values())[index] for index in random.permutation(len(members))]
    return [
        Batch.of([measured for group in order[first : first + groups] for measured in group])
        for first in range(0, len(order), groups)
    ]
