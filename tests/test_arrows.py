"""Imports follow the arrows that docs/architecture.md draws: in Python and C++, between rooms and inside of them."""

from __future__ import annotations

import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import arrows
from arrows import File

ROOT = Path(__file__).parents[1]
DRAWINGS = arrows.read_drawings((ROOT / "docs/architecture.md").read_text())


@pytest.fixture(scope="module")
def imports() -> arrows.Imports:
    return arrows.read_imports(ROOT)


def test_the_house_and_its_rooms_are_drawn() -> None:
    assert {"", "agents", "envs", "evaluation", "native"} <= set(DRAWINGS)


@pytest.mark.parametrize("folder", DRAWINGS)
def test_imports_follow_the_arrows(folder: str, imports: arrows.Imports) -> None:
    assert arrows.against_the_arrows(folder, DRAWINGS[folder], imports) == []


@pytest.mark.parametrize("folder", DRAWINGS)
def test_what_is_drawn_exists(folder: str, imports: arrows.Imports) -> None:
    assert arrows.unused_names(folder, DRAWINGS[folder], imports) == set()


def test_no_files_import_each_other_in_a_circle(imports: arrows.Imports) -> None:
    assert arrows.circle(imports) == []


def test_headers_of_halide_are_included_in_their_room_alone(imports: arrows.Imports) -> None:
    including = {
        file
        for file in imports
        if file.suffix in (".h", ".cpp") and re.search(r'#\s*include [<"]Halide\.h', (ROOT / file).read_text())
    }
    outside = {file for file in including if file.parts[1] != "halide"}
    assert including - outside
    assert all(file.match("native/bindings/halide_*.cpp") for file in outside)


# What the runtime of an environment that measures nothing takes.

SCRIPT = """
import sys, gymnasium
assert "torch" not in sys.modules
import halidegym
for name in ("HalideSchedule-v0", "SyntheticTree-v0", "TransformPlan-v0"):
    env = gymnasium.make(name)
    env.reset(seed=0)
    terminated = False
    while not terminated:
        _, _, terminated, _, _ = env.step(env.action_space.sample())
print(*sys.modules)
"""


def test_an_environment_that_never_measures_loads_neither_compiler_nor_clock() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "halidegym.envs.halide_schedule" in loaded
    rooms = r"halidegym\.(envs\.(timing|processes)|envs\.rewards\.hardware|agents|training|evaluation)\b|torch\b"
    assert [name for name in loaded if re.match(rooms, name)] == []


# The checker itself, on a repository that is made up.

PAGE = """
```arrows
evaluation -> envs -> native
halidegym -> envs

envs:    * -> rewards -> timing
         * -> problems
native:  search -> problem
         _core
         runner
```
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    write(tmp_path, "src/halidegym/__init__.py", "")
    write(tmp_path, "evaluation/cli.py", "from halidegym.envs import env")
    write(tmp_path, "envs/__init__.py", "from halidegym.envs.rewards import base")
    write(tmp_path, "envs/env.py", "import halidegym.envs.timing.clock\nfrom halidegym.envs.problems.problem import P")
    write(tmp_path, "envs/rewards/base.py", "def f():\n    from halidegym.envs.timing import clock")
    write(tmp_path, "envs/timing/clock.py", "from halidegym.native._core import Error\nimport numpy")
    write(tmp_path, "envs/problems/problem.py", "")
    write(tmp_path, "native/_core.pyi", "")
    write(tmp_path, "native/search/beam.h", '#include <vector>\n#include "problem/problem.h"\n#include "queue.h"')
    write(tmp_path, "native/search/queue.h", "")
    write(tmp_path, "native/problem/problem.h", "")
    write(tmp_path, "native/runner/main.cpp", "")
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def faults(root: Path) -> list[str]:
    drawings, imports = arrows.read_drawings(PAGE), arrows.read_imports(root)
    return [
        fault for folder, drawing in drawings.items() for fault in arrows.against_the_arrows(folder, drawing, imports)
    ]


def test_arrows_lead_on() -> None:
    assert arrows.read_drawings(PAGE) == {
        "": {"evaluation": {"envs", "native"}, "halidegym": {"envs", "native"}, "envs": {"native"}, "native": set()},
        "envs": {"*": {"rewards", "timing", "problems"}, "rewards": {"timing"}, "timing": set(), "problems": set()},
        "native": {"search": {"problem"}, "problem": set(), "_core": set(), "runner": set()},
    }


def test_imports_along_the_arrows_are_right(repository: Path) -> None:
    assert faults(repository) == []


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("envs/env.py", "from halidegym.evaluation.cli import main", "envs/env.py imports evaluation/cli.py"),
        ("envs/env.py", "import halidegym", "from envs to halidegym"),
        ("envs/timing/clock.py", "from halidegym.envs import env", "from timing to *"),
        ("envs/timing/clock.py", "from halidegym.envs.rewards.base import f", "from timing to rewards"),
        ("envs/timing/clock.py", "def f():\n    import halidegym.envs.rewards.base", "from timing to rewards"),
        ("envs/problems/problem.py", "from halidegym.envs.timing.clock import now", "from problems to timing"),
        ("native/problem/problem.h", '#include "search/beam.h"', "from problem to search"),
        ("native/problem/problem.h", '#include "../search/beam.h"', "from problem to search"),
        ("native/runner/main.cpp", '#include "problem/problem.h"', "from runner to problem"),
        ("envs/fresh/new.py", "", "envs/fresh/new.py lies in fresh, which is not drawn"),
    ],
)
def test_an_import_against_the_arrows_is_found(repository: Path, file: str, text: str, fault: str) -> None:
    write(repository, file, text)
    (found,) = faults(repository)
    assert fault in found


def test_a_circle_inside_of_a_room_is_found(repository: Path) -> None:
    assert arrows.circle(arrows.read_imports(repository)) == []
    write(repository, "native/search/queue.h", '#include "search/beam.h"')
    assert set(arrows.circle(arrows.read_imports(repository))) == {
        File("native/search/beam.h"),
        File("native/search/queue.h"),
    }


def test_arrows_in_a_circle_are_found() -> None:
    with pytest.raises(graphlib.CycleError):
        arrows.read_drawings("```arrows\nenvs -> agents\nagents -> envs\n```\n")


def test_a_name_that_stands_for_nothing_is_found(repository: Path) -> None:
    (repository / "envs/timing/clock.py").unlink()
    write(repository, "envs/rewards/base.py", "")
    write(repository, "envs/env.py", "")
    drawing = arrows.read_drawings(PAGE)["envs"]
    assert arrows.unused_names("envs", drawing, arrows.read_imports(repository)) == {"timing"}
