"""Paths of modules that the documentation named before they moved; they lead to where the modules are now."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType

FORMER_PATHS = {
    "halidegym.agents.beam": "halidegym.agents.planners.beam",
    "halidegym.agents.exhaustive": "halidegym.agents.planners.exhaustive",
    "halidegym.agents.greedy": "halidegym.agents.planners.greedy",
    "halidegym.agents.mb2fbs": "halidegym.agents.planners.mb2fbs",
    "halidegym.agents.mcts": "halidegym.agents.planners.mcts",
    "halidegym.agents.tag": "halidegym.agents.planners.tag",
    "halidegym.agents.uct": "halidegym.agents.planners.uct",
    "halidegym.envs.timers": "halidegym.envs.timing.timers",
}


class _Redirect(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the module at its new path, and warns."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname in FORMER_PATHS else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        new = FORMER_PATHS[spec.name]
        warnings.warn(f"{spec.name} is {new} now; import its public names from halidegym", DeprecationWarning, 2)
        former = ModuleType(spec.name)
        former.__getattr__ = lambda name: getattr(importlib.import_module(new), name)  # type: ignore[method-assign]
        return former

    def exec_module(self, module: ModuleType) -> None:
        """The module at the new path has been executed."""


def redirect_former_paths() -> None:
    """Let imports find the former paths; done by `import halidegym`."""
    if not any(isinstance(finder, _Redirect) for finder in sys.meta_path):
        sys.meta_path.append(_Redirect())
