"""Pictures as arrays, by Pillow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from halidegym.envs.views.drawing import Box, Picture, Text
from halidegym.native._core import InvalidParameter

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


def to_array(picture: Picture, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Draw a picture on paper of this width and height, shrunk if it is larger.

    Returns:
        RGB, [height, width, 3].

    Raises:
        InvalidParameter: Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise InvalidParameter('render_mode="rgb_array" needs Pillow: pip install pillow, or use "ansi"') from error
    width, height = size
    scale = min(width / picture.width, height / picture.height, 1.0)
    finer = 1 if scale == 1.0 else 2  # small letters are placed better on a finer grid
    image = Image.new("RGB", (finer * width, finer * height), "white")
    paper = ImageDraw.Draw(image)
    for shape in picture.shapes:
        if isinstance(shape, Box):
            _box(paper, shape, finer * scale)
        else:
            _text(paper, shape, finer * scale)
    return np.array(image.resize(size), dtype=np.uint8)


def _box(paper: ImageDraw, box: Box, scale: float) -> None:
    left, top = box.x * scale, box.y * scale
    right, bottom = left + max(box.width * scale - 1, 0), top + max(box.height * scale - 1, 0)
    paper.rectangle((left, top, right, bottom), fill=box.fill, outline=box.outline or None)


def _text(paper: ImageDraw, text: Text, scale: float) -> None:
    from PIL import ImageFont

    font = ImageFont.load_default(text.size * scale)
    x, end = text.x * scale, (text.x + text.width) * scale
    for run, colour in text.runs:
        fitting = run
        while fitting and x + font.getlength(fitting) > end:
            fitting = fitting[:-1]
        paper.text((x, text.y * scale), fitting, fill=colour, font=font, anchor="lm")
        x += font.getlength(fitting)
