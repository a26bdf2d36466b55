"""What pages of the manual ask their readers to type: Python, with what it prints, commands, and files to save."""

from __future__ import annotations

import inspect
import itertools
import pkgutil
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halidegym import agents

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(
    r"^```(?P<language>\S*)\n(?P<fenced>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?"
    r"|(?<=\n\n)(?P<indented>(?:^    [^\n]*\n)+)",
    re.MULTILINE | re.DOTALL,
)
_DOCSTRING = re.compile(r"^<!-- docstring: (\S+) -->$", re.MULTILINE)
_FILE = re.compile(r"`([\w-]+\.(py|yaml|cpp))`(?:(?!\n\n).)*\n\n\Z", re.DOTALL)
_SUFFIXES = {"python": "py", "yaml": "yaml", "cpp": "cpp"}
_PROMPTED = re.compile(r"^\$ ((?:.*\\\n)*.*)\n?((?:(?!\$ ).*\n)*)", re.MULTILINE)
_CALL = re.compile(r"^(\w+)\((.*?)\)$", re.MULTILINE | re.DOTALL)
# How commands begin in blocks without prompts.
_COMMAND = re.compile(r"(?:halidegym|pipx?|pytest|make|python|ray|export|g\+\+|\./\w+) |\w+=\$\(")
# In prose, what has arguments, none of which stands for something else: RUN, N, or "...". The others name a command.
_GROUPS = "train|reproduce|samples|transform"
_NAME = rf"halidegym\s(?:(?:{_GROUPS})\s[a-z0-9-]+|(?!{_GROUPS})[a-z-]+)"
_IN_PROSE = re.compile(rf"`({_NAME}\s(?:(?!\b[A-Z]+\b|\.\.\.)[^`])+)`")


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        language: "python", "console", or that of a file.
        text: of the block; commands stand behind prompts.
        output: what the page says that it prints; None if it does not say.
        file: where the reader is asked to save it; None if nowhere.
    """

    language: str
    text: str
    output: str | None
    file: str | None


@dataclass(frozen=True)
class Command:
    """A command, on one line and without comments, and the lines that the page says it prints."""

    text: str
    output: Sequence[str]


def source_of(page: Path) -> str:
    """The Markdown of a page, with the docstrings that the site puts into it."""
    text = page.read_text(encoding="utf-8")
    return _DOCSTRING.sub(lambda found: inspect.cleandoc(pkgutil.resolve_name(found[1]).__doc__ or ""), text)


def name_of(page: Path) -> str:
    """The path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(markdown: str) -> list[Block]:
    """The blocks of Python, of commands, and of files, in order; a command in prose is one of its own."""
    found: list[Block] = []
    end = 0
    for match in _BLOCK.finditer(markdown):
        found += _in_prose(markdown[end : match.start()])
        end = match.end()
        language, text = match["language"] or "", match["fenced"] or inspect.cleandoc(match["indented"] or "") + "\n"
        named = _FILE.search(markdown[: match.start()])
        file = named[1] if named and named[2] == _SUFFIXES.get(language) else None
        if not language and _COMMAND.match(text):
            language, text = "console", _with_prompts(text)
        if language in ("python", "console") or file:
            found.append(Block(language, text, match["output"], file))
    return found + _in_prose(markdown[end:])


def _in_prose(markdown: str) -> list[Block]:
    return [Block("console", f"$ {' '.join(text.split())}\n", None, None) for text in _IN_PROSE.findall(markdown)]


def commands(block: Block) -> list[Command]:
    """The commands of a block."""
    return [Command(_one_line(text), output.splitlines()) for text, output in _PROMPTED.findall(block.text)]


def is_signature(block: Block) -> bool:
    """Whether a block shows nothing but the parameters of agents, which is no program."""
    is_of_agents = all(name in agents.__all__ for name, _ in shown_calls(block))
    return block.language == "python" and is_of_agents and not _CALL.sub("", block.text).strip()


def shown_calls(block: Block) -> list[tuple[str, str]]:
    """Names and arguments of the calls that a block consists of."""
    return _CALL.findall(block.text)


def halidegym_commands(markdown: str) -> list[list[str]]:
    """The arguments of all calls of `halidegym` that stand in blocks."""
    texts = [each.text for block in blocks(markdown) if block.language == "console" for each in commands(block)]
    calls = [shlex.split(text) for text in texts if text.startswith("halidegym ")]
    return [call[1 : call.index("|") if "|" in call else None] for call in calls]


def _with_prompts(text: str) -> str:
    """A block without prompts, each line of which is a command, goes on with one, or is printed."""
    return re.sub(rf"^(?={_COMMAND.pattern})", "$ ", text, flags=re.MULTILINE)


def _one_line(command: str) -> str:
    return " ".join(re.sub(r"\s# .*", "", command).replace("\\\n", " ").split())


def tables(text: str, *headings: str) -> list[list[list[str]]]:
    """The rows, as cells, of each table with these headings."""
    _, *found = text.split("".join(f"| {heading} ".replace("  ", " ") for heading in headings) + "|\n")
    rows = [itertools.takewhile(lambda line: line.startswith("|"), rest.splitlines()[1:]) for rest in found]
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in table] for table in rows]


def names_in(cells: Sequence[str]) -> list[str]:
    """The names that cells have between backticks."""
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
