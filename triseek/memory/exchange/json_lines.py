"""Reads lines of JSON from a file of any content."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from triseek.agents import jsonl
from triseek.model.conversation import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.payloads.fields import Fields


def objects(file: BinaryIO) -> Iterator[tuple[str, Fields | Unreadable]]:
    """Yield the objects of the lines, with the names of the lines: `line 12`.

    Blank lines are left out. A line that is too long or no JSON object is an `Unreadable`. The last
    line needs no line end.
    """
    number = 0
    while line := file.readline(jsonl.LINE_MAX + 1):
        number += 1
        where = f"line {number:,}"
        if len(line) > jsonl.LINE_MAX:
            while not line.endswith(b"\n") and (line := file.readline(jsonl.LINE_MAX)):
                pass
            yield where, Unreadable(where=where, reason="longer than 32 MiB")
            continue
        value = jsonl.parsed_line(line, where)
        if value is not None:
            yield where, value
