"""How the suite of a run that has begun may grow: all that has results stays as it is, and more comes to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from halidegym.evaluation.benchmark.suite import AgentSettings, BudgetSettings, Contest, Suite
from halidegym.native._core import InvalidParameter

_WORDS = ("title", "description")
_LISTS = ("pipelines", "seeds", "budgets")


def grown(before: Suite, now: Suite, run: Path) -> Suite:
    """The suite of a run, with the agents, pipelines, seeds and budgets that another one adds to it.

    Args:
        before: of the run.
        now: what is to be run; it may leave out agents, whose results stay.
        run: its folder, for messages.

    Raises:
        InvalidParameter: something that results depend on would change, or be missing.
    """
    settings: dict[str, Any] = {name: getattr(now, name) for name in Contest.model_fields}
    for name, new in settings.items():
        old = getattr(before, name)
        if name in _LISTS:
            settings[name] = _longer(old, new, name, run)
        elif name not in _WORDS and old != new:
            raise InvalidParameter(
                f"{run} has the run of a suite with another {name}; keep that, or give another --output"
            )
    agents = dict(before.agents)
    for name, agent in now.agents.items():
        agents[name] = _longer_budgets(agents.get(name, agent), agent, name, run)
    return Suite(**settings, agents=agents)


def _longer_budgets(old: AgentSettings, new: AgentSettings, name: str, run: Path) -> AgentSettings:
    """An agent, which may have got further budgets of its own."""
    if old.model_copy(update={"budgets": new.budgets}) != new or (old.budgets is None) != (new.budgets is None):
        raise InvalidParameter(f"{run} has results of another agent {name}; give yours another name")
    if old.budgets is None:
        return old  # it gets those of the suite
    return old.model_copy(update={"budgets": _longer(old.budgets, new.budgets or [], f"budgets of {name}", run)})


def _longer(old: list[Any], new: list[Any], what: str, run: Path) -> list[Any]:
    """A list with what is there first: the first seed is that of agents with a single run."""
    missing = [each for each in old if each not in new]
    if missing or (new and not old):  # without budgets, there are results of searches to their own ends
        shown = missing[0] if missing else "none"
        shown = shown.label if isinstance(shown, BudgetSettings) else shown
        raise InvalidParameter(
            f"{run} has the run of a suite with other {what}: {shown}. Keep what is there and add to it, or give another "
            "--output"
        )
    return [*old, *(each for each in new if each not in old)]
