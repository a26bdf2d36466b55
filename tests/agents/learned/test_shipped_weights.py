"""The examples of trained weights are those that their page describes, and Halide's own plugin searches as we do."""

from __future__ import annotations

from pathlib import Path

import pytest

import halidegym
from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.evaluation.parity.check import Setting, check_parity
from halidegym.native._core import InvalidParameter
from halidegym.native.weights import builtin_weights, load_weights, weights_hash

SHIPPED = Path(halidegym.__path__[0]) / "agents/learned/shipped"
EXAMPLES = {"example.weights": 1, "example-two-threads.weights": 2}
PAGE = Path(__file__).parents[3] / "docs/training/cost-models.md"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_names_their_hashes(name: str) -> None:
    weights = load_weights(SHIPPED / name)
    assert weights != builtin_weights()
    assert f"`{weights_hash(weights)}`" in PAGE.read_text(encoding="utf-8")


def test_they_are_for_one_thread_and_for_several() -> None:
    for name, threads in EXAMPLES.items():
        assert example_weights(threads) == load_weights(SHIPPED / name)
    assert example_weights() == example_weights(1) != example_weights(2) == example_weights(16)
    with pytest.raises(InvalidParameter, match="threads"):
        example_weights(0)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_plugin_finds_the_same_schedules_with_them(name: str) -> None:
    for pipeline in ("toy_stencils", "harris"):
        result = check_parity(pipeline, Setting(beam_size=4, weights=SHIPPED / name))
        assert result.equal, result
