"""Which pipelines may be learned from."""

from __future__ import annotations

from halidegym.envs import pipelines
from halidegym.envs.pipelines import generated

_LEARNED_FROM = [suite for suite, split in generated.SUITES.items() if split != "test"]


def check_may_learn_from(suite: str) -> None:
    """Refuse all but the suites of generated pipelines that are made to train on and to choose models by.

    Raises:
        ValueError: it is another suite, or a pipeline; for the validators of settings, which name the setting.
    """
    if suite in _LEARNED_FROM:
        return
    remedy = f"give {' or '.join(_LEARNED_FROM)}"
    if suite in pipelines.names("papers-v1") or suite.startswith(("papers-", "random-test-")):
        raise ValueError(f"{suite} is for tests: results are reported on it, so nothing may learn from it; {remedy}")
    raise ValueError(f"{suite!r} is no suite of generated pipelines; {remedy}")
