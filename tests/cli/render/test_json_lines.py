"""`--json`: ripgrep's messages."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.render.rendering import Kept, found_in
from tests.cli.running import rg, triseek
from triseek.cli.render.json_lines import JsonLines, data
from triseek.cli.render.style import OutputStyle
from triseek.errors import Cancelled
from triseek.model import budget

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_is_written_for_a_client_that_has_gone() -> None:
    def ask() -> None:
        raise Cancelled("the client has gone")

    with budget.limited(ask=ask), pytest.raises(Cancelled):
        JsonLines(OutputStyle(path=True, stats=True), Kept()).file(
            found_in(b"x\n" * 9, list(range(9)))
        )


def test_a_file_is_begin_its_rows_and_end() -> None:
    out = Kept()
    JsonLines(OutputStyle(path=True, line_number=True), out).file(found_in(b"ax xx\nb\n", [0, 1]))

    messages = [json.loads(line) for line in out.all().splitlines()]
    assert [message["type"] for message in messages] == ["begin", "match", "context", "end"]
    assert messages[1]["data"]["submatches"] == [
        {"match": {"text": "x"}, "start": 1, "end": 2},
        {"match": {"text": "xx"}, "start": 3, "end": 5},
    ]
    assert messages[3]["data"]["stats"]["matches"] == 2
    assert messages[3]["data"]["stats"]["matched_lines"] == 1


def test_what_is_not_utf8_is_base64() -> None:
    assert json.loads(data("é\n\0".encode())) == {"text": "é\n\0"}
    assert json.loads(data(b"\xff")) == {"bytes": "/w=="}


@pytest.mark.rg
@pytest.mark.usefixtures("needs_rg")
def test_quiet_json_still_ends_with_its_summary(tree: Path) -> None:
    mine, its = triseek(["--json", "-q", "needle"], tree), rg(["--json", "-q", "needle"], tree)

    figures = rb'"(?:matches|matched_lines|searches_with_match|bytes_printed)":\d+'
    assert re.findall(figures, mine.out) == re.findall(figures, its.out)
    assert mine.out.count(b"\n") == its.out.count(b"\n") == 1
