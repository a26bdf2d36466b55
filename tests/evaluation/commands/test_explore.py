"""`halidegym explore`: what the page holds, and that it works in a browser."""

from __future__ import annotations

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
    assert "pass 1" in tab.locator("#tree text.chosen").text_content()
    tab.locator("#tree circle").first.click()
    assert tab.locator("#tree circle.chosen").count() == 1
    taken = tab.locator("#siblings tr.taken td").first.inner_text()
    assert taken == str(plan.pass_candidates[0].actions[int(tab.locator("#steps tr.chosen td").first.inner_text()) - 1])
    assert problems == []
    context.close()


def test_pipelines_of_ones_own_are_named(tmp_path: Path) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.blur, target=TARGET, parallelism=CORES)
    BeamSearch(beam_size=1, passes=1).plan(problem).save(tmp_path / "mine.json")
    refused = explore(tmp_path / "mine.json")
    assert refused.exit_code == 2 and "--pipeline my_pipeline.py:blur" in refused.output
    made = explore(tmp_path / "mine.json", "--pipeline", f"{pipelines_for_tests.__file__}:blur")
    assert made.exit_code == 0, made.output
    assert (tmp_path / "mine.html").is_file()


@pytest.mark.parametrize(
    ("content", "said"),
    [("{}", "no plan"), ('{"kind": "halidegym plan", "version": 4}', "incomplete plan")],
)
def test_what_is_no_plan_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "plan.json").write_text(content)
    result = explore(tmp_path / "plan.json")
    assert result.exit_code == 2 and said in result.output


def test_a_page_that_cannot_be_written_is_refused(tmp_path: Path, plan: Plan) -> None:
    plan.save(tmp_path / "plan.json")
    result = explore(tmp_path / "plan.json", "-o", tmp_path / "no" / "page.html")
    assert result.exit_code == 2 and "There is no folder" in result.output
    document = json.loads((tmp_path / "plan.json").read_text())
    document["fingerprint"]["weights_hash"] = "0" * 64
    (tmp_path / "plan.json").write_text(json.dumps(document))
    result = explore(tmp_path / "plan.json")
    assert result.exit_code == 2 and "--weights" in result.output
