"""`halidegym explore`: what the page holds, and that it works in a browser."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import pipelines_for_tests
from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.agents.planners.mcts import MCTS
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.sources import load_problem
from halidegym.evaluation.cli import main

TARGET, CORES = "x86-64-linux-avx-avx2-f16c-fma-sse41", 4
OUTSIDE = re.compile(r"https?://(?!www\.w3\.org/)|<link|src=|@import|url\((?!#)")


def explore(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["explore", *map(str, arguments)])


@pytest.fixture(scope="module")
def plan() -> Plan:
    problem = load_problem("toy_diamond", target=TARGET, parallelism=CORES)
    return BeamSearch(beam_size=4, passes=3).plan(problem)


@pytest.fixture(scope="module")
def page(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explore")
    plan.save(folder / "plan.json")
    result = explore(folder / "plan.json", "-o", folder / "page.html")
    assert result.exit_code == 0, result.output
    return folder / "page.html"


class _Reader(html.parser.HTMLParser):
    """Text by the id of the element around it; elements have to be closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.texts: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta"}:
            self.open.append((tag, dict(attrs).get("id") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, name in self.open:
            self.texts[name] = self.texts.get(name, "") + data


def test_the_page_is_whole_and_loads_nothing(page: Path, plan: Plan) -> None:
    text = page.read_text(encoding="utf-8")
    assert OUTSIDE.search(text) is None
    assert "@" not in re.sub(r"@media", "", text.partition("<script")[0])
    reader = _Reader()
    reader.feed(text)
    assert reader.open == []
    cpp = re.sub(r"_\d+\b", "", plan.schedule.cpp().strip())
    assert re.sub(r"_\d+\b", "", reader.texts["cpp"]) == cpp
    assert "hl.TailStrategy" in reader.texts["python"]
    assert "share of the cost" in reader.texts["final-nest"]
    data: dict[str, Any] = json.loads(reader.texts["data"])
    assert data["paths"][0]["cost"] == pytest.approx(plan.cost, rel=1e-5)
    assert [path["name"] for path in data["paths"]][1:4] == ["pass 1", "pass 2", "pass 3"]
    assert all(data["nodes"][number]["nest"].startswith("<svg") for number in data["paths"][0]["nodes"])
    assert [one["compared"] for one in data["beam"]["passes"]] == pytest.approx(plan.pass_costs, rel=1e-5)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("There is no Chromium on the path")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


def test_a_reader_walks_through_the_search(browser: Any, page: Path, plan: Plan) -> None:
    context = browser.new_context(offline=True, viewport={"width": 1400, "height": 900})
    tab = context.new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    tab.goto(page.as_uri())
    steps = tab.locator("#steps tbody tr")
    assert steps.count() > 2
    assert tab.locator("#paths option").count() == len(plan.candidates) + len(plan.pass_candidates)
    first = tab.locator("#step-title").inner_text()
    assert tab.locator("#siblings tr.taken").count() == 1
    assert tab.locator("#nest svg").count() == 1

    tab.keyboard.press("ArrowRight")
    second = tab.locator("#step-title").inner_text()
    assert second != first
    tab.keyboard.press("ArrowLeft")
    assert tab.locator("#step-title").inner_text() == first

    steps.last.click()
    assert tab.locator("#steps tr.chosen").inner_text() == steps.last.inner_text()
    assert f"cost {plan.cost:.6g}" in tab.locator("#nest").text_content()

    tab.select_option("#paths", label=tab.locator("#paths option").nth(1).inner_text())
    assert re.search(r"pass(es)? 1\b", tab.locator("#tree text.chosen").text_content())
    tab.locator("#tree circle").first.click()
    assert tab.locator("#tree circle.chosen").count() == 1
    taken = tab.locator("#siblings tr.taken td").first.inner_text()
    assert taken == str(plan.pass_candidates[0].actions[int(tab.locator("#steps tr.chosen td").first.inner_text()) - 1])
    assert problems == []
    context.close()


def test_a_reader_looks_into_the_beam(browser: Any, page: Path, plan: Plan) -> None:
    context = browser.new_context(offline=True, viewport={"width": 1400, "height": 900})
    tab = context.new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto(page.as_uri())
    beam = json.loads(tab.locator("#data").text_content())["beam"]
    assert tab.locator("#passes option").count() == len(plan.pass_costs) == 3
    best = min(range(3), key=lambda number: plan.pass_candidates[number].cost)
    assert tab.locator("#passes").input_value() == str(best)
    assert f"Cost {plan.cost:.5g};" in tab.locator("#kept-words").inner_text()

    tab.select_option("#passes", "1")
    levels = beam["passes"][1]["levels"]
    assert tab.locator("#levels circle").count() == sum(len(level["kept"]) for level in levels)
    assert tab.locator("#levels text").all_text_contents() == [f"{x['about']}, {x['rated']:,}" for x in levels]
    line = tab.locator("#line tbody tr")
    assert line.count() == len(levels)
    final = tab.locator("#kept-title").inner_text()
    assert tab.locator("#levels circle.best.chosen").count() == 1

    place = len(levels[0]["kept"]) + 1  # the second dot of the second column
    tab.locator("#levels circle").nth(place).click()
    assert line.count() == 2
    assert tab.locator("#levels path.chosen").count() == 1
    parent, family, action, _, words = levels[1]["kept"][1]
    assert line.last.locator("td").nth(1).inner_text() == beam["words"][words]
    assert line.first.locator("td").last.inner_text() == f"{parent + 1} of {len(levels[0]['kept'])}"
    siblings = tab.locator("#family tbody tr")
    assert siblings.count() <= levels[1]["families"][family][0]
    assert tab.locator("#family tr.taken td").first.inner_text() == str(action)
    fates = {row.split()[-1] for row in siblings.locator("td:last-child").all_inner_texts()}
    assert "left" in fates or "over" in fates

    tab.locator("#levels").focus()
    tab.keyboard.press("ArrowLeft")
    assert line.count() == 1
    tab.keyboard.press("End")
    line.first.click()
    tab.select_option("#passes", "0")
    tab.select_option("#passes", "1")
    assert tab.locator("#kept-title").inner_text() == final
    assert problems == []
    context.close()


def test_long_names_below_a_beam_are_whole(browser: Any, tmp_path: Path) -> None:
    problem = load_problem("lens_blur", target=TARGET, parallelism=CORES)
    BeamSearch(beam_size=1, passes=1).plan(problem).save(tmp_path / "plan.json")
    assert explore(tmp_path / "plan.json").exit_code == 0
    tab = browser.new_page()
    tab.goto((tmp_path / "plan.html").as_uri())
    paper = tab.locator("#levels").bounding_box()
    assert not tab.locator("#progress").is_visible(), "the first schedule ended the search"
    names = [name.bounding_box() for name in tab.locator("#levels text").all()]
    assert max(name["y"] + name["height"] for name in names) <= paper["y"] + paper["height"]
    assert max(name["x"] + name["width"] for name in names) <= paper["x"] + paper["width"]
    tab.close()


def test_a_search_without_beams_is_told_without_them(browser: Any, tmp_path: Path) -> None:
    problem = load_problem("toy_diamond", target=TARGET, parallelism=CORES)
    tuned = dataclasses.replace(MCTS.preset("mcts_0.5s").plan(problem, evaluations=300), run_time=1e-3, measurements=4)
    tuned.save(tmp_path / "plan.json")
    result = explore(tmp_path / "plan.json")
    assert result.exit_code == 0, result.output
    tab = browser.new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto((tmp_path / "plan.html").as_uri())
    assert not tab.locator("#beam").is_visible()
    assert tab.locator("#progress").is_visible()
    assert tab.locator("#steps tbody tr").count() > 1
    assert "4 schedules" in tab.locator("dl").inner_text()
    assert problems == []
    tab.close()


def test_a_reader_follows_the_moves_of_the_root(browser: Any, tmp_path: Path) -> None:
    problem = load_problem("toy_stencils", target=TARGET, parallelism=CORES)
    plan = MCTS(iterations=4, trees=5, greedy_trees=1).plan(problem)
    plan.save(tmp_path / "plan.json")
    assert explore(tmp_path / "plan.json").exit_code == 0
    tab = browser.new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto((tmp_path / "plan.html").as_uri())
    data = json.loads(tab.locator("#data").text_content())
    rows = tab.locator("#move-list tbody tr")
    assert rows.count() == len(plan.pass_candidates) == len(data["moves"])
    for number in range(rows.count()):
        rows.nth(number).click()
        move = data["moves"][number]
        assert tab.locator("#move-list tr.chosen").count() == 1
        options = tab.locator("#options tbody tr")
        assert options.count() == len(move["options"])
        decision = tab.locator("#options tr.taken td").last.inner_text()
        assert tab.locator("#step-title").inner_text().endswith(decision)
        assert rows.nth(number).locator("td").nth(1).inner_text() == decision
        known = sum(bool(cell) for cell in tab.locator("#siblings tbody td:last-child").all_inner_texts())
        assert known >= len(move["options"])  # a sibling that a tree has brought says what is known below
    assert "known schedules below" in tab.locator("#tree circle title").first.text_content()
    assert problems == []
    tab.close()


def test_pipelines_of_ones_own_are_named(tmp_path: Path) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur, target=TARGET, parallelism=CORES)
    BeamSearch(beam_size=1, passes=1).plan(problem).save(tmp_path / "mine.json")
    refused = explore(tmp_path / "mine.json")
    assert refused.exit_code == 2 and "--pipeline my_pipeline.py:blur" in refused.output
    made = explore(tmp_path / "mine.json", "--pipeline", f"{pipelines_for_tests.__file__}:blur")
    assert made.exit_code == 0, made.output
    assert (tmp_path / "mine.html").is_file()


def test_what_built_a_pipeline_with_options_is_asked_for_as_it_can_be_typed(tmp_path: Path) -> None:
    problem = load_problem("harris", target=TARGET, parallelism=CORES, pipeline_options={"size": (160, 128)})
    BeamSearch(beam_size=1, passes=1).plan(problem).save(tmp_path / "plan.json")
    refused = explore(tmp_path / "plan.json")
    assert refused.exit_code == 2 and "such as --pipeline harris, and its --option, --param" in refused.output
    made = explore(tmp_path / "plan.json", "--pipeline", "harris", "--option", "size=160,128")
    assert made.exit_code == 0, made.output


@pytest.mark.parametrize(
    ("content", "said"),
    [("{}", "no plan"), ('{"kind": "halidegym plan", "version": 4}', "incomplete plan")],
)
def test_what_is_no_plan_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "plan.json").write_text(content)
    result = explore(tmp_path / "plan.json")
    assert result.exit_code == 2 and said in result.output


