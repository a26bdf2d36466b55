"""The documentation site is built without a warning, and has a page for whatever a reader looks for there."""

from __future__ import annotations

import posixpath
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import pytest
from gymnasium.envs.registration import load_env_creator
from sphinx.util.inventory import InventoryFile

import halidegym
from halidegym import agents

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-d",
        f"{folder}/doctrees",
        DOCS,
        folder / "html",
    ]
    run = subprocess.run(build, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return folder / "html"


def test_every_page_is_built(site: Path) -> None:
    pages = [page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")]
    assert len(pages) > 50
    assert [page for page in pages if not (site / page).exists()] == []


def test_docstrings_are_rendered_as_markdown(site: Path) -> None:
    reference = (site / "api" / "agents.html").read_text(encoding="utf-8")
    assert '<code class="docutils literal notranslate"><span class="pre">search_space</span></code>' in reference
    assert ">Raises<" in reference


def test_required_options_are_marked(site: Path) -> None:
    commands = (site / "command-line.html").read_text(encoding="utf-8")
    assert "<strong>Required</strong>" in commands
    assert "**Required**" not in commands


def test_public_names_are_in_the_reference(site: Path) -> None:
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", posixpath.join)
    documented = {name for kind in inventory.values() for name in kind}
    public = {
        f"{module.__name__}.{name}"
        for module in (halidegym, agents)
        for name in module.__all__
        if not isinstance(getattr(module, name), ModuleType)
    }
    assert public - documented == set()


@pytest.mark.parametrize("name", [name for name in gym.registry if "halidegym" in str(gym.registry[name].entry_point)])
def test_every_environment_has_a_page_of_its_docstring(name: str) -> None:
    creator = load_env_creator(str(gym.registry[name].entry_point))
    marker = f"<!-- docstring: {creator.__module__}.{creator.__qualname__} -->"
    (page,) = [page for page in DOCS.glob("environments/*.md") if page.read_text().startswith(f"# {name}\n")]
    assert marker in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in agents.__all__ if isinstance(getattr(agents, name), type)])
def test_every_agent_has_a_page(name: str) -> None:
    if issubclass(getattr(agents, name), agents.Agent) and name != "Agent":
        assert f"[`{name}`](" in (DOCS / "agents" / "index.md").read_text(encoding="utf-8")
