"""What all tests rely on."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import halide as hl
import pytest

from halidegym.native import _core

#: Files that are there in any case, to lock.
_QUEUE, _STAGE = Path(__file__), Path(__file__).parents[1] / "pyproject.toml"

# Before any library reads them. The workers of pytest-xdist keep all cores busy; threads of a library, which every process
# begins with, would spin while they wait for work, or for each other.
for _library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# What Halide compiles by itself is for the processor that it takes this machine to have, which not all have.
os.environ.setdefault("HL_JIT_TARGET", _core.resolve_target("host"))


@pytest.fixture(scope="session", autouse=True)
def _interrupts_arrive() -> None:
    """Shells start background jobs with Ctrl-C ignored; some tests interrupt themselves with it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither wait for others of this user who measure, nor make them wait: the locks are in the cache directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Take all names, and let the workers of pytest-xdist take turns.

    Halide counts names by 14 bits of a hash. Whether a Func has its name or one with a suffix would depend on what other
    tests have built; so all of them have suffixes, as after hours in a notebook.
    """
    for number in range(150_000):
        hl.Func(f"taken_{number}")
    if "PYTEST_XDIST_WORKER" in os.environ:
        config.pluginmanager.register(_Turns())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that run alone, so that the other workers wait once."""
    items.sort(key=lambda item: not _is_alone(item))


def _is_alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None


class _Turns:
    """Has tests that are marked `alone` run while no other worker runs a test."""

    def __init__(self) -> None:
        self._turn = contextlib.ExitStack()
        self._is_held = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        if not self._is_held:
            self._turn.enter_context(_turn(alone=_is_alone(item)))
        self._is_held = _is_alone(item) and nextitem is not None and _is_alone(nextitem)
        try:
            return (yield)
        finally:
            if not self._is_held:
                self._turn.close()


@contextlib.contextmanager
def _turn(*, alone: bool) -> Iterator[None]:
    """Wait until nobody else is alone; to be alone, until nobody else is there, and let nobody overtake."""
    with _QUEUE.open() as queue, _STAGE.open() as stage:
        fcntl.flock(queue, fcntl.LOCK_EX)
        fcntl.flock(stage, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(queue, fcntl.LOCK_UN)
        yield
