"""What pages of the manual ask their readers to type: Python, with what it prints, and commands."""

from __future__ import annotations

import inspect
import pkgutil
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_DOCSTRING = re.compile(r"^<!-- docstring: (\S+) -->$", re.MULTILINE)
_FILE = re.compile(r"`([\w-]+\.py)`:\n\n\Z")
_PROMPTED = re.compile(r"^\$ ((?:.*\\\n)*.*)", re.MULTILINE)
_FENCED = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
_COMMAND = re.compile(r"^ *(halidegym (?:.*\\\n)*.*)", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        language: "python" or "console".
        text: of the block.
        output: what the page says that it prints; None if it does not say.
        file: where the reader is asked to save it; None if nowhere.
    """

    language: str
    text: str
    output: str | None
    file: str | None


def source_of(page: Path) -> str:
    """The Markdown of a page, with the docstrings that the site puts into it."""
    text = page.read_text(encoding="utf-8")
    return _DOCSTRING.sub(lambda found: inspect.cleandoc(pkgutil.resolve_name(found[1]).__doc__ or ""), text)


def name_of(page: Path) -> str:
    """The path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(markdown: str) -> list[Block]:
    """The blocks of Python and of prompts, in order."""
    found = []
    for match in _BLOCK.finditer(markdown):
        named = _FILE.search(markdown[: match.start()])
        found.append(Block(match[1], match[2], match[3], named[1] if named else None))
    return found


def prompts(block: Block) -> list[str]:
    """The commands behind the prompts of a block."""
    return _PROMPTED.findall(block.text)


def halidegym_commands(markdown: str) -> list[list[str]]:
    """The arguments of all calls of `halidegym` that stand in blocks."""
    lines = [prompt for block in blocks(markdown) if block.language == "console" for prompt in prompts(block)]
    others = _BLOCK.sub("", markdown)
    for text in [*_FENCED.findall(others), *_INDENTED.findall(_FENCED.sub("", others))]:
        lines += _COMMAND.findall(text)
    calls = [shlex.split(line.replace("\\\n", " "), comments=True) for line in lines if line.startswith("halidegym ")]
    return [call[1 : call.index("|") if "|" in call else None] for call in calls]
