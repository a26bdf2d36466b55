"""What all tests rely on."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture(scope="session", autouse=True)
def _interrupts_arrive() -> None:
    """Shells start background jobs with Ctrl-C ignored; some tests interrupt themselves with it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
