"""`halidegym tables`: the results in Markdown pages, from their CSV files."""

from __future__ import annotations

from pathlib import Path

import click

from halidegym.evaluation.output.pages import read_page, with_tables
from halidegym.native._core import FormatError
from halidegym.native.files import write_atomically


@click.command()
@click.argument("pages", metavar="PAGE...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--check", is_flag=True, help="Change nothing; the exit status is 1 if a page is not as its files say.")
def tables(pages: tuple[Path, ...], check: bool) -> None:
    """Make the tables in Markdown pages anew from the CSV files that the pages name.

    A PAGE is a file, or a folder whose pages are all meant, those in folders below it as well.
    """
    differ = False
    for page in sorted({path for given in pages for path in (given.rglob("*.md") if given.is_dir() else [given])}):
        old = read_page(page)
        try:
            new = with_tables(old, page.parent)
        except FormatError as error:
            raise FormatError(f"{page}: {error}") from error
        if new == old:
            continue
        differ = True
        click.echo(f"{page} is not as its files say" if check else f"{page} was made anew")
        if not check:
            write_atomically(page, new.encode())
    if check and differ:
        raise SystemExit(1)
