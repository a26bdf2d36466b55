"""Whatever code, tests and docs refer to exists: pages, sections and quirks of the specification, links, files."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("agents", "docs", "envs", "evaluation", "native", "src", "tests", "training")
SUFFIXES = {".py", ".pyi", ".cpp", ".h", ".md", ".toml", ".txt"}

_NUMBER = r"\d+(?:\.\d+)*"
_QUIRK = r"[A-Z]?\d+"
_NEXT = r"(?:,? and |,? or | to |, )"
# What a citation consists of: a page, or the year (or name) of a paper; then sections or quirks of it.
_TOKEN = re.compile(
    rf"(?P<page>(?<![\w./-])docs/[\w./-]+\.md)|(?P<paper>\b(?:19|20)\d\d\b|\bProTuner\b)"
    rf"|(?:\b[Ss]ections? |§)(?P<sections>{_NUMBER}(?:{_NEXT}{_NUMBER})*)"
    rf"|\b[Qq]uirks? (?P<quirks>{_QUIRK}(?:{_NEXT}{_QUIRK})*)"
)
_CONNECTORS = {" ", ", ", " (", " and ", ", and "}
_DECLARATION = "Sections and quirks are those of "
_PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w./*-]*[\w/*]")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def faults(root: Path, file: Path) -> list[str]:
    """What the file refers to that is not there."""
    text = file.read_text(encoding="utf-8")
    found = []
    if file.suffix == ".md":
        prose = without_code(text)
        found += [fault for _, link in _LINK.findall(prose) for fault in link_faults(file, link)]
        text = _LINK.sub("", text)
    paths = _PATH.findall(commentary(file, text))
    found += [f"{path} does not exist" for path in paths if not exists(root, path)]
    found += citation_faults(root, file, joined(text))
    return [f"{file.relative_to(root)}: {fault}" for fault in found]


def exists(root: Path, path: str) -> bool:
    return any(root.glob(path)) if "*" in path else (root / path).exists()


def commentary(file: Path, text: str) -> str:
    """What is written for readers; the paths that code handles need not exist."""
    if file.suffix in (".cpp", ".h"):
        return "\n".join(re.findall(r"//.*", text))
    if file.suffix in (".py", ".pyi"):
        strings = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
        docstrings = [str(node.value) for node in strings if isinstance(node, ast.Constant)]
        return "\n".join([*docstrings, *re.findall(r"#.*", text)])
    return text if file.suffix == ".md" else ""


def without_code(markdown: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL))


def joined(text: str) -> str:
    """The text on one line, without the marks of comments."""
    return re.sub(r"\s*\n\s*(?:(?://|#:?)\s)?\s*", " ", text)


def link_faults(file: Path, link: str) -> Iterator[str]:
    if re.match(r"https?:|mailto:", link):
        return
    path, _, anchor = link.partition("#")
    target = file.parent / path if path else file
    if not target.exists():
        yield f"link to {link}: no such file"
    elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
        yield f"link to {link}: no such heading"


def anchors(markdown: str) -> set[str]:
    """The headings, as GitHub makes anchors of them."""
    prose = re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL)
    headings = [_LINK.sub(r"\1", heading) for heading in re.findall(r"^#+ +(.+?) *$", prose, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def citation_faults(root: Path, file: Path, text: str) -> Iterator[str]:
    """A section belongs to the page or paper named just before it, else to the page that the file declares."""
    pages = {page.name for page in (root / "docs" / "specification").glob("*.md")} - {"index.md"}
    for name in re.findall(rf"(?<![\w/.-])(?:{'|'.join(sorted(pages)) or '(?!)'})", text):
        yield f"{name} is cited without its path"
    is_specification = file.parent == root / "docs" / "specification"
    if file.suffix == ".md" and not is_specification:
        declared = None  # prose may speak of the sections of papers
    else:
        declarations = re.findall(rf"{_DECLARATION}(docs/[\w./-]+\.md)", text)
        declared = file if is_specification else root / declarations[0] if declarations else None
    source: Path | str | None = None
    end = -1
    for token in _TOKEN.finditer(text):
        is_continued = text[end : token.start()] in _CONNECTORS
        end = token.end()
        if token["page"]:
            source = root / token["page"]
            declared = source if text[: token.start()].endswith(_DECLARATION) else declared
        elif token["paper"]:
            source = token["paper"]
        else:
            source = source if is_continued and source else declared
            if source is None and file.suffix != ".md":
                yield f"{token[0]}: of which page?"
            if isinstance(source, Path):
                yield from missing(source, token)


def missing(page: Path, token: re.Match[str]) -> Iterator[str]:
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    for number in re.findall(_NUMBER, token["sections"] or ""):
        if not re.search(rf"^#+ {re.escape(number)}\.? ", text, re.MULTILINE):
            yield f"{page.name} has no section {number}"
    for quirk in re.findall(_QUIRK, token["quirks"] or ""):
        if not re.search(rf"^(?:\* \*\*{quirk} |\| {quirk} \||{quirk}\. )", text, re.MULTILINE):
            yield f"{page.name} has no quirk {quirk}"


def text_files() -> list[Path]:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.suffix in SUFFIXES]
    files += [file for file in ROOT.iterdir() if file.suffix in SUFFIXES or file.name == "Makefile"]
    return sorted(file for file in files if file != Path(__file__).resolve())  # its examples are wrong on purpose


def test_whatever_is_referred_to_exists() -> None:
    assert [fault for file in text_files() for fault in faults(ROOT, file)] == []


def test_the_specification_is_cited() -> None:
    """The search finds citations at all, those across lines and those by declaration included."""
    cited = "\n".join(joined(file.read_text(encoding="utf-8")) for file in text_files() if file.suffix != ".md")
    assert len(re.findall(r"docs/specification/[\w-]+\.md, sections? \d", cited)) > 50
    assert len(re.findall(_DECLARATION, cited)) > 20


PAGE = """# A page

