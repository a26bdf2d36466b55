"""What a benchmark runs: agents x pipelines x seeds at equal budgets, as a YAML file says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import pydantic

from halidegym.envs import pipelines
from halidegym.envs.processes.isolated import run_isolated
from halidegym.envs.sources import load_problem
from halidegym.evaluation.arguments.agent import load_agent
from halidegym.evaluation.benchmark.problems import kind_of
from halidegym.native._core import Error, InvalidParameter
from halidegym.native.checks import INT64_MAX, MAX_SEED, shown
from halidegym.training.settings import Settings, load_settings

SUITES = Path(__file__).parent / "suites"
"""The folder of the shipped suites; the commands take their names without the ending."""


class BudgetSettings(Settings):
    """What each search may use; at least one of them.

    Attributes:
        seconds: by the clock.
        baseline_seconds: the same, in units of what the baseline took on that pipeline.
        evaluations: of the cost model.
        baseline_evaluations: the same, in units of the costs that the baseline computed on that pipeline.
        expansions: of states.
        measurements: of schedules that are compiled and timed.
    """

    seconds: float | None = pydantic.Field(default=None, gt=0)
    baseline_seconds: float | None = pydantic.Field(default=None, gt=0)
    evaluations: int | None = pydantic.Field(default=None, ge=1, le=INT64_MAX)
    baseline_evaluations: float | None = pydantic.Field(default=None, gt=0)
    expansions: int | None = pydantic.Field(default=None, ge=1, le=INT64_MAX)
    measurements: int | None = pydantic.Field(default=None, ge=1, le=INT64_MAX)

    @pydantic.model_validator(mode="after")
    def _limits_something(self) -> BudgetSettings:
        if not self.model_dump(exclude_none=True):
            raise ValueError("an empty budget limits nothing; give seconds, evaluations or measurements")
        for name in ("seconds", "evaluations"):
            if getattr(self, name) is not None and getattr(self, f"baseline_{name}") is not None:
                raise ValueError(f"give {name} or baseline_{name}, not both")
        return self

    @property
    def needs_baseline(self) -> bool:
        """Whether the baseline must have run before."""
        return self.baseline_seconds is not None or self.baseline_evaluations is not None

    @property
    def is_timed(self) -> bool:
        """Whether the clock ends a search."""
        return self.seconds is not None or self.baseline_seconds is not None

    @property
    def label(self) -> str:
        """In words."""
        texts = {
            "seconds": f"{self.seconds:g} s" if self.seconds else "",
            "baseline_seconds": _times(self.baseline_seconds, "the baseline's seconds"),
            "evaluations": f"{self.evaluations:,} evaluations" if self.evaluations else "",
            "baseline_evaluations": _times(self.baseline_evaluations, "the baseline's evaluations"),
            "expansions": f"{self.expansions:,} expansions" if self.expansions else "",
            "measurements": f"{self.measurements:,} measurements" if self.measurements else "",
        }
        return ", ".join(filter(None, texts.values()))


def _check_unique(values: list[Any]) -> list[Any]:
    for value in values:
        if values.count(value) > 1:
            shown = value.label if isinstance(value, BudgetSettings) else value
            raise ValueError(f"{shown} is there twice; leave one out")
    return values


Budgets: TypeAlias = Annotated[list[BudgetSettings], pydantic.AfterValidator(_check_unique)]


class AgentSettings(Settings):
    """An agent of a suite; in the file, the class alone may stand for it.

    Attributes:
        agent: its class, see `arguments.agent.load_agent`.
        preset: of the class; None for the class itself.
        parameters: of the class, or on top of the preset.
        deterministic: whether it makes no use of its seed, so that one run is enough.
        budgets: that it gets instead of those of the suite; empty if it runs to its own end.
    """

    agent: str
    preset: str | None = None
    parameters: dict[str, Any] = pydantic.Field(default_factory=dict)
    deterministic: bool = False
    budgets: Budgets | None = None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _may_be_a_class(cls, content: Any) -> Any:
        return {"agent": content} if isinstance(content, str) else content


class MeasurementSettings(Settings):
    """How the schedules that were found are timed, those of a pipeline in turns.

    Attributes:
        threads: to run on; None for the parallelism, but no more than there are usable cores.
        rounds: how many turns each takes at most.
        seeds: of how many seeds the schedules are timed; None for all.
        sample_seconds: to spend on samples of a schedule.
    """

    threads: int | None = pydantic.Field(default=None, ge=1)
    rounds: int = pydantic.Field(default=15, ge=6)
    seeds: int | None = pydantic.Field(default=None, ge=1)
    sample_seconds: float = pydantic.Field(default=2.0, gt=0)


class Contest(Settings):
    """All of a suite but the agents: runs with the same one can be compared.

    Attributes:
        title: of the report.
        description: what it is for, in Markdown.
        target: Halide target string that schedules are made for, or host.
        parallelism: number of cores that schedules are made for; None for the usable ones.
        pipelines: as on the command line, suites of them such as papers-v1, or transforms such as `transform/1024`.
        baseline: name of the agent that the others are compared with.
        seeds: of the agents.
        budgets: that each agent gets in turn, unless it has its own; none if all run to their own ends.
        cell_seconds: after which a search that does not end is ended, and has failed.
        measurement: None times nothing.
    """

    title: str
    description: str = ""
    target: str = "host"
    parallelism: int | None = pydantic.Field(default=None, ge=1)
    pipelines: list[str] = pydantic.Field(min_length=1)
    baseline: str
    seeds: list[int] = pydantic.Field(min_length=1)
    budgets: Budgets = pydantic.Field(default_factory=list)
    cell_seconds: float = pydantic.Field(default=3600.0, gt=0)
    measurement: MeasurementSettings | None = None

    @pydantic.field_validator("pipelines")
    @classmethod
    def _are_pipelines(cls, names: list[str]) -> list[str]:
        return _check_unique([each for name in names for each in pipelines.members(name)])

    @pydantic.field_validator("seeds")
    @classmethod
    def _are_seeds(cls, seeds: list[int]) -> list[int]:
        if not all(0 <= seed <= MAX_SEED for seed in seeds):
            raise ValueError("a seed is an integer from 0 to 2^32 - 1")
        return _check_unique(seeds)


class Suite(Contest):
    """A whole suite.

    Attributes:
        agents: by the name to show.
    """

    agents: dict[str, AgentSettings] = pydantic.Field(min_length=1)

    @pydantic.model_validator(mode="after")
    def _fit(self) -> Suite:
        if self.baseline not in self.agents:
            raise ValueError(f"the baseline {self.baseline!r} is none of the agents {', '.join(self.agents)}")
        budgets = self.all_budgets
        if any(budget.needs_baseline for budget in budgets) and self.agents[self.baseline].budgets != []:
            raise ValueError(
                f"budgets in units of the baseline's need one that runs to its own end: give {self.baseline} budgets: []"
            )
        of_baseline = self.agents[self.baseline].budgets
        compared = self.budgets if of_baseline is None else of_baseline
        alone = [budget.label for budget in budgets if budget not in compared] if compared else []
        if alone:
            raise ValueError(
                f"the baseline {self.baseline} has no result with {alone[0]} to compare others with: give it that budget, "
                "too, or budgets: [] if it runs to its own end"
            )
        return self

    @property
    def all_budgets(self) -> list[BudgetSettings]:
        """Those of the suite, and those that agents have of their own."""
        return [*self.budgets, *(budget for agent in self.agents.values() for budget in agent.budgets or [])]

    @property
    def contest(self) -> Contest:
        """All but the agents."""
        return Contest(**{name: getattr(self, name) for name in Contest.model_fields})

    def with_agents(self, agents: dict[str, AgentSettings]) -> Suite:
        """The same with other agents."""
        return Suite(**{name: getattr(self, name) for name in Contest.model_fields}, agents=agents)


def load_suite(source: str | os.PathLike[str]) -> Suite:
    """Read a suite.

    Args:
        source: the name of a shipped one, such as "quick", or the path of a YAML file.

    Raises:
        InvalidParameter: there is no such file, it is no YAML, or something in it is unknown, missing, or out of range.
    """
    return load_settings(Suite, source, SUITES)


def with_more_agents(suite: Suite, texts: Sequence[str]) -> Suite:
    """A suite with further agents, each given as `AGENT` or `NAME=AGENT`.

    Raises:
        InvalidParameter: two of them, or one of them and one of the suite's, have the same name.
    """
    if not texts:
        return suite
    agents = dict(suite.agents)
    for text in texts:
        given, separator, agent = text.partition("=")
        name, settings = (
            given if separator else text.rpartition(":")[2],
            AgentSettings(agent=agent if separator else text),
        )
        if agents.setdefault(name, settings) != settings:
            raise InvalidParameter(
                f"--agent {text}: there is another agent {name}; give yours another name, as in "
                f"--agent my-{name}={settings.agent}"
            )
    return suite.with_agents(agents)


def check_names(suite: Suite) -> None:
    """Check that there are the agents, with their weights and policies, the pipelines and the target of a suite that is to
    be run here; makes the agents.

    Raises:
        InvalidParameter: one is missing, or a name to show is no text of one line.
        DatabaseError, FormatError: the record of a transform cannot be opened, or is none.
    """
    for name, settings in suite.agents.items():
        if not name.strip() or not name.isprintable():
            raise InvalidParameter(
                f"An agent is called {shown(name)}; give a name of one line, by which tables show it"
            )
        try:
            load_agent(settings.agent, settings.parameters, settings.preset).check_files()
        except Error as error:
            raise InvalidParameter(f"agents.{name}: {error}") from error
    for pipeline in suite.pipelines:
        kind_of(pipeline).check(pipeline)
        if kind_of(pipeline).remembers(pipeline) and any(budget.is_timed for budget in suite.all_budgets):
            raise InvalidParameter(
                f"Seconds are no budget for {pipeline}: what one search records there, the next one need not measure. Give "
                "evaluations, or leave out the database"
            )
    if suite.target != "host":
        run_isolated(load_problem, "toy_pointwise", target=suite.target)


def _times(factor: float | None, unit: str) -> str:
    return "" if factor is None else unit if factor == 1 else f"{factor:g} x {unit}"
