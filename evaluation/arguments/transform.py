"""What may stand for a transform to plan: in suites, and in options of commands."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import parse_qsl

from halidegym.agents.agent import Agent
from halidegym.envs.transform.plan_task import SpaceName
from halidegym.native._core import InvalidParameter, TransformSpace
from halidegym.native.checks import check_at_least, check_number

SPACES: tuple[SpaceName, ...] = get_args(SpaceName)
COSTS = ("model", "measured", "replay")
PREFIX = "transform/"

_TEXT = re.compile(rf"{PREFIX}(\d+)(?:\?(.*))?")


@dataclasses.dataclass(frozen=True)
class TransformName:
    """A transform, the plans that are searched, and where their costs come from.

    Attributes:
        n: complex numbers.
        space: of plans, see `TransformSpace`.
        cost: "model"; "measured" on this machine; or "replay" of what was measured.
        context: of the model.
        database: file of measurements: of a replay all there are, else they are recorded there.
        machine: fingerprint of the one whose measurements are replayed; None for the only one on record.
        lanes: complex numbers in the vectors of the plans that are replayed; None for those of this machine.
    """

    n: int
    space: SpaceName = "basic"
    cost: Literal["model", "measured", "replay"] = "model"
    context: float = 0.0
    database: str | None = None
    machine: str | None = None
    lanes: tuple[int, ...] | None = None

    @classmethod
    def parse(cls, text: str) -> TransformName:
        """Read a name such as `transform/1024`, or `transform/1024?space=wide&cost=measured`.

        Raises:
            InvalidParameter: it is none.
        """
        found = _TEXT.fullmatch(text)
        if not found:
            raise InvalidParameter(f"{text!r} is no transform: write transform/1024, or transform/1024?space=lanes")
        fields: dict[str, str] = dict(parse_qsl(found[2] or "", keep_blank_values=True))
        unknown = set(fields) - {field.name for field in dataclasses.fields(cls)[1:]}
        if unknown:
            raise InvalidParameter(
                f"A transform has no {min(unknown)}; give space, cost, context, database, machine or lanes: {text}"
            )
        for key, choices in (("space", SPACES), ("cost", COSTS)):
            if fields.get(key, choices[0]) not in choices:
                raise InvalidParameter(f"{key}={fields[key]} in {text}: give one of {', '.join(choices)}")
        try:
            context = float(fields.pop("context", "0"))
        except ValueError as error:
            raise InvalidParameter(f"context in {text} is no number") from error
        lanes = fields.pop("lanes", None)
        if lanes is not None and not re.fullmatch(r"\d{1,9}(,\d{1,9})*", lanes):
            raise InvalidParameter(f"lanes={lanes} in {text}: give numbers such as lanes=1,2,4")
        widths = None if lanes is None else tuple(map(int, lanes.split(",")))
        name = cls(int(found[1]), context=context, lanes=widths, **fields)  # type: ignore[arg-type]  # their values were checked
        check_at_least(2, 65536, n=name.n)
        check_number(0, context=name.context)
        if context and name.cost != "model":
            raise InvalidParameter(f"context is the model's, but costs of {text} are not; leave it out")
        if name.database is not None and name.cost == "model":
            raise InvalidParameter(
                f"database is of measurements, and costs of {text} are the model's; leave it out, or give cost=measured"
            )
        if name.machine is not None and name.cost != "replay":
            raise InvalidParameter(
                f"machine is of a record, and costs of {text} are of none; leave it out, or give cost=replay"
            )
        if name.lanes is not None and name.cost != "replay":
            raise InvalidParameter(
                f"lanes are of a record, and costs of {text} are of none; leave them out, or give cost=replay"
            )
        if name.cost == "replay" and not (name.database and Path(name.database).is_file()):
            raise InvalidParameter(
                f"{text} replays no file: give database=FILE, which `halidegym transform plan` wrote"
            )
        return name


def check_sizes(sizes: Sequence[int], spaces: Sequence[SpaceName]) -> None:
    """Refuse what is no size of transforms with such plans, before the others are worked on.

    Raises:
        InvalidParameter: one is none.
    """
    for n, space in itertools.product(sizes, spaces):
        TransformSpace(n, space=space)


def order_of(agent: Agent) -> Literal["first", "any"]:
    """Which open problem is decided next: any one for agents that merge equal plans, as only then they meet some again."""
    return "any" if getattr(agent, "merge", False) else "first"
