"""Drawing without a display; matplotlib comes with the extra `bench`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halidegym.native._core import Error, InvalidParameter
from halidegym.native.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LONGEST_LABEL = 64  # characters


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure.

    Args:
        width: in inches.
        height: in inches.

    Raises:
        Error: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise Error("The plot needs matplotlib: pip install halidegym[bench]") from error
    return Figure(figsize=(width, height), layout="constrained")


def check_plot_file(path: Path) -> None:
    """Refuse a file that no figure could be saved as, before the work for it.

    Raises:
        InvalidParameter: its ending names no format that there is.
        Error: matplotlib is not installed.
    """
    formats = new_figure(1, 1).canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise InvalidParameter(f"{path} has the ending of no plot; give it one of {', '.join(sorted(formats))}")


def plain_label(name: str) -> str:
    """A name as the label that shows it: dollars begin no formula, and an underscore does not hide it from the legend.

    Of a long one, such as a path, the middle is left out: it would take the room of the plot itself.
    """
    if len(name) > _LONGEST_LABEL:
        half = _LONGEST_LABEL // 2
        name = f"{name[: half - 1]}…{name[-half:]}"
    return (" " if name.startswith("_") else "") + name.replace("$", r"\$")


def save_svg(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, the same bytes for the same drawing, and make its folder.

    Raises:
        OSError: the file cannot be written; what was there stays.
    """
    import matplotlib as mpl

    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "halidegym", "svg.fonttype": "none"}), fonts_of_readers():
        save_figure(figure, path, metadata={"Date": None})


@contextmanager
def fonts_of_readers() -> Iterator[None]:
    """Measure and draw without a warning for each letter that no font here has.

    In an SVG, text stays text, which is shown in whatever font the reader has.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # "current font" or "font(s) ..."
        yield


def save_figure(figure: Figure, path: Path, **options: Any) -> None:
    """Write a figure in the format that the file's ending names, as a whole or not at all.

    Args:
        figure: to write.
        path: of the file.
        options: of `Figure.savefig`.

    Raises:
        OSError: the file cannot be written; what was there stays.
    """
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower(), **options)
    write_atomically(path, drawn.getvalue())
