"""What ends a search."""

from __future__ import annotations

from halidegym.agents.budget import Budget


def test_each_limit_uses_a_budget_up_when_it_is_reached() -> None:
    budget = Budget(seconds=2.0, evaluations=20, expansions=5, measurements=3)
    spent = {"seconds": 1.9, "evaluations": 19, "expansions": 4, "measurements": 2}
    assert not budget.is_used_up(**spent)  # type: ignore[arg-type]
    for name, limit in vars(budget).items():
        assert budget.is_used_up(**(spent | {name: limit})), name
    assert not Budget(seconds=2.0).is_used_up(seconds=1.0, evaluations=10**9, expansions=10**9, measurements=10**9)
    assert not Budget(evaluations=1, expansions=1, measurements=1).is_used_up(seconds=1e9), "nothing else was told of"


def test_measurements_do_not_limit_a_search_by_costs() -> None:
    assert Budget(measurements=3).is_unlimited and Budget(measurements=3).is_unlimited_for_rollouts
    assert Budget(expansions=3).is_unlimited_for_rollouts and not Budget(expansions=3).is_unlimited
    for budget in (Budget(seconds=1), Budget(evaluations=1)):
        assert not budget.is_unlimited and not budget.is_unlimited_for_rollouts
        assert budget.or_evaluations(7) == budget
    assert Budget(measurements=3).or_evaluations(7) == Budget(evaluations=7, measurements=3)


def test_what_is_left_of_the_seconds_is_an_instant_at_least() -> None:
    budget = Budget(seconds=2.0, evaluations=9)
    assert budget.after(0.5) == Budget(seconds=1.5, evaluations=9)
    assert 0 < (budget.after(2.5).seconds or 0) < 1e-3
    assert Budget(evaluations=9).after(5.0) == Budget(evaluations=9)


def test_words_name_what_is_given() -> None:
    assert Budget(seconds=0.5, evaluations=2000).words == "0.5 seconds, 2,000 evaluations"
    assert Budget().words == "none"
