"""Only legal actions are taken, looked ahead to, and learned from."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.native._core import InvalidParameter
from halidegym.training.adapters.sb3 import ScheduleVecEnv
from halidegym.training.adapters.sb3_q_policy import PointerQPolicy
from halidegym.training.dqn.masked_dqn import MaskedDQN
from halidegym.training.networks import PolicyNetwork, policy_file
from trainings_for_tests import toys

NETWORK = NetworkConfig(width=16, rounds=1)


def model(envs: ScheduleVecEnv, **arguments: Any) -> MaskedDQN:
    defaults: dict[str, Any] = {
        "learning_starts": 8, "batch_size": 8, "train_freq": 1, "gradient_steps": 1, "buffer_size": 200, "seed": 0,
        "target_update_interval": 16, "device": "cpu", "policy_kwargs": {"network": NETWORK},
    }  # fmt: skip
    return MaskedDQN(PointerQPolicy, envs, **{**defaults, **arguments})


def test_random_and_best_actions_are_legal() -> None:
    envs = toys(4)
    dqn = model(envs, exploration_initial_eps=1.0, exploration_final_eps=1.0)
    observations = envs.reset()
    taken = set()
    for rate in (0.0, 1.0):
        dqn.exploration_rate = rate
        for _ in range(100):
            actions, _ = dqn.predict(observations)
            assert (np.take_along_axis(observations["action_mask"], actions[:, None], 1) == 1).all()
            taken |= {(rate, int(action)) for action in actions}
            if rate:
                observations, *_ = envs.step(actions)
    assert len([action for rate, action in taken if rate == 1.0]) > 10
    dqn.learn(40)
    assert not any(info.get("illegal_action") for info in envs.reset_infos)


def test_a_training_that_diverges_says_so() -> None:
    dqn = model(toys(), learning_rate=1e35, max_grad_norm=1e35)
    with pytest.raises(InvalidParameter, match=r"diverged: the loss is not finite\. Train anew, with a lower"):
        dqn.learn(60)


def test_targets_look_at_what_the_network_likes_and_the_target_network_values() -> None:
    envs = toys(4)
    dqn = model(envs, n_steps=1)
    dqn.learn(120)
    with torch.no_grad():
        for parameter in dqn.q_net_target.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    np.random.seed(0)  # noqa: NPY002
    steps = dqn.replay_buffer.sample(32)
    assert steps.later is not None
    targets = dqn._targets(steps)
    with torch.no_grad():
        ours, theirs = (net.of_decisions(*steps.later[:3]) for net in (dqn.q_net, dqn.q_net_target))
    expected = steps.rewards.clone()
    for row, index in enumerate(steps.goes_on.tolist()):
        first, end = steps.later.offsets[row : row + 2].tolist()
        expected[index] += theirs[first + int(ours[first:end].argmax())]
    torch.testing.assert_close(targets, expected)
    assert not torch.allclose(targets, steps.rewards)
    over = np.setdiff1d(np.arange(32), steps.goes_on.numpy())
    torch.testing.assert_close(targets[over], steps.rewards[over])


def test_only_the_blind_head_learns_and_the_target_network_follows() -> None:
    envs = toys()
    dqn = model(envs, target_update_interval=10**6)
    before = {name: value.clone() for name, value in dqn.q_net.state_dict().items()}
    dqn.learn(60)
    changed = [name for name, value in dqn.q_net.state_dict().items() if not torch.equal(value, before[name])]
    assert any("blind" in name for name in changed) and not any("child" in name or "value" in name for name in changed)
    assert all(torch.equal(value, before[name]) for name, value in dqn.q_net_target.state_dict().items())
    followed = model(envs, target_update_interval=2)
    followed.learn(60)
    assert any(
        not torch.equal(value, before[name])
        for name, value in followed.q_net_target.state_dict().items()
        if "blind" in name
    )


def test_a_policy_to_begin_with_is_scaled() -> None:
    envs = toys()
    torch.manual_seed(5)
    start = policy_file(PolicyNetwork(NETWORK))
    ours, plain = model(envs), model(envs)
    ours.policy.start_from(start, temperature=0.25)
    plain.policy.start_from(start, temperature=1.0)
    observations = ours.policy.obs_to_tensor(envs.reset())[0]
    with torch.no_grad():
        legal = observations["action_mask"] > 0
        torch.testing.assert_close(ours.q_net(observations)[legal], 0.25 * plain.q_net(observations)[legal])
        torch.testing.assert_close(ours.q_net_target(observations), ours.q_net(observations))
    with pytest.raises(InvalidParameter, match="The policy's network is"):
        ours.policy.start_from(policy_file(PolicyNetwork()), temperature=1.0)


def test_it_is_saved_by_the_library(tmp_path: Path) -> None:
    envs = toys()
    dqn = model(envs)
    dqn.learn(40)
    dqn.save(tmp_path / "dqn.zip")
    observations = envs.reset()
    loaded = MaskedDQN.load(tmp_path / "dqn.zip", device="cpu")
    expected, _ = dqn.predict(observations, deterministic=True)
    assert np.array_equal(loaded.predict(observations, deterministic=True)[0], expected)


def test_decisions_without_an_alternative_are_learned_where_the_environments_leave_them_to_the_policy() -> None:
    envs = toys(skip_forced=False)
    dqn = model(envs)
    dqn.learn(120)
    steps = dqn.replay_buffer.sample(64)
    num_shown = steps.now.offsets.diff()
    assert (num_shown == 1).any()
    assert ((steps.taken >= steps.now.offsets[:-1]) & (steps.taken < steps.now.offsets[1:])).all()


def test_what_was_played_is_saved_and_gone_on_with(tmp_path: Path) -> None:
    """Also where the rules of the space are not the usual ones."""
    envs = toys(subtiling=False)
    dqn = model(envs)
    dqn.learn(80)
    dqn.save_replay_buffer(tmp_path / "played.pkl")
    loaded = model(toys(subtiling=False))
    loaded.load_replay_buffer(tmp_path / "played.pkl")
    batches = []
    for each in (dqn, loaded):
        np.random.seed(0)  # noqa: NPY002
        steps = each.replay_buffer.sample(32)
        batches.append((steps.now.decisions.descriptors, steps.taken, steps.rewards))
    assert loaded.replay_buffer.size() == dqn.replay_buffer.size() > 0
    torch.testing.assert_close(batches[0], batches[1])
    loaded.learn(40)
    assert loaded.replay_buffer.size() > dqn.replay_buffer.size()


def test_another_kind_of_buffer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.pkl"
    path.write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(InvalidParameter, match="give a EpisodeBuffer"):
        model(toys()).load_replay_buffer(path)


def test_other_observations_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="PointerQPolicy reads observations of HalideSchedule-v0"):
        MaskedDQN(PointerQPolicy, "CartPole-v1")


@pytest.mark.parametrize("network", [{"width": 32}, {}])
def test_other_networks_are_refused(network: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter, match=r"network=.* is a dict; give a NetworkConfig"):
        model(toys(), policy_kwargs={"network": network})


def test_policies_without_masks_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"policy='MultiInputPolicy' .* give PointerQPolicy"):
        MaskedDQN("MultiInputPolicy", toys())  # type: ignore[arg-type]
