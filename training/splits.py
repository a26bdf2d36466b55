"""Which pipelines may be learned from."""

from __future__ import annotations

from collections.abc import Sequence

from halidegym.envs import pipelines
from halidegym.envs.pipelines import generated
from halidegym.envs.prepared_problems import generated_suites

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


def check_may_be_trained_on(names: Sequence[str]) -> None:
    """Refuse what no policy may be trained on, not even one for chosen pipelines alone: all that is held out by number.

    Args:
        names: of pipelines, or of suites of generated ones.

    Raises:
        ValueError: one is of a split to choose or to test by, or there is none of this name, or suites and pipelines are
            mixed; for the validators of settings.
    """
    suites = [suite for suite, split in generated.SUITES.items() if split == "train"]
    remedy = f"give {' or '.join(suites)}, or names of registered pipelines, those of these suites included"
    for name in generated_suites(names) or names:
        if name not in generated.SUITES and not pipelines.is_name(name):
            raise ValueError(f"there is no pipeline {name!r}; {remedy}")
        if generated.SUITES.get(name, generated.split_of(name)) not in ("", "train"):
            raise ValueError(f"{name} is held out, to choose or to test policies by; {remedy}")
