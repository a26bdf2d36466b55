"""A replay buffer of whole episodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import BaseBuffer
from torch import Tensor

from halidegym.native._core import Problem, Space, problem_rows
from halidegym.native.weights import builtin_weights
from halidegym.training.dqn.episode import Episode, View
from halidegym.training.networks.batches import Decisions, Problems, Rows, StateAt, States, join, join_problems


class Shown(NamedTuple):
    """States with their legal decisions, and where the decisions of each begin."""

    problems: Problems
    states: States
    decisions: Decisions
    offsets: Tensor


class Steps(NamedTuple):
    """B steps of episodes.

    Attributes:
        now: the states that they begin in.
        taken: [B], the decisions that were taken, among all that are shown.
        rewards: [B], summed over the steps to `later`.
        later: the states n steps later, of the L steps whose episodes had not ended by then.
        goes_on: [L], which of the steps these are.
    """

    now: Shown
    taken: Tensor
    rewards: Tensor
    later: Shown | None
    goes_on: Tensor


_FOUND_AGAIN = {"_identities", "_of_identity", "_problem_rows", "_spaces", "_done"}


class EpisodeBuffer(BaseBuffer):
    """Keeps what was done in the last episodes, and makes the states of those that are drawn.

    A step counts when its episode is over. Only legal decisions are made again, so what is learned from here is masked.

    Args:
        buffer_size: steps that are kept at most; whole episodes go, the oldest ones first.
        observation_space: of `HalideSchedule`.
        action_space: of `HalideSchedule`.
        device: of what is drawn.
        n_envs: environments, whose episodes go on side by side.
        optimize_memory_usage: has no meaning here.
        n_steps: between a state and the one that its target looks at; None for the end of the episode.
        loops: of a level, that the network reads.

    Attributes:
        view: what the environments show of a state.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Discrete,
        device: torch.device | str = "auto",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
        *,
        n_steps: int | None = None,
        loops: int = 8,
    ) -> None:
        del optimize_memory_usage
        self._episodes = deque[Episode]()
        super().__init__(buffer_size, observation_space, action_space, device, n_envs)
        self.view = View(int(action_space.n), loops)
        self._n_steps = n_steps
        self._ends: NDArray[np.int64] | None = None
        self._know_nothing()

    def __getstate__(self) -> dict[str, Any]:
        """The episodes that are over, without what is known of their problems, which can be found again."""
        return {name: value for name, value in vars(self).items() if name not in _FOUND_AGAIN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._know_nothing()
        for episode in self._episodes:
            self._first_of(episode.space)

    def reset(self) -> None:
        """Forget all."""
        super().reset()
        self._episodes.clear()
        self.abandon()

    def abandon(self) -> None:
        """Forget the episodes that are not over: the environments begin anew."""
        self._spaces: list[Space | None] = [None] * self.n_envs
        self._done: list[list[tuple[int, float]]] = [[] for _ in range(self.n_envs)]

    def see(self, spaces_now: Sequence[Space]) -> None:
        """Be told the spaces of the episodes that the next step is part of."""
        self._spaces = list(spaces_now)

    def add(
        self,
        obs: Any,
        next_obs: Any,
        action: NDArray[np.int64],
        reward: NDArray[np.float32],
        done: NDArray[np.bool_],
        infos: list[dict[str, Any]],
    ) -> None:
        """Note a step of each environment; stable-baselines3 calls it."""
        for index in range(self.n_envs):
            self._done[index].append((int(action[index]), float(reward[index])))
            if done[index]:
                space = self._spaces[index]
                assert space is not None
                actions, rewards = zip(*self._done[index], strict=True)
                self._keep(Episode(self._first_of(space), actions, rewards, self.view))
                self._done[index] = []

    def _know_nothing(self) -> None:
        self._identities = WeakKeyDictionary[Space, bytes]()
        self._of_identity = WeakValueDictionary[bytes, Space]()
        self._problem_rows = WeakKeyDictionary[Space, Rows]()
        self.abandon()

    def _get_samples(self, batch_inds: NDArray[np.int64], env: Any = None) -> Steps:  # type: ignore[override]
        """These steps, numbered over all episodes."""
        if self._ends is None:
            self._ends = np.cumsum([len(episode) for episode in self._episodes])
        which = np.searchsorted(self._ends, batch_inds, side="right")
        chosen = [self._episodes[index] for index in which]
        at = [int(step) for step in batch_inds - self._ends[which] + [len(episode) for episode in chosen]]
        ends = [self._end(episode, step) for episode, step in zip(chosen, at, strict=True)]
        goes_on = [i for i, (episode, end) in enumerate(zip(chosen, ends, strict=True)) if end < len(episode)]
        now = self._shown(chosen, at)
        taken = torch.tensor([episode.actions[step] for episode, step in zip(chosen, at, strict=True)])
        rewards = [sum(episode.rewards[step:end]) for episode, step, end in zip(chosen, at, ends, strict=True)]
        return Steps(
            now=now,
            taken=now.offsets[:-1] + taken.to(self.device),
            rewards=torch.tensor(rewards, dtype=torch.float32, device=self.device),
            later=self._shown([chosen[i] for i in goes_on], [ends[i] for i in goes_on]) if goes_on else None,
            goes_on=torch.tensor(goes_on, dtype=torch.long, device=self.device),
        )

    def state(self) -> dict[str, Any]:
        """The episodes as tensors, without the states on their way."""
        numbers = dict[Space, int]()
        for episode in self._episodes:
            numbers.setdefault(episode.space, len(numbers))
        return {
            "problems": [torch.frombuffer(bytearray(space.problem.to_bytes()), dtype=torch.uint8) for space in numbers],
            "of": torch.tensor([numbers[episode.space] for episode in self._episodes]),
            "lengths": torch.tensor([len(episode) for episode in self._episodes]),
            "actions": torch.tensor([action for episode in self._episodes for action in episode.actions]),
            "rewards": torch.tensor(
                [reward for episode in self._episodes for reward in episode.rewards], dtype=torch.float64
            ),
        }

    def go_on(self, state: dict[str, Any]) -> None:
        """Keep the episodes of a `state` instead of one's own."""
        problems = [Problem.from_bytes(problem.numpy().tobytes()) for problem in state["problems"]]
        # What states look like does not depend on the cost model.
        known = [self._first_of(Space(problem, builtin_weights())) for problem in problems]
        sizes = state["lengths"].tolist()
        self.reset()
        for of, actions, rewards in zip(
            state["of"].tolist(), state["actions"].split(sizes), state["rewards"].split(sizes), strict=True
        ):
            self._keep(Episode(known[of], tuple(actions.tolist()), tuple(rewards.tolist()), self.view))

    def _keep(self, episode: Episode) -> None:
        self._episodes.append(episode)
        self.pos += len(episode)  # which tells the library how many steps there are
        while self.pos > self.buffer_size and len(self._episodes) > 1:
            self.pos -= len(self._episodes.popleft())
        self._ends = None

    def _first_of(self, space: Space) -> Space:
        """The first space of the same problem, so that batches do not depend on where their episodes are from."""
        identity = self._identities.get(space)
        if identity is None:
            identity = self._identities[space] = space.problem.identity_bytes()
        return self._of_identity.setdefault(identity, space)

    def _end(self, episode: Episode, step: int) -> int:
        return len(episode) if self._n_steps is None else min(step + self._n_steps, len(episode))

    def _shown(self, episodes: Sequence[Episode], at: Sequence[int]) -> Shown:
        numbers = {space: number for number, space in enumerate(dict.fromkeys(e.space for e in episodes))}
        rows = [self._rows(space) for space in numbers]
        where = [StateAt(numbers[e.space], e.rows, step) for e, step in zip(episodes, at, strict=True)]
        states, decisions = join(rows, where)
        sizes = [0, *(int(state.replayed["num_legal"][state.row]) for state in where)]
        return Shown(
            join_problems(rows).to(self.device),
            states.to(self.device),
            decisions.to(self.device),
            torch.tensor(sizes, device=self.device).cumsum(0),
        )

    def _rows(self, space: Space) -> Rows:
        rows = self._problem_rows.get(space)
        if rows is None:
            rows = self._problem_rows[space] = problem_rows(space)
        return rows
