"""Which files an agent of one's own is made of."""

from __future__ import annotations

from pathlib import Path

from halidegym.evaluation.benchmark.agent_code import agent_code
from halidegym.evaluation.benchmark.agent_sources import sources_of
from halidegym.evaluation.benchmark.suite import AgentSettings

AGENT = """
import json, numpy
import tools.deep
from constants import WIDTH
from halidegym.agents import Greedy

class Mine(Greedy):
    def later(self):
        import late
"""

FILES = {
    "mine.py": AGENT,
    "constants.py": "import mine\nWIDTH = 3\n",
    "late.py": "from . import nothing\n",
    "tools/__init__.py": "",
    "tools/deep.py": "from .other import name\nfrom tools import sibling\nimport constants\n",
    "tools/other.py": "name = 1\n",
    "tools/sibling.py": "",
    "unused.py": "",
}


def write(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def names(folder: Path, file: str) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in sources_of(folder / file)}


def test_modules_beside_a_file_are_followed(tmp_path: Path) -> None:
    write(tmp_path)
    assert names(tmp_path, "mine.py") == set(FILES) - {"unused.py"}


def test_of_what_is_installed_only_the_own_package_counts(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    write(folder)
    assert names(folder, "mine.py") == {"mine.py"}
    assert names(folder, "tools/deep.py") == {f"tools/{name}.py" for name in ("__init__", "deep", "other", "sibling")}


def test_an_edited_module_is_another_version_of_the_agent(tmp_path: Path) -> None:
    (tmp_path / "own_mine.py").write_text(AGENT.replace("import tools.deep", "").replace("constants", "own_constants"))
    (tmp_path / "own_constants.py").write_text("WIDTH = 3\n")
    settings = AgentSettings(agent=f"{tmp_path}/own_mine.py:Mine")
    before = agent_code(settings)
    (tmp_path / "own_constants.py").write_text("WIDTH = 4\n")
    assert agent_code(settings) != before
