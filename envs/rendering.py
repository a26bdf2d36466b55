"""Text and pictures of states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halidegym.native._core import InvalidParameter, State

FRAME_SIZE = (960, 720)
"""Width and height of a rendered picture in pixels."""

_MARGIN = 16


def render(mode: str | None, name: str, state: State, num_legal_decisions: int) -> str | NDArray[np.uint8] | None:
    """What an environment of this `render_mode` shows of a state.

    Raises:
        InvalidParameter: see `draw`.
    """
    if mode is None:
        return None
    text = describe(name, state, num_legal_decisions)
    return text if mode == "ansi" else draw(text)


def describe(name: str, state: State, num_legal_decisions: int) -> str:
    """The loop nest of a state as text, below a line on what comes next.

    The nest is in the notation of the Adams2019 autoscheduler (docs/specification/search-space.md, section 5).
    """
    made = f"{name}: {state.num_decisions_made} of {state.num_decisions} decisions made"
    if state.is_complete:
        status = f"complete, cost {state.cost():.6g}"
    elif num_legal_decisions == 0:
        status = "no legal decision left"
    else:
        status = f"next: {state.next_phase} {state.next_func}, {num_legal_decisions} legal decisions"
    return f"{made}; {status}\n{state.dump()}"


def draw(text: str) -> NDArray[np.uint8]:
    """The text as a picture [height, width, 3], RGB; shrunk if it is larger than `FRAME_SIZE`.

    Raises:
        InvalidParameter: Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise InvalidParameter('render_mode="rgb_array" needs Pillow: pip install pillow, or use "ansi"') from error
    _, _, right, bottom = ImageDraw.Draw(Image.new("L", (1, 1))).multiline_textbbox((0, 0), text)
    width, height = FRAME_SIZE
    # A canvas of the frame's proportions that holds all of the text.
    scale = max(1.0, (right + 2 * _MARGIN) / width, (bottom + 2 * _MARGIN) / height)
    canvas = Image.new("RGB", (round(width * scale), round(height * scale)), "white")
    ImageDraw.Draw(canvas).multiline_text((_MARGIN, _MARGIN), text, fill="black")
    return np.array(canvas.resize(FRAME_SIZE), dtype=np.uint8)