def test_a_page_is_not_written_over_its_plan(tmp_path: Path, plan: Plan) -> None:
    plan.save(tmp_path / "plan.html")
    saved = (tmp_path / "plan.html").read_bytes()
    result = explore(tmp_path / "plan.html")
    assert (result.exit_code, "would be written over the plan" in " ".join(result.output.split())) == (2, True)
    assert (tmp_path / "plan.html").read_bytes() == saved


def test_a_page_that_cannot_be_written_is_refused(tmp_path: Path, plan: Plan) -> None:
    plan.save(tmp_path / "plan.json")
    result = explore(tmp_path / "plan.json", "-o", tmp_path / "no" / "page.html")
    assert result.exit_code == 2 and "There is no folder" in result.output
    document = json.loads((tmp_path / "plan.json").read_text())
    document["fingerprint"]["weights_hash"] = "0" * 64
    (tmp_path / "plan.json").write_text(json.dumps(document))
    result = explore(tmp_path / "plan.json")
    assert result.exit_code == 2 and "--weights" in result.output


def test_a_plan_from_a_pipe_is_refused_as_such(tmp_path: Path) -> None:
    """It is read twice, and was empty the second time."""
    result = explore("/dev/null", "-o", tmp_path / "page.html")
    assert result.exit_code == 2 and "/dev/null is no plain file" in result.stderr
