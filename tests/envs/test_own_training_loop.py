"""A training loop in plain torch, as an outsider writes it: masked PPO on the public vector environment alone."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

import halidegym  # noqa: F401 - registers the environments

COUNT, STEPS, DECISIONS = 8, 16, 64


class Network(nn.Module):
    """Scores each decision by its descriptor and the state's features; and the state."""

    def __init__(self, columns: int, features: int) -> None:
        super().__init__()
        self.state = nn.Sequential(nn.Linear(features, 32), nn.Tanh())
        self.score = nn.Sequential(nn.Linear(columns + 32, 32), nn.Tanh(), nn.Linear(32, 1))
        self.value = nn.Linear(32, 1)

    def forward(self, observations: dict[str, torch.Tensor]) -> tuple[torch.distributions.Categorical, torch.Tensor]:
        state = self.state(observations["schedule_features"])
        decisions = observations["decisions"].unflatten(1, (DECISIONS, -1))
        joined = torch.cat([decisions, state[:, None].expand(-1, DECISIONS, -1)], 2)
        logits = self.score(joined).squeeze(2).masked_fill(observations["action_mask"] == 0, -1e9)
        return torch.distributions.Categorical(logits=logits), self.value(state).squeeze(1)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_masked_ppo_trains(mode: str) -> None:
    torch.manual_seed(0)
    envs = gym.make_vec(
        "HalideSchedule-v0", COUNT, pipeline="toy_diamond", parallelism=16, max_decisions=DECISIONS, autoreset_mode=mode
    )
    spaces = envs.single_observation_space
    network = Network(spaces["decisions"].shape[0] // DECISIONS, spaces["schedule_features"].shape[0])
    before = [parameter.clone() for parameter in network.parameters()]
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    observations, _ = envs.reset(seed=0)
    is_reset, returns = np.zeros(COUNT, bool), []
    for _ in range(3):
        rollout = []
        for _ in range(STEPS):
            batch = {key: torch.as_tensor(value) for key, value in observations.items()}
            with torch.no_grad():
                policy, value = network(batch)
                # The observation that ends an episode has no legal action, and its step is ignored.
                action = policy.sample()
            observations, rewards, terminated, truncated, _ = envs.step(action.numpy())
            rollout.append((batch, action, policy.log_prob(action), value, rewards, terminated, ~is_reset))
            is_reset = (terminated | truncated) & (mode == "NextStep")
            returns += rewards[terminated].tolist()
        with torch.no_grad():
            next_value = network({key: torch.as_tensor(value) for key, value in observations.items()})[1].numpy()
        advantages, advantage = [], np.zeros(COUNT)
        for _, _, _, value, rewards, terminated, counts in reversed(rollout):
            advantage = rewards + ~terminated * (next_value + 0.95 * advantage) - value.numpy()
            advantage, next_value = advantage * counts, value.numpy()
            advantages.insert(0, advantage)
        rows = torch.as_tensor(np.concatenate([counts for *_, counts in rollout]))
        batch = {key: torch.cat([step[0][key] for step in rollout])[rows] for key in observations}
        action, log_prob, value = (torch.cat([step[k] for step in rollout])[rows] for k in (1, 2, 3))
        gain = torch.as_tensor(np.concatenate(advantages), dtype=torch.float32)[rows]
        for _ in range(4):
            policy, estimate = network(batch)
            ratio = (policy.log_prob(action) - log_prob).exp()
            gains = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
            loss = -gains.mean() + (estimate - value - gain).square().mean() - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert torch.isfinite(loss)
    assert len(returns) > 10 and np.isfinite(returns).all()
    assert any(not torch.equal(old, new) for old, new in zip(before, network.parameters(), strict=True))
