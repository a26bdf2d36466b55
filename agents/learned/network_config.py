"""What a policy's network is built of; its weights are apart."""

from __future__ import annotations

from dataclasses import dataclass

from halidegym.native._core import InvalidParameter
from halidegym.native.checks import check_at_least


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes of a network, and what it looks at.

    Attributes:
        width: of each hidden layer; a multiple of 16.
        rounds: of messages between stages.
        loops: innermost loops of a level whose trip counts the descriptor of a decision shows.
        use_stage_features: whether it sees the sizes and flags of stages.
        use_edge_features: whether it sees calls, footprints and strides of edges.
        use_demands: whether it sees how much of a Func, and how often, a decision makes needed.
    """

    width: int = 64
    rounds: int = 3
    loops: int = 8
    use_stage_features: bool = True
    use_edge_features: bool = True
    use_demands: bool = True

    def __post_init__(self) -> None:
        check_at_least(16, 512, width=self.width)
        check_at_least(0, 16, rounds=self.rounds)
        check_at_least(1, 16, loops=self.loops)
        if self.width % 16:
            raise InvalidParameter(f"width={self.width} is no multiple of 16; give 64, say")
