"""Pictures of nests: what is drawn, as SVG and as an array."""

from __future__ import annotations

import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import pipelines_for_tests
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.views import Level, draw_nest, outline, to_array, to_svg
from halidegym.envs.views.drawing import COST, LANES, TASKS, Box, Text, texts
from halidegym.native._core import BeamOptions, InvalidParameter, State, beam_search

SVG = "{http://www.w3.org/2000/svg}"


def own_levels(nest: Level) -> list[Level]:
    """Those that have a bar of their own."""
    if nest.computes or nest.kind in ("compute", "inlined"):
        return [nest, *([] if nest.computes else nest.parts)]
    return [level for part in nest.parts for level in own_levels(part)]


@pytest.fixture(scope="module")
def state() -> State:
    problem = SchedulingProblem.from_pipeline(
        pipelines_for_tests.blur, target="x86-64-linux-avx-avx2-f16c-fma-sse41", parallelism=4
    )
    return beam_search(Rules().space(problem), BeamOptions(beam_size=4, passes=1)).solutions[0].state


def test_boxes_lie_in_the_boxes_of_their_loops(state: State) -> None:
    nest = outline(state)
    picture = draw_nest(nest, "blur")
    boxes = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.outline]
    assert len(boxes) == nest.num_rows - 1
    for box in boxes:
        assert box.x >= 0 and box.x + box.width <= picture.width
        assert box.y + box.height <= picture.height
    outer = boxes[0]
    for box in boxes[1:]:
        apart = box.y >= outer.y + outer.height
        inside = (
            box.x > outer.x
            and box.x + box.width < outer.x + outer.width
            and box.y + box.height < outer.y + outer.height
        )
        assert apart or inside
        outer = box if apart else outer


def test_tasks_vectors_and_costs_have_their_colours(state: State) -> None:
    picture = draw_nest(outline(state), "blur")
    legend = draw_nest(outline(state.space.initial_state()), "blur")
    for colour in (TASKS, LANES, COST):
        with_nest, without = (
            sum(isinstance(shape, Box) and shape.fill == colour for shape in p.shapes) for p in (picture, legend)
        )
        assert with_nest > without
    bars = [shape.width for shape in picture.shapes if isinstance(shape, Box) and shape.fill == COST]
    shares = [level.own_cost for level in own_levels(outline(state))]
    assert sorted(bars) == pytest.approx(sorted(max(share * max(bars) / max(shares), 1) for share in shares))
    assert "Nothing is scheduled yet." in texts(legend.shapes)


def test_svg_is_well_formed_and_says_what_the_picture_says(state: State) -> None:
    picture = draw_nest(outline(state), "a < b & c")
    root = ET.fromstring(to_svg(picture, "first"))
    written = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert written == [text for text in texts(picture.shapes) if text]
    assert written[0] == "a < b & c"
    assert any("cost" in (title.text or "") for title in root.iter(f"{SVG}title"))
    identifiers = [clip.get("id") for clip in root.iter(f"{SVG}clipPath")]
    assert len(set(identifiers)) == len(identifiers) and all(str(name).startswith("first-") for name in identifiers)


def test_the_array_shows_the_same_at_another_size(state: State) -> None:
    picture = draw_nest(outline(state), "blur")
    whole, small = to_array(picture, (960, 720)), to_array(picture, (480, 90))
    assert whole.shape == (720, 960, 3) and small.shape == (90, 480, 3) and whole.dtype == np.uint8
    blue = np.array([int(TASKS[k : k + 2], 16) for k in (1, 3, 5)])
    assert (np.abs(whole.astype(int) - blue).sum(axis=2) == 0).any()
    assert (small < 250).any(axis=2).mean() > 0.02
    title = next(shape for shape in picture.shapes if isinstance(shape, Text))
    assert (whole[int(title.y) - 6 : int(title.y) + 6, 16:60] < 128).any()


def test_pillow_is_asked_for(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(InvalidParameter, match="pip install pillow"):
        to_array(draw_nest(outline(state), "blur"), (10, 10))
