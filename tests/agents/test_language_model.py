"""A language model as an agent, played by scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from halidegym.agents.language_model import LanguageModelAgent
from halidegym.agents.plan import Plan
from halidegym.agents.planners.greedy import Greedy
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.sources import load_problem
from halidegym.native._core import InvalidParameter


@pytest.fixture(scope="module")
def problem() -> SchedulingProblem:
    return load_problem("toy_blur", target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=4)


def thrifty(prompt: str) -> str:
    """Asks for the costs, and takes the cheapest decision."""
    costs = {int(n): float(cost) for n, cost in re.findall(r"^(\d+): ([\d.e-]+): ", prompt, re.MULTILINE)}
    if not costs:
        return "I had better know more.\n\ncosts"
    return f"The cheapest looks good.\n**decision: {min(costs, key=costs.__getitem__)}**"


def scripted(*answers: str) -> Callable[[str], str]:
    """Says these answers in turn, again and again."""

    def forever() -> Iterator[str]:
        while True:
            yield from answers

    said = forever()
    return lambda _prompt: next(said)


def test_who_takes_the_cheapest_finds_what_greedy_search_finds(problem: SchedulingProblem, tmp_path: Path) -> None:
    plan = LanguageModelAgent(thrifty, max_decisions=4096).plan(problem)
    greedy = Greedy().plan(problem)
    assert plan.cost == greedy.cost
    assert plan.actions == greedy.actions
    assert plan.expansions is not None and plan.forwards == 2 * plan.expansions
    assert plan.evaluations is not None and plan.evaluations >= greedy.evaluations
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json", problem).schedule == plan.schedule


@pytest.mark.parametrize("answer", [None, 0, b"decision: 0", ["decision: 0"]])
def test_answers_that_are_no_text_are_refused(answer: Any, problem: SchedulingProblem) -> None:
    with pytest.raises(InvalidParameter, match=r"The model answered .* which is no str; let it return its text"):
        LanguageModelAgent(lambda _prompt: answer).plan(problem)


def test_a_model_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="model='gpt' cannot be called"):
        LanguageModelAgent("gpt")  # type: ignore[arg-type]


def test_the_best_episode_is_kept_and_told(problem: SchedulingProblem) -> None:
    prompts: list[str] = []
    moves = iter([0, 0, 5, 3, 2, 1])

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return f"decision: {next(moves, 0)}"

    plan = LanguageModelAgent(model, episodes=3).plan(problem)
    costs = [candidate.cost for candidate in plan.candidates]
    assert costs == sorted(costs) and len(costs) >= 2
    assert [entry.cost for entry in plan.history] == sorted((e.cost for e in plan.history), reverse=True)
    assert "The best schedule so far costs" not in prompts[0]
    assert f"costs {plan.history[0].cost:.5g}." in prompts[2]


def test_an_answer_without_a_decision_is_asked_again(problem: SchedulingProblem) -> None:
    prompts: list[str] = []
    answers = scripted("Well, it depends.", "decision: 99999", "decision: 1")

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return answers(prompt)

    plan = LanguageModelAgent(model, max_decisions=8).plan(problem)
    assert plan.schedule.cpp()
    assert "no legal decision" not in prompts[0] and "no legal decision" in prompts[1] and "from 0 to 7" in prompts[1]
    with pytest.raises(InvalidParameter, match=r"3 times; the last one: 'costs'"):
        LanguageModelAgent(scripted("costs"), attempts=2).plan(problem)


def test_budgets_and_callbacks_end_it(problem: SchedulingProblem) -> None:
    agent = LanguageModelAgent(scripted("0"), episodes=50)
    assert agent.plan(problem, evaluations=1).ended_by == "budget"
    few = agent.plan(problem, expansions=5)
    assert few.ended_by == "budget" and few.expansions is not None and 5 <= few.expansions <= 8
    assert agent.plan(problem).ended_by == "finished"


def test_its_text_tells_no_address(problem: SchedulingProblem) -> None:
    assert "0x" not in repr(LanguageModelAgent(thrifty))
