"""The stages so far, for the kinds to pick their operands from."""

from collections.abc import Callable, Sequence

from halidegym.envs.pipelines.generated.blueprint import Stage, Tensor
from halidegym.envs.pipelines.generated.draws import Draws

# Each stage is so many times as likely to be picked as the next one.
_OLDER = 0.75


class Pool:
    """A read-only view of the stages so far.

    Args:
        stages: producers first.
        unread: so many times likelier is a stage picked that nobody reads yet. The larger, the longer are chains, and the
            fewer fan-outs and skip edges there are.
    """

    def __init__(self, stages: Sequence[Stage], unread: float) -> None:
        self._stages = stages
        self._unread = unread
        self._read = {operand for stage in stages for operand in stage.operands}

    @property
    def next_index(self) -> int:
        """The index that the next stage gets."""
        return len(self._stages)

    def tensor(self, index: int) -> Tensor:
        """What the stage computes."""
        return self._stages[index].tensor

    def pick(
        self, draws: Draws, accepts: Callable[[Tensor], bool] = lambda _: True, exclude: Sequence[int] = ()
    ) -> int | None:
        """A stage whose values are acceptable, preferably a late one that is not read yet; None if there is none.

        Weights of layers (`weights` stages) are never picked: only the layer that they were made for reads them.
        """
        weights = {
            i: (1.0 if i in self._read else self._unread) * _OLDER ** (len(self._stages) - i)
            for i, stage in enumerate(self._stages)
            if stage.kind != "weights" and i not in exclude and accepts(stage.tensor)
        }
        return draws.weighted(weights) if weights else None

    def pick_or_add(
        self,
        draws: Draws,
        accepts: Callable[[Tensor], bool],
        make_input: Callable[[], Tensor],
        exclude: Sequence[int] = (),
    ) -> tuple[int, Tensor, tuple[Stage, ...]]:
        """A stage whose values are acceptable, what it computes, and the stages to add for it: a new input if need be."""
        index = self.pick(draws, accepts, exclude)
        if index is not None:
            return index, self.tensor(index), ()
        tensor = make_input()
        return self.next_index, tensor, (Stage.make("input", (), tensor),)


Proposal = tuple[Stage, ...] | None
"""Stages to add, the last of them the one that was asked for; None if no stage so far can be its operand."""
