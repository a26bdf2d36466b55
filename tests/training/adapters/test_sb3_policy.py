"""The network on observations of environments: it sees what it sees without them, however large the room is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.wrappers import DelayObservation, FilterObservation, FrameStackObservation
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

from halidegym.agents.learned.network_config import NetworkConfig
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.native import _core
from halidegym.native._core import InvalidParameter, State
from halidegym.training.adapters.sb3_policy import PointerPolicy
from halidegym.training.adapters.sb3_q_policy import PointerQPolicy
from halidegym.training.networks import PolicyNetwork, network_from, policy_file

ROOM = {"max_stages": 40, "max_edges": 60, "max_loops": 11}


def make(pipeline: str, **arguments: Any) -> HalideSchedule:
    arguments = {"target": "x86-64-linux-avx512", "parallelism": 16, "max_decisions": 256} | arguments
    env = gym.make("HalideSchedule-v0", pipeline=pipeline, **arguments).unwrapped
    assert isinstance(env, HalideSchedule)
    return env


def random_network(config: NetworkConfig | None = None) -> PolicyNetwork:
    torch.manual_seed(3)
    return PolicyNetwork(config)


def policy_of(env: HalideSchedule, network: PolicyNetwork, **arguments: Any) -> PointerPolicy:
    policy = PointerPolicy(env.observation_space, env.action_space, lambda _: 1e-3, network=network.config, **arguments)
    policy.start_from(policy_file(network))
    return policy


def episode(env: HalideSchedule, seed: int) -> Iterator[tuple[dict[str, Any], State]]:
    """Observations of random steps, and their states."""
    observation, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    over = False
    while not over:
        yield {key: value.copy() for key, value in observation.items()}, env.state
        observation, _, over, _, info = env.step(env.action_space.sample(mask=info["action_mask"]))


def outputs(policy: PointerPolicy, observations: list[dict[str, Any]]) -> tuple[torch.Tensor, torch.Tensor]:
    batch = {key: np.stack([observation[key] for observation in observations]) for key in observations[0]}
    tensors = policy.obs_to_tensor(batch)[0]
    with torch.no_grad():
        return policy.logits(tensors), policy.predict_values(tensors).squeeze(1)


@pytest.mark.parametrize("reads_children", [False, True], ids=["blind", "child-reading"])
@pytest.mark.parametrize("pipeline", ["toy_stencils", "toy_scan", "harris"])
def test_observations_give_the_logits_of_their_states(pipeline: str, reads_children: bool) -> None:
    env = make(pipeline, max_decisions=4096, child_features=reads_children)
    network = random_network(NetworkConfig(loops=3))
    weights = policy_file(network).arrays
    prepared = env.prepared_problem
    native = _core.Policy(_core.PolicyNetwork(weights, loops=3), prepared.initial_state.space)
    observations, states = zip(*episode(env, 1), strict=True)
    logits, values = outputs(policy_of(env, network, reads_children=reads_children), list(observations))
    rate = native.child_logits if reads_children else native.blind_logits
    for observation, state, ours, value in zip(observations, states, logits, values, strict=True):
        legal = observation["action_mask"] > 0
        assert legal.sum() == len(state.expand())
        np.testing.assert_allclose(ours[legal], rate(state.expand()), rtol=1e-4, atol=1e-4)
        assert (ours[~legal] < -1e7).all()
        cost = state.cost() if observation["scheduled"].any() else 0.0
        expected = -native.value(state, cost / prepared.reference_cost)
        np.testing.assert_allclose(value, expected, rtol=1e-3, atol=1e-3)


def test_a_larger_room_changes_no_decision() -> None:
    network = random_network()
    small, large = make("harris"), make("harris", **ROOM)
    ours = [observation for observation, _ in episode(small, 2)]
    same = [observation for observation, _ in episode(large, 2)]
    logits, values = outputs(policy_of(small, network), ours)
    in_large, values_in_large = outputs(policy_of(large, network), same)
    torch.testing.assert_close(logits, in_large)
    torch.testing.assert_close(values, values_in_large)
    assert torch.equal(logits.argmax(1), in_large.argmax(1))


def test_pipelines_of_a_batch_do_not_see_each_other() -> None:
    envs = [make(name, **ROOM) for name in ("harris", "toy_diamond", "toy_mat_mul")]
    observations = [observation for env in envs for observation, _ in episode(env, 0)]
    order = np.random.default_rng(0).permutation(len(observations))
    policy = policy_of(envs[0], random_network())
    logits, values = outputs(policy, [observations[i] for i in order])
    for i, ours, value in zip(order, logits, values, strict=True):
        (alone,), (value_alone,) = outputs(policy, [observations[i]])
        torch.testing.assert_close(ours, alone)
        torch.testing.assert_close(value, value_alone)


def test_maskable_ppo_trains_and_saves(tmp_path: Path) -> None:
    env = make("toy_stencils", max_decisions=64)
    model = MaskablePPO(PointerPolicy, env, n_steps=16, batch_size=8, n_epochs=1, seed=0, device="cpu")
    before = {name: value.clone() for name, value in model.policy.network.state_dict().items()}
    model.learn(32)
    changed = [
        name for name, value in model.policy.network.state_dict().items() if not torch.equal(value, before[name])
    ]
    assert any(name.startswith("blind") for name in changed)
    assert any(name.startswith("value") for name in changed)
    assert not any(name.startswith("child_reading") for name in changed)
    observation, info = env.reset(seed=1)
    action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
    assert info["action_mask"][action]
    unmasked, _ = model.predict(observation, deterministic=True)
    assert unmasked == action
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip", device="cpu")
    assert again.predict(observation, deterministic=True)[0] == action
    network_from(policy_file(model.policy.network, {"steps": 32}))


@pytest.mark.parametrize("algorithm", [PPO, A2C])
def test_algorithms_without_masks_take_legal_actions(algorithm: type[OnPolicyAlgorithm], tmp_path: Path) -> None:
    """Observations tell which are legal."""
    env = RecordedActions(make("toy_stencils", max_decisions=64))
    model = algorithm(PointerPolicy, env, n_steps=64, seed=0, device="cpu")
    model.learn(64)
    assert env.were_legal and all(env.were_legal)
    observation, _ = env.reset(seed=1)
    action, _ = model.predict(observation, deterministic=True)
    model.save(tmp_path / "model.zip")
    again = algorithm.load(tmp_path / "model.zip", device="cpu")
    assert again.predict(observation, deterministic=True)[0] == action


class RecordedActions(gym.Wrapper[Any, Any, Any, Any]):
    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.were_legal: list[bool] = []

    def step(self, action: Any) -> Any:
        result = super().step(action)
        self.were_legal.append(not result[4]["illegal_action"])
        return result


def test_many_actions_pass_the_validation_of_probabilities() -> None:
    env = make("harris", max_decisions=1024)
    policy = policy_of(env, random_network())
    observation, info = env.reset(seed=0)
    for seed in range(3):
        torch.manual_seed(seed)
        action, _ = policy.predict(observation, action_masks=info["action_mask"])
        assert info["action_mask"][action]


def test_what_does_not_fit_is_refused() -> None:
    env = make("toy_blur")
    with pytest.raises(InvalidParameter, match="child_features=True"):
        policy_of(env, random_network(), reads_children=True)
    with pytest.raises(InvalidParameter, match="HalideSchedule"):
        PointerPolicy(gym.spaces.Dict({}), env.action_space, lambda _: 1e-3)
    with pytest.raises(InvalidParameter, match="file='default' is a str; give a PolicyFile"):
        policy_of(env, random_network()).start_from("default")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="PointerPolicy; give a PolicyNetwork"):
        policy_file(policy_of(env, random_network()))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"network=file\.config"):
        policy_of(env, random_network()).start_from(policy_file(random_network(NetworkConfig(width=32))))


@pytest.mark.parametrize("policy", [PointerPolicy, PointerQPolicy])
def test_observations_that_wrappers_have_changed_are_refused(policy: type[PointerPolicy | PointerQPolicy]) -> None:
    env = make("toy_blur")
    for key in env.observation_space.keys() - {"schedule_features"}:
        rest = FilterObservation(env, [other for other in env.observation_space if other != key])
        with pytest.raises(InvalidParameter, match=policy.__name__):
            policy(rest.observation_space, env.action_space, lambda _: 1e-3)
    with pytest.raises(InvalidParameter, match="stacks or reshapes"):
        policy(FrameStackObservation(env, 2).observation_space, env.action_space, lambda _: 1e-3)
    what_is_read = FilterObservation(env, [key for key in env.observation_space if key != "schedule_features"])
    policy(what_is_read.observation_space, env.action_space, lambda _: 1e-3)


@pytest.mark.parametrize("policy", [PointerPolicy, PointerQPolicy])
def test_observations_that_show_nothing_are_refused(policy: type[PointerPolicy | PointerQPolicy]) -> None:
    env = DelayObservation(make("toy_blur"), 1)
    made = policy(env.observation_space, env.action_space, lambda _: 1e-3)
    with pytest.raises(InvalidParameter, match=r"shows no stages, .* DelayObservation"):
        made.predict(env.reset(seed=0)[0])


@pytest.mark.parametrize("policy", [PointerPolicy, PointerQPolicy])
def test_a_network_that_is_no_configuration_is_refused(policy: type[PointerPolicy | PointerQPolicy]) -> None:
    env = make("toy_blur")
    with pytest.raises(InvalidParameter, match=r"network=.* is a dict; give a NetworkConfig"):
        policy(env.observation_space, env.action_space, lambda _: 1e-3, network={"width": 32})  # type: ignore[arg-type]


def test_the_policy_of_another_algorithm_is_refused() -> None:
    env = make("toy_blur")
    with pytest.raises(InvalidParameter, match="give DQN a PointerQPolicy"):
        DQN(PointerPolicy, env, buffer_size=10)
    for algorithm in (PPO, A2C):
        with pytest.raises(InvalidParameter, match="give PPO and A2C a PointerPolicy"):
            algorithm(PointerQPolicy, env)


@pytest.mark.slow
def test_training_on_run_times_is_repeated_from_its_record(tmp_path: Path) -> None:
    """Bit for bit, although run times are not the same twice."""

    def trained(kind: str) -> dict[str, torch.Tensor]:
        env = gym.make(
            f"HalideSchedule{kind}-v0", pipeline="toy_blur", parallelism=2, database=tmp_path / "times.sqlite"
        )
        model = MaskablePPO(PointerPolicy, env, n_steps=16, batch_size=8, n_epochs=2, seed=0, device="cpu")
        model.learn(48)
        env.close()
        return model.policy.network.state_dict()

    measured, replayed = trained("Hardware"), trained("Replay")
    assert all(torch.equal(measured[name], replayed[name]) for name in measured)
