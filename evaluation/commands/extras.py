"""Commands whose modules come with an extra of the package."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from halidegym.evaluation.arguments.options import Failure

# Who needs an extra, and the modules that come with it.
_EXTRAS = {
    "train": (
        "Training",
        (
            "pydantic",
            "yaml",
            "torch",
            "tensorboard",
            "stable_baselines3",
            "sb3_contrib",
            "pyarrow",
            "sklearn",
            "threadpoolctl",
        ),
    ),
    "bench": ("A benchmark", ("pydantic", "yaml", "matplotlib", "scipy", "rliable", "arch", "pyfftw")),
    "ray": ("Work on several machines", ("ray",)),
}


def needs_extra(extra: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have a command say which extra to install where a module of it is missing."""
    who, modules = _EXTRAS[extra]

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            try:
                return command(*args, **kwargs)
            except ModuleNotFoundError as error:
                module = (error.name or "").partition(".")[0]
                if module not in modules:
                    raise
                raise Failure(
                    f"{who} needs {module}, which is not installed; run pip install 'halidegym[{extra}]'"
                ) from error

        return wrapped

    return decorated
