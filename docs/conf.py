"""The documentation site: `make docs` builds it from the Markdown of this folder and from docstrings."""

from __future__ import annotations

import inspect
import pkgutil
import posixpath
import re

import click
from docutils import nodes
from docutils.utils import new_document
from myst_parser.parsers.sphinx_ import MystParser
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import halidegym

project = "halidegym"
author = "The halidegym contributors"
project_copyright = f"2026, {author}"
version = release = halidegym.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "sphinx_copybutton"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_title = f"halidegym {release}"
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = "$ "

myst_heading_anchors = 6
myst_enable_extensions = ["fieldlist"]
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
smartquotes = False  # of `--option`, they would make a dash
default_role = "code"  # of the help of commands
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # errors are public in two modules

_DOCSTRING = re.compile(r"^<!-- docstring: (\S+) -->$", re.MULTILINE)
_VERBATIM = re.compile(r"\x08\n(.*?)(?=\n\n|\Z)", re.DOTALL)
_LINK = re.compile(r"\]\(([\w-]+)\.md\)")
_FOLDER = "\n```{toctree}\n:hidden:\n\n%s\n```\n"
_MORE = "\n```{toctree}\n:caption: More\n:hidden:\n\n%s\n```\n"


class Markdown(SphinxDirective):
    """Docstrings are Markdown, below fields of reStructuredText that MyST reads, too."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the content as nodes, which autodoc takes for its own."""
        document = new_document(self.get_source_info()[0], self.state.document.settings)
        MystParser().parse("\n".join(self.content), document)
        return document.children


def _complete_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put docstrings where a page asks for them, the pages of a folder below its index, and what the front page forgets."""
    source[0] = _DOCSTRING.sub(lambda found: inspect.cleandoc(pkgutil.resolve_name(found[1]).__doc__), source[0])
    if docname.endswith("/index"):
        folder = posixpath.dirname(docname)
        pages = {posixpath.basename(page) for page in app.env.found_docs if posixpath.dirname(page) == folder} - {
            "index"
        }
        linked = [page for page in dict.fromkeys(_LINK.findall(source[0])) if page in pages]
        source[0] += _FOLDER % "\n".join([*linked, *sorted(pages.difference(linked))])
    elif docname == "index":
        mentioned = {line.removeprefix("/") for line in source[0].splitlines()} | {"index"}
        source[0] += _MORE % "\n".join(sorted(_roots(app.env.found_docs) - mentioned))


def _roots(pages: set[str]) -> set[str]:
    """The pages that no folder's index has below it."""
    return {page for page in pages if f"{posixpath.dirname(page)}/index" not in pages - {page}}


def _as_markdown(app: Sphinx, what: str, name: str, documented: object, options: object, lines: list[str]) -> None:
    """Of docstrings that are pages, keep what comes before their first heading: the pages stand elsewhere."""
    if "## Description" in lines:
        del lines[lines.index("## Description") :]
    lines[:] = [".. markdown::", "", *(f"   {line}" for line in lines), ""] if lines else []


def _help_as_markdown(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """The help of a command, in which paragraphs that click leaves as they are become blocks."""
    text = _VERBATIM.sub(r"```text\n\1\n```", inspect.cleandoc(context.command.help or ""))
    lines[:] = [".. markdown::", "", *(f"   {line}" for line in text.splitlines()), ""]


def _help_as_it_is(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """The help of options, in which nothing but backticks is markup, and sphinx-click's word that one is required."""
    for index, line in enumerate(lines):
        if line.startswith("    ") and line.strip()[:1] != ":":
            required, line = re.fullmatch(r"( *(?:\*\*Required\*\*)?)(.*)", line).groups()
            parts = line.split("`")
            parts[::2] = [re.sub(r"([*_|])", r"\\\1", part) for part in parts[::2]]
            lines[index] = required + "`".join(parts)


def setup(app: Sphinx) -> None:
    """Tell Sphinx of the above."""
    app.add_lexer("arrows", TextLexer)
    app.add_directive("markdown", Markdown)
    app.connect("source-read", _complete_page)
    app.connect("sphinx-click-process-description", _help_as_markdown)
    app.connect("sphinx-click-process-options", _help_as_it_is)
    app.connect("autodoc-process-docstring", _as_markdown, priority=900)
