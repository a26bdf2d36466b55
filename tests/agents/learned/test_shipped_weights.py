"""The example of trained weights is the one that its page describes, and Halide's own plugin searches with it as we do."""

from __future__ import annotations

from pathlib import Path

import halidegym
from halidegym.evaluation.parity.check import Setting, check_parity
from halidegym.native.weights import builtin_weights, load_weights, weights_hash

EXAMPLE = Path(halidegym.__path__[0]) / "agents/learned/shipped/example.weights"
PAGE = Path(__file__).parents[3] / "docs/training/cost-models.md"


def test_the_page_names_its_hash() -> None:
    weights = load_weights(EXAMPLE)
    assert weights != builtin_weights()
    assert weights_hash(weights) in PAGE.read_text(encoding="utf-8")


def test_the_plugin_finds_the_same_schedules_with_it() -> None:
    for pipeline in ("toy_stencils", "harris"):
        result = check_parity(pipeline, Setting(beam_size=4, weights=EXAMPLE))
        assert result.equal, result
