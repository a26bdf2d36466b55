"""The environments that settings ask for."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from halidegym.envs.registration import HALIDE_SCHEDULE, HALIDE_SCHEDULE_HARDWARE, HALIDE_SCHEDULE_REPLAY
from halidegym.training.adapters.sb3 import ScheduleVecEnv
from halidegym.training.episodes.settings import EpisodeSettings

_IDS = {
    "cost": HALIDE_SCHEDULE,
    "measured": HALIDE_SCHEDULE_HARDWARE,
    "replayed": HALIDE_SCHEDULE_REPLAY,
}


def make_environments(settings: EpisodeSettings, group_size: int = 1) -> ScheduleVecEnv:
    """A vector of them, neighbours of which may share the pipeline of each episode.

    Raises:
        Error: a pipeline cannot be analysed, or a setting does not fit the pipelines; see the environments.
    """
    arguments: dict[str, Any] = {
        "autoreset_mode": "SameStep",
        "threads": min(settings.num_threads, settings.num_envs),
        "group_size": group_size,
        "pipeline": settings.pipelines,
        "pool": settings.pool,
        "target": settings.target,
        "parallelism": settings.parallelism,
        "max_decisions": settings.max_decisions,
        "weights": settings.weights,
    }
    if settings.reward != "cost":
        arguments["database"] = settings.database
    return ScheduleVecEnv(gym.make_vec(_IDS[settings.reward], num_envs=settings.num_envs, **arguments))
