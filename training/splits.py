"""Which pipelines may be learned from."""

from __future__ import annotations

from halidegym.envs import pipelines
from halidegym.envs.pipelines import generated
from halidegym.envs.prepared_problems import RANDOM

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


def check_may_be_trained_on(name: str) -> None:
    """Refuse what no policy may be trained on, not even one for chosen pipelines alone: all that is held out by number.

    Raises:
        ValueError: the pipeline is of a split to choose or to test by, or there is none of this name; for the validators of
            settings.
    """
    remedy = f"give {RANDOM} alone, or names of registered pipelines, those of random-train-v1 included"
    if not pipelines.is_name(name):
        raise ValueError(f"there is no single pipeline {name!r}; {remedy}")
    if generated.split_of(name) not in ("", "train"):
        raise ValueError(f"{name} is held out, to choose or to test policies by; {remedy}")