## 1. First

### 1.2 The `second` one: with *marks*

## 2. Quirks

* **Q3 Third.** An oddity.
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in ("docs/specification", "docs/how-to", "native"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs/specification/page.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "native/file.h").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("native/a.h", "// As in docs/specification/page.md, sections 1 and 1.2,\n// quirk Q3.", []),
        ("native/a.h", "// By Doe 2001, section 9, and (docs/specification/page.md,\n// section 1.2).", []),
        ("native/a.h", "// docs/specification/pages.md, section 1.", ["docs/specification/pages.md does not exist",
                                                                      "pages.md has no section 1"]),
        ("native/a.h", "// docs/specification/page.md, sections 1, 1.2\n    // and 1.3.", ["page.md has no section 1.3"]),
        ("native/a.h", "// docs/specification/page.md, quirk Q4", ["page.md has no quirk Q4"]),
        ("native/a.h", "// page.md, section 1", ["page.md is cited without its path", "section 1: of which page?"]),
        ("native/a.h", "int a;  // section 1.2", ["section 1.2: of which page?"]),
        ("native/a.h", "// See Sections 1 and\n// 5.", ["Sections 1 and 5: of which page?"]),
        ("native/a.h", "// Sections and quirks are those of\n// docs/specification/page.md.\n// section 1.2", []),
        ("native/a.h", "// Sections and quirks are those of docs/specification/page.md.\n// (section 3)",
         ["page.md has no section 3"]),
        ("native/a.py", '"""Like native/file.h, `native/*.h` and native/none.h."""', ["native/none.h does not exist"]),
        ("native/a.py", 'PATH = "native/new.h"  # not native/old.h', ["native/old.h does not exist"]),
        ("native/a.cpp", 'open("native/new.h");  // not native/old.h', ["native/old.h does not exist"]),
        ("docs/how-to/a.md", "[one](../specification/page.md#12-the-second-one-with-marks), [two](../specification/)", []),
        ("docs/how-to/a.md", "# Top\n[one](#top), [two](https://example.org/none.md), `[three](none.md)`", []),
        ("docs/how-to/a.md", "[one](none.md)", ["link to none.md: no such file"]),
        ("docs/how-to/a.md", "[one](../specification/page.md#third)",
         ["link to ../specification/page.md#third: no such heading"]),
        ("docs/how-to/a.md", "[one](#third)", ["link to #third: no such heading"]),
        ("docs/specification/other.md", "## 4. Fourth\nSee §4, [page.md §1.2](page.md#1-first), section 4.1.",
         ["other.md has no section 4.1"]),
    ],
)  # fmt: skip
def test_wrong_references_are_found(repository: Path, name: str, text: str, expected: list[str]) -> None:
    file = repository / name
    file.write_text(text, encoding="utf-8")
    assert faults(repository, file) == [f"{name}: {fault}" for fault in expected]


def test_each_file_of_results_is_named_by_a_page() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    results = [*(ROOT / "docs/results").rglob("*.*"), *(ROOT / "docs/training/curves").iterdir()]
    unnamed = [
        str(file.relative_to(ROOT)) for file in results if not re.search(rf"(?<![\w-]){re.escape(file.name)}", pages)
    ]
    assert not unnamed, "results that no page leads to"
