"""What the surrogate reads of schedules."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pipelines_for_tests
from halidegym.agents.learned.cost_models.example import example_weights
from halidegym.agents.proposals import careless_descents, proposal_of
from halidegym.agents.tuner.features import Features
from halidegym.envs.problems.problem import SchedulingProblem
from halidegym.envs.problems.rules import Rules
from oracle.builder_problem import SSE_AVX2


@pytest.mark.parametrize("cores", [2, 16])
def test_stages_then_cores_then_the_cost_by_the_guide(cores: int) -> None:
    problem = SchedulingProblem.from_pipeline(pipelines_for_tests.stencil3, target=SSE_AVX2, parallelism=cores)
    guide = example_weights()
    proposal = next(careless_descents(Rules().space(problem), 3))
    *of_stages, log_cores, log_cost = Features(guide)(proposal)
    stages, rows = proposal.state.features()
    table = np.reshape(of_stages, (problem.num_stages, -1))
    np.testing.assert_array_equal(table[stages], np.log1p(rows))
    assert not table[np.setdiff1d(np.arange(problem.num_stages), stages)].any(), "inputs, which are not computed"
    assert log_cores == math.log(cores)
    by_guide = proposal_of("again", Rules().space(problem, guide), proposal.actions)
    assert math.exp(log_cost) == pytest.approx(by_guide.cost * cores, rel=1e-6)
    assert by_guide.cost != pytest.approx(proposal.cost, rel=0.01)
