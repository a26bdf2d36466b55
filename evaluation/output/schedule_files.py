"""Schedules as files of source: a header for generators in C++, or a module in Python."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from halidegym.envs.schedules.schedule import Schedule, check_function_name
from halidegym.evaluation.output.best_schedules import Best


def default_function(schedule: Schedule) -> str:
    """What the function of a schedule is called if nobody says otherwise."""
    return "schedule_" + re.sub(r"\W", "_", schedule.problem.name, flags=re.ASCII)


def is_module(path: Path) -> bool:
    """Whether a file is a module in Python, and no header in C++."""
    return path.suffix == ".py"


def function_names(function: str, count: int) -> list[str]:
    """Names for so many schedules: the best has the name itself, the others are numbered from 2.

    Raises:
        InvalidParameter: it is no name of a function.
    """
    return [check_function_name(function), *(f"{function}_{number}" for number in range(2, count + 1))]


def source_file(path: Path, schedules: Sequence[Best], function: str) -> str:
    """The content of a file in the language of its ending.

    Args:
        path: of the file.
        schedules: best first.
        function: name of the first one's function.
    """
    write = _python if is_module(path) else _cpp
    names = function_names(function, len(schedules))
    return write(path, [(name, best.words, best.schedule) for name, best in zip(names, schedules, strict=True)])


def how_to_call(path: Path, function: str) -> str:
    """What to do with the file, in a line."""
    if is_module(path):
        return f"from {path.stem} import {function}; {function}(pipeline)"
    name = os.fsencode(path.name).decode(errors="replace")  # sources are UTF-8, whatever names of files are here
    return f'#include "{name}", and {function}(get_pipeline()) at the end of generate()'


def _about(schedule: Schedule) -> str:
    problem = schedule.problem
    return f"{problem.name} for {problem.parallelism} cores, {problem.target}; found by halidegym."


def _cpp(path: Path, schedules: Sequence[tuple[str, str, Schedule]]) -> str:
    guard = re.sub(r"\W", "_", path.name, flags=re.ASCII).upper()
    first, _, best = schedules[0]
    functions = "\n".join(f"// {words}\ninline {schedule.cpp(function=name)}" for name, words, schedule in schedules)
    return (
        f"// Schedules {_about(best)}\n"
        f"// In a generator: {how_to_call(path, first)}.\n"
        f"#ifndef HALIDEGYM_{guard}\n#define HALIDEGYM_{guard}\n\n"
        f'#include "Halide.h"\n\n{functions}\n#endif  // HALIDEGYM_{guard}\n'
    )


def _python(path: Path, schedules: Sequence[tuple[str, str, Schedule]]) -> str:
    first, _, best = schedules[0]
    functions = []
    for name, words, schedule in schedules:
        imports, _, function = schedule.python(function=name).partition("\n\n\n")
        head, _, body = function.partition("\n")
        functions.append(f'{head}\n    """{words}."""\n{body.rstrip()}\n')
    about = f'"""Schedules {_about(best)}\n\n{how_to_call(path, first)}\n"""\n\n'
    return about + imports + "\n\n\n" + "\n\n".join(functions)
