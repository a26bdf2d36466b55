"""The environment `SyntheticTree-v0`."""

from __future__ import annotations

from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from halidegym.envs.arguments import action_index, check_no_options, check_render_mode
from halidegym.envs.specification import Specified
from halidegym.native._core import SyntheticNode, SyntheticTree
from halidegym.native.checks import check_at_least, check_number, check_present

Observation = NDArray[np.float32]

_MAX_DELTA = 1e18  # whose square, added up along the deepest path, is a float32


class SyntheticTreeEnv(Specified, gym.Env[Observation, np.int64]):
    """Walk down a random tree to a cheap leaf, whose optimum is known exactly.

    ## Description

    The trees of Gao et al. 2022 (*MB2FBS*), which mimic scheduling at a size where everything can be known: every inner
    node has `branching` children, a node at depth d costs Uniform[0, d), and a leaf, at depth D = `depth`, costs
    Uniform[D + delta, D + delta²). The cost of a path is the sum of its nodes. The larger `delta`, the less do the costs on
    the way tell of the leaf at the end. Planners (`agent.solve(env.unwrapped.tree)`) search the very same tree.

    The paper leaves two things open. Partial paths are compared by their *path* cost, as a partial schedule's cost, too,
    is what all its decisions amount to; and only so do all searches do well for `delta` 0, as the paper reports. And
    where delta² is below delta, the bounds of the leaves' interval swap.

    ## Action Space

    `Discrete(branching)`: the child to go to. All are legal at every step.

    ## Observation Space

    `Box` of float32, shape `(2 + branching,)`: the depth, the path cost so far, and the cost of each child, which is that
    of a leaf at the last step.

    ## Rewards

    0 until a leaf is reached, then the accuracy of the paper: the cost of the cheapest path / the cost of the path taken,
    which is 1 for the optimum.

    ## Starting State

    The root. Unless `tree_seed` fixes the tree, each reset draws a new one by the environment's own random number
    generator. Equal seeds and actions give equal episodes.

    ## Episode End

    *Termination*: a leaf is reached, after `depth` steps. *Truncation*: never.

    ## Information

    | Key | When | Content |
    |---|---|---|
    | `cost` | last step | of the path taken |
    | `optimum` | last step | cost of the cheapest path |

    ## Arguments

    | Argument | Default | Meaning |
    |---|---|---|
    | `branching` | 4 | children of every inner node |
    | `depth` | 8 | of the leaves |
    | `delta` | 100.0 | spread of the leaves' costs |
    | `tree_seed` | none | the tree of all episodes; none: a new one each |
    | `render_mode` | none | `"ansi"`: the path as text |

    The optimum is found by branch and bound, in about a millisecond for the default size; its time grows with the number of
    leaves.

    ```python
    import gymnasium as gym, halidegym

    env = gym.make("SyntheticTree-v0", delta=10.0)
    observation, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        action = observation[2:].argmin()
        observation, reward, terminated, truncated, info = env.step(action)
    print(reward, info["cost"], info["optimum"])
    ```

    ## Version History

    - v0: initial version.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        *,
        branching: int = 4,
        depth: int = 8,
        delta: float = 100.0,
        tree_seed: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """See the class.

        Raises:
            InvalidParameter: an argument is out of its range.
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        check_at_least(1, **check_present(branching=branching, depth=depth))
        check_at_least(0, 2**64 - 1, tree_seed=tree_seed)
        check_number(0, _MAX_DELTA, **check_present(delta=delta))
        self.render_mode = render_mode
        self._tree_seed = tree_seed
        self._tree = SyntheticTree(branching=branching, depth=depth, delta=delta, seed=tree_seed or 0)
        self._path: list[tuple[int, SyntheticNode]] = []
        self._has_begun = False
        highest_node = depth + max(delta, delta**2)
        highest_path = highest_node + depth * (depth - 1) / 2
        high = np.array([depth, highest_path, *[highest_node] * branching], np.float32)
        self.observation_space = spaces.Box(np.zeros_like(high), np.nextafter(high, np.float32(np.inf)))
        self.action_space = spaces.Discrete(branching)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode at the root.

        Raises:
            InvalidParameter: there are `options`; the environment has none.
        """
        check_no_options(options)
        super().reset(seed=seed)
        if self._tree_seed is None:
            tree_seed = int(self.np_random.integers(2**63))
            self._tree = SyntheticTree(
                branching=self._tree.branching,
                depth=self._tree.max_depth(),
                delta=self._tree.delta,
                seed=tree_seed,
            )
        self._path = []
        self._has_begun = True
        return self._observe(), {}

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Go to a child.

        Raises:
            ResetNeeded: the episode is over, or none has begun.
            InvalidParameter: there is no such child, or `action` is no integer.
        """
        index = action_index(action)
        if not self._has_begun or self._is_over():
            raise gym.error.ResetNeeded("The episode is over: call reset() first")
        self._path.append((index, self._tree.apply(self.node, index)))
        if not self._is_over():
            return self._observe(), 0.0, False, False, {}
        optimum, _ = self._tree.optimum()
        cost = self.node.path_cost
        return self._observe(), optimum / cost, True, False, {"cost": cost, "optimum": optimum}

    def render(self) -> str | None:
        """The path so far, in the form of the `render_mode`."""
        if self.render_mode is None:
            return None
        lines = [f"depth {node.depth}: child {action}, cost {node.cost:.6g}" for action, node in self._path]
        return "\n".join([*lines, f"path cost {self.node.path_cost:.6g}"])

    @property
    def tree(self) -> SyntheticTree:
        """The tree of the current episode, to be searched by planners."""
        return self._tree

    @property
    def node(self) -> SyntheticNode:
        """The current node, an immutable value."""
        return self._path[-1][1] if self._path else self._tree.root()

    def _is_over(self) -> bool:
        return self._tree.is_complete(self.node)

    def _observe(self) -> Observation:
        children = [self._tree.apply(self.node, decision).cost for decision in self._tree.decisions(self.node)]
        missing = [0.0] * (self._tree.branching - len(children))
        return np.array([self.node.depth, self.node.path_cost, *children, *missing], np.float32)
