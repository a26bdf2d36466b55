"""Text and pictures of states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.views.drawing import draw_nest
from halidegym.envs.views.outline import outline
from halidegym.envs.views.raster import to_array
from halidegym.envs.views.words import status_words
from halidegym.native._core import State

FRAME_SIZE = (960, 720)
"""Width and height of a rendered picture in pixels."""

# More lines than this could not be read on a frame.
_MAX_ROWS = 48


def render(mode: str | None, name: str, state: State, num_legal_decisions: int) -> str | NDArray[np.uint8] | None:
    """What an environment of this `render_mode` shows of a state.

    Raises:
        InvalidParameter: see `draw`.
    """
    if mode is None:
        return None
    if mode == "ansi":
        return describe(name, state, num_legal_decisions)
    return draw(name, state, num_legal_decisions)


def describe(name: str, state: State, num_legal_decisions: int) -> str:
    """The loop nest of a state as text, below a line on what comes next.

    The nest is in the notation of the Adams2019 autoscheduler (docs/specification/search-space.md, section 5).
    """
    return f"{name}: {status_words(state, num_legal_decisions)}\n{state.dump()}"


def draw(name: str, state: State, num_legal_decisions: int) -> NDArray[np.uint8]:
    """The loop nest of a state as a picture [height, width, 3], RGB, of `FRAME_SIZE`.

    Raises:
        InvalidParameter: Pillow is not installed.
    """
    nest, title = outline(state), f"{name}: {status_words(state, num_legal_decisions)}"
    width, height = FRAME_SIZE
    picture = draw_nest(nest, title, width=width, max_rows=_MAX_ROWS)
    if picture.height > height:  # as wide as the frame once it is shrunk
        picture = draw_nest(nest, title, width=width * picture.height / height, max_rows=_MAX_ROWS)
    return to_array(picture, FRAME_SIZE)
