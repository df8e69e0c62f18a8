"""Search as anyone would write it: `re` over the lines of every file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Line(NamedTuple):
    """A matching line."""

    path: bytes
    number: int
    offset: int
    text: bytes


def search(files: Mapping[bytes, bytes], regex: bytes, *, invert: bool = False) -> list[Line]:
    """Every line that matches (not), of files without NUL bytes, in path order."""
    found = []
    for path in sorted(files, key=lambda path: path.split(b"/")):
        offset = 0
        for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", files[path]), 1):
            matches = re.search(regex, line.removesuffix(b"\n")) is not None
            if matches != invert and b"\0" not in files[path]:
                found.append(Line(path, number, offset, line))
            offset += len(line)
    return found
