"""Pictures as SVG, to stand in a page or in a file of their own."""

from __future__ import annotations

from html import escape
from itertools import count

from halidegym.envs.views.drawing import Box, Picture, Text

_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"


def to_svg(picture: Picture, name: str = "nest") -> str:
    """Return the picture as an `<svg>` element; `name` is a prefix of ids, other for each picture of a page."""
    clips = (f"{name}-{number}" for number in count())
    shapes = "".join(_box(s) if isinstance(s, Box) else _text(s, next(clips)) for s in picture.shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width:g} {picture.height:g}" '
        f'width="{picture.width:g}" height="{picture.height:g}" font-family="{_FONT}">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{shapes}</svg>'
    )


def _box(box: Box) -> str:
    title = f"<title>{escape(box.title)}</title>" if box.title else ""
    stroke = f' stroke="{box.outline}"' if box.outline else ""
    corners = ' rx="4"' if box.outline else ""
    place = f'x="{box.x:.4g}" y="{box.y:.6g}" width="{box.width:.4g}" height="{box.height:.5g}"'
    return f'<rect {place} fill="{box.fill}"{stroke}{corners}>{title}</rect>'


def _text(text: Text, clip: str) -> str:
    runs = "".join(f'<tspan fill="{colour}">{escape(run)}</tspan>' for run, colour in text.runs if run)
    top, height = text.y - text.size, 2 * text.size
    room = f'<rect x="{text.x:.4g}" y="{top:.6g}" width="{text.width:.4g}" height="{height:g}"/>'
    return (
        f'<clipPath id="{clip}">{room}</clipPath>'
        f'<text x="{text.x:.4g}" y="{text.y:.6g}" font-size="{text.size:g}" dominant-baseline="central" '
        f'xml:space="preserve" clip-path="url(#{clip})">{runs}</text>'
    )
