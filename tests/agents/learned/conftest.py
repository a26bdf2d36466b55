"""The policy that agents draw from, where it does not matter what it has learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies_for_tests import untrained_policy


@pytest.fixture(scope="session")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained_policy(tmp_path_factory.mktemp("policy"), seed=0)
