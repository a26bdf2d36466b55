"""The comparison of learned policies with search: its runs on disk, and what is made of them."""

from __future__ import annotations

import dataclasses
import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from halidegym.agents import learned as learned_agents
from halidegym.agents.learned.policy_agent import PolicyAgent
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.greedy import Greedy
from halidegym.agents.planners.random_search import RandomSearch
from halidegym.evaluation.papers.learned_agents import (
    BEAM,
    GREEDY,
    Entrant,
    Run,
    append_runs,
    compare,
    learned,
    read_runs,
    searches,
    together,
)
from halidegym.evaluation.papers.learned_report import (
    HEADER,
    PAIRS_HEADER,
    by_pipeline,
    by_policy,
    cells,
    pairs,
    summarize,
)
from halidegym.native._core import FormatError

SHIPPED = Path(learned_agents.__file__).parent / "shipped/default.npz"


def _run(pipeline: str, agent: str, cost: float, *, seed: int = 0, evaluations: int = 100, seconds: float = 1.0) -> Run:
    return Run(pipeline, agent, "", seed, cost, evaluations, evaluations, 0, seconds)


def _runs() -> list[Run]:
    return [
        _run("a", BEAM, 2.0, evaluations=1000, seconds=4.0),
        _run("a", GREEDY, 4.0),
        _run("a", "x", 1.0, seed=0),
        _run("a", "x", 4.0, seed=1),
        _run("interpolate", BEAM, 8.0, evaluations=1000),
        _run("interpolate", GREEDY, 8.0),
        _run("interpolate", "x", 2.0, seed=0),
        _run("interpolate", "x", 2.0, seed=1),
    ]


def test_means_are_geometric_over_seeds_and_then_pipelines() -> None:
    beam, greedy, ours = summarize(_runs())
    assert (beam.agent, beam.of_beam, beam.interval) == (BEAM, 1.0, (1.0, 1.0))
    assert greedy.of_beam == pytest.approx(math.sqrt(0.5 * 1))
    # On "a" twice and half as good as the beam, on the other four times as good.
    assert ours.of_beam == pytest.approx(2.0)
    assert ours.without_interpolate == pytest.approx(1.0)
    assert ours.of_greedy == pytest.approx(math.sqrt(0.5 * 0.25))
    assert ours.evaluations_of_beam == pytest.approx(0.1)
    assert ours.seconds_of_beam == pytest.approx(math.sqrt(0.25))
    low, high = ours.interval
    assert low < ours.of_beam < high
    # Only "a" spreads: between both runs the worse and both the better one.
    assert math.sqrt(0.5 * 4) <= low + 1e-9
    assert high <= math.sqrt(2 * 4) + 1e-9


def test_pipelines_without_a_beam_are_left_out() -> None:
    assert summarize([*_runs(), _run("b", "x", 1.0)]) == summarize(_runs())


def test_tables_have_a_line_an_agent_and_a_line_a_pipeline() -> None:
    lines = [cells(summary) for summary in summarize(_runs())]
    assert all(len(line) == len(HEADER) for line in lines)
    assert lines[2][:2] == ("x", "2.000")
    header, rows = by_pipeline(_runs())
    assert header == ("pipeline", GREEDY, "x")
    assert rows == [("a", "0.500", "1.000"), ("interpolate", "1.000", "4.000")]


def test_policies_are_shown_beside_each_other() -> None:
    learned_by = {
        policy: [dataclasses.replace(run, policy=policy) for run in _runs() if run.agent == "x"] for policy in "pq"
    }
    without_a = [run for run in learned_by["q"] if run.pipeline != "a"]
    header, rows = by_policy([*_runs(), *learned_by["p"], *without_a])
    assert header == ("agent", "p", "q")
    assert rows == [("x", "2.000", "4.000")]


def test_runs_of_a_policy_are_not_taken_for_runs_of_others() -> None:
    """An interval of other runs is one of other policies where there are several: seeds of one tell nothing of these."""
    costs = {"p": 1.0, "q": 4.0}

    def of(seeds: int) -> list[Run]:
        name = "guided mcts, 9"
        ours = [_run("a", name, cost, seed=seed) for cost in costs.values() for seed in range(seeds)]
        ours = [dataclasses.replace(run, policy=next(p for p in costs if costs[p] == run.cost)) for run in ours]
        return [*_runs()[:2], *ours, _run("a", "mcts_replay, 9", 4.0)]

    one, five = (summarize(of(seeds))[2] for seeds in (1, 5))
    assert (five.of_beam, five.of_greedy) == (one.of_beam, one.of_greedy) == pytest.approx((1.0, 0.5))
    assert five.interval == one.interval == pytest.approx((0.5, 2.0)), (
        "seeds that came to the same are no more policies"
    )
    assert pairs(of(5)) == pairs(of(1))
    assert pairs(of(5))[0][3] == "1.000 to 4.000"


@pytest.mark.parametrize("name", ["guided mcts", "guided replay, shortlist 16"])
def test_guided_searches_are_paired_with_the_same_search_without_a_policy(name: str) -> None:
    guided = [_run("a", f"{name}, 9", cost, seed=seed) for seed, cost in enumerate((1.0, 4.0))]
    plain = [_run("a", "mcts_replay, 9", 4.0), _run("b", "mcts_replay, 9", 1.0)]
    (line,) = pairs([*guided, _run("b", f"{name}, 9", 1.0), _run("b", f"{name}, 7", 1.0), *plain])
    assert len(line) == len(PAIRS_HEADER)
    # Twice as cheap on one pipeline of two, four times or not at all in its runs.
    assert line[:3] == (f"{name}, 9", "mcts_replay, 9", f"{math.sqrt(2):.3f}")
    assert line[3] == "1.000 to 2.000"
    assert line[6:] == ("1", "0")


