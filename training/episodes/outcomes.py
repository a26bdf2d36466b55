"""What the episodes of a rollout came to."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback


class Outcomes(BaseCallback):
    """Watches the ends of the episodes of one rollout.

    Args:
        on_step: called after each step of the environments, with a text.
    """

    def __init__(self, on_step: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = on_step
        self._rewards: list[float] = []
        self._of_greedy: dict[str, list[float]] = {"cost": [], "run_time": []}

    def figures(self) -> dict[str, float]:
        """Means; those of ratios to greedy search's cost or run time are geometric, and without dead ends."""
        figures = {"episodes": float(len(self._rewards))}
        if self._rewards:
            figures |= {"reward/mean": statistics.fmean(self._rewards), "reward/best": max(self._rewards)}
        for name, logs in self._of_greedy.items():
            if logs:
                figures |= {
                    f"{name}/of_greedy": math.exp(statistics.fmean(logs)),
                    f"{name}/best_of_greedy": math.exp(min(logs)),
                }
        return figures

    def _on_step(self) -> bool:
        for index in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][index]
            self._rewards.append(float(self.locals["rewards"][index]))
            for name, key in (("cost", "speedup"), ("run_time", "measured_speedup")):
                if key in info:
                    self._of_greedy[name].append(-math.log(info[key]))
        self._tell(f"Learning, {self.num_timesteps:,} steps")
        return True
