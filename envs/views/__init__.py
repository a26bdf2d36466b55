"""Loop nests and decisions as people read them: in words, and as pictures."""

from halidegym.envs.views.drawing import Picture, draw_nest
from halidegym.envs.views.outline import Level, outline
from halidegym.envs.views.raster import to_array
from halidegym.envs.views.svg import to_svg
from halidegym.envs.views.words import decision_words, nest_words, status_words

__all__ = [
    "Level",
    "Picture",
    "decision_words",
    "draw_nest",
    "nest_words",
    "outline",
    "status_words",
    "to_array",
    "to_svg",
]