def test_runs_are_kept_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "runs.tsv"
    assert read_runs(path) == []
    passed = append_runs(path, _runs())
    first = next(passed)
    assert read_runs(path) == [first]
    assert [first, *passed] == _runs() == read_runs(path)
    with path.open("a") as file:
        file.write("a\tx\t")
    assert read_runs(path) == _runs()  # a line that was cut short is not there
    path.write_text("something\telse\n")
    with pytest.raises(FormatError, match=r"runs\.tsv holds no runs"):
        read_runs(path)


@pytest.mark.parametrize(
    ("field", "number"), [("cost", -1.0), ("cost", math.nan), ("seconds", 0.0), ("cost", math.inf), ("evaluations", -3)]
)
def test_numbers_that_no_run_has_are_told(field: str, number: float, tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    list(append_runs(path, [dataclasses.replace(_runs()[0], **{field: number})]))
    with pytest.raises(FormatError, match=rf"runs\.tsv is damaged \({number} is n.*; remove the line, or the file"):
        read_runs(path)


@pytest.mark.parametrize("cut", [1, 3, 30, 60, 150])
def test_a_study_that_was_killed_goes_on(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    runs = [dataclasses.replace(_run("harris", GREEDY, 1.5, seed=seed), seconds=0.123456) for seed in range(3)]
    list(append_runs(path, runs[:2]))
    path.write_text(path.read_text()[:-cut])
    known = read_runs(path)
    assert known == runs[: len(known)] and len(known) < 2
    assert list(append_runs(path, runs[len(known) :])) == runs[len(known) :]
    assert read_runs(path) == runs


def test_two_processes_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    runs = [_run("harris", GREEDY, 1.5, seed=seed) for seed in range(4)]
    one, other = append_runs(path, iter(runs[:3])), append_runs(path, iter(runs[1:]))
    assert [next(one), next(other)] == runs[:2]
    assert [*one, *other] == [*runs[1:3], *runs[2:]]
    assert len(path.read_text().splitlines()) == 7
    assert read_runs(path) == runs, "what both have run counts once"


def test_a_study_that_was_killed_before_its_first_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"

    def look() -> Iterator[Run]:
        assert path.read_text().startswith("pipeline\t")  # is there before a run is
        yield from _runs()

    for begun in ("", "pipeline\tage"):
        path.write_text(begun)
        assert read_runs(path) == []
        assert list(append_runs(path, look())) == _runs() == read_runs(path)
    path.write_text("a note of mine")
    for use in (read_runs, lambda path: list(append_runs(path, _runs()))):
        with pytest.raises(FormatError, match="holds no runs"):
            use(path)
    assert path.read_text() == "a note of mine"


def test_what_is_known_is_not_run_again() -> None:
    entrants = {BEAM: Entrant(BeamSearch(beam_size=2, passes=1)), "random": Entrant(RandomSearch(), evaluations=20)}
    runs = list(compare(["toy_pointwise"], entrants, seeds=(0, 1)))
    assert [(run.agent, run.seed) for run in runs] == [(BEAM, 0), ("random", 0), ("random", 1)]
    assert all(run.evaluations == 20 for run in runs[1:])
    known = [dataclasses.replace(run, cost=-1.0) for run in runs[:2]]
    more = list(compare(["toy_pointwise"], entrants, seeds=(0, 1, 2), known=known))
    assert [(run.agent, run.seed) for run in more] == [("random", 1), ("random", 2)]


def test_policies_in_files_of_one_name_are_two(tmp_path: Path) -> None:
    runs: list[Run] = []
    for folder in ("a", "b"):
        path = tmp_path / folder / "policy.npz"
        path.parent.mkdir()
        shutil.copy(SHIPPED, path)
        entrants = {
            BEAM: Entrant(BeamSearch(beam_size=2, passes=1)),
            "policy": Entrant(PolicyAgent(policy=path, samples=2)),
        }
        runs += compare(["toy_pointwise"], entrants, seeds=(0,), known=runs)
    assert [run.policy for run in runs] == ["", str(tmp_path / "a/policy.npz"), str(tmp_path / "b/policy.npz")]


def test_several_policies_that_draw_together_are_one() -> None:
    entrants = {BEAM: Entrant(BeamSearch(beam_size=2, passes=1))}
    entrants |= {name: found for name, found in together(["default", "seed-1"]).items() if "best of 64" in name}
    runs = list(compare(["toy_pointwise"], entrants, seeds=(0,)))
    assert [run.policy for run in runs] == ["", *["default, seed-1"] * 4]


def test_the_beam_s_time_is_what_others_get() -> None:
    entrants = {
        BEAM: Entrant(BeamSearch(beam_size=2, passes=1)),
        GREEDY: Entrant(Greedy()),
        "random": Entrant(RandomSearch(), beam_times=2),
    }
    beam, _, random = compare(["toy_blur"], entrants, seeds=(0,))
    assert random.seconds >= 2 * beam.seconds


def test_entrants_have_names_of_their_own() -> None:
    names = [*searches(), *learned("default"), *together(["default", "seed-1"])]
    assert len(names) == len(set(names))
    assert names[0] == BEAM
