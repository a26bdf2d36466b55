"""A search as one page for a browser."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import math

import halide as hl
import pytest

from halidegym.agents.plan import Plan
from halidegym.agents.planners.beam import BeamSearch
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.evaluation.viewing.search_page import search_page
from halidegym.native._core import Space


def odd_names() -> hl.Func:
    """A Func whose name opens a script within a comment, in which "</script>" ends nothing."""
    x, y = hl.Var("x"), hl.Var("y")
    f, g = hl.Func("f<!--<script>"), hl.Func("g")
    f[x, y] = hl.f32(x + y)
    g[x, y] = f[x, y] + f[x + 1, y] + f[x, y + 3]
    g.set_estimates([hl.Range(0, 256), hl.Range(0, 256)])
    return g


@pytest.fixture(scope="module")
def searched() -> tuple[Plan, Space]:
    problem = SchedulingProblem.from_pipeline(odd_names, parallelism=4)
    return BeamSearch(beam_size=2, passes=1).plan(problem), Rules().space(problem)


class _Data(html.parser.HTMLParser):
    """The text of the element with the data."""

    text = ""
    is_open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_open = ("id", "data") in attrs

    def handle_endtag(self, tag: str) -> None:
        self.is_open = False

    def handle_data(self, data: str) -> None:
        self.text += data if self.is_open else ""


def test_no_name_breaks_out_of_the_data(searched: tuple[Plan, Space]) -> None:
    reader = _Data()
    reader.feed(search_page(*searched))
    assert "<" not in reader.text
    words = [node["words"] for node in json.loads(reader.text)["nodes"]]
    assert any("f<!--<script>" in text for text in words)


def test_data_that_no_browser_reads_are_refused(searched: tuple[Plan, Space]) -> None:
    plan, space = searched
    with pytest.raises(ValueError, match="JSON"):
        search_page(dataclasses.replace(plan, pass_costs=(math.nan,)), space)
