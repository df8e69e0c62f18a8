"""docs/reference/query-language.md: its examples are read and refused as it says."""

import re
from pathlib import Path

import pytest

from triseek.errors import InvalidQuery
from triseek.query.zoekt.parse import MOST_BYTES, MOST_DEPTH, parse
from triseek.query.zoekt.text import text_of
from triseek.query.zoekt.tokens import FIELDS

PAGE = Path(__file__).parents[3] / "docs/reference/query-language.md"
_CELL = r"(?:`` ?((?:[^`]|`(?!`))+?) ?``|`([^`]+)`)"
_ROW = re.compile(rf"^\| {_CELL} \| {_CELL} \|$")


def table(heading: str) -> list[tuple[str, str]]:
    """Return the rows of the table that follows a line."""
    _, after = PAGE.read_text("utf-8").split(f"{heading}\n|---|---|\n")
    rows = []
    for line in after.splitlines():
        match = _ROW.match(line)
        if match is None:
            break
        cells = [cell.replace(r"\|", "|") for cell in match.groups() if cell]
        rows.append((cells[0], cells[1]))
    return rows


READ = table("| query | is read as |")
REFUSED = table("| query | message |")


@pytest.mark.parametrize(("query", "written"), READ)
def test_example_is_read_as_the_page_says(query: str, written: str) -> None:
    assert text_of(parse(query)) == written


@pytest.mark.parametrize(("query", "message"), REFUSED)
def test_example_is_refused_as_the_page_says(query: str, message: str) -> None:
    with pytest.raises(InvalidQuery) as refused:
        parse(query)
    assert refused.value.message == message


def test_tables_are_whole() -> None:
    assert (len(READ), len(REFUSED)) == (13, 14)


def test_page_has_all_fields_and_limits() -> None:
    page = PAGE.read_text("utf-8")
    listed = re.findall(r"`([a-z]+[:.])`", page.split("| field |")[1].split("\n\n")[0])
    assert sorted(listed) == sorted(FIELDS)
    assert f"{MOST_BYTES:,} bytes, and at most {MOST_DEPTH} groups" in page
