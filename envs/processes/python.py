"""How another Python is started that finds all that this one finds."""

from __future__ import annotations

import os
import sys


def python_command(statements: str) -> list[str]:
    """A Python that runs statements.

    The current folder is not on its module path unless its path is. The garbage collector waits for who calls it: it would
    take a fifth of the time in which such a process imports and ends, and find nothing.
    """
    return [sys.executable, "-c", f"import gc, sys; gc.disable(); sys.path[:] = filter(None, sys.path); {statements}"]


def module_path() -> list[str]:
    """Where this process looks for modules, but for the current folder."""
    return list(filter(None, sys.path))


def python_path() -> dict[str, str]:
    """The variable that gives `module_path` to a Python that is started."""
    return {"PYTHONPATH": os.pathsep.join(module_path())}
