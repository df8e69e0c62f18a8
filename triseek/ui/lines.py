"""Lines of one file below the root, to be read around a match."""

from __future__ import annotations

import itertools
from typing import Any

from triseek.errors import InvalidRequest
from triseek.files import containment
from triseek.service.envelopes import PREVIEW_MAX

AROUND = 60
"""Lines shown before and after the one that is meant."""
LINE_MAX = 4 * PREVIEW_MAX
"""Characters of a line that are shown."""
READ_MAX = 64 << 20
"""Bytes of a file that are read on the way to a line."""


def around(root: str, path: str, line: int) -> dict[str, Any]:
    """The lines of a file around one of them, counted from 1.

    Raises:
        InvalidRequest: It is no file below the root that can be read, or holds no text.
        RepoNotDetected: The root is gone.
    """
    first = max(1, line - AROUND)
    try:
        with open(containment.open_file(root, path), "rb") as file:  # noqa: PTH123 - a descriptor
            shown = [
                each.rstrip(b"\r\n").decode(errors="replace")[:LINE_MAX]
                for each in itertools.islice(_bounded(file), first - 1, first + 2 * AROUND)
            ]
            more = bool(file.read(1))
    except OSError as error:
        raise InvalidRequest(
            f"{path[:200]!r} cannot be read: {error.strerror}",
            next_step="Search again; it may have been removed.",
        ) from None
    if any("\0" in each for each in shown):
        raise InvalidRequest(f"{path[:200]!r} is no text", next_step="Open another file.")
    return {"path": path, "line": line, "first": first, "lines": shown, "more": more}


def _bounded(file: Any) -> Any:  # noqa: ANN401 - an iterator of lines
    """Lines, each read in part where it is very long, up to `READ_MAX` bytes in all."""
    left = READ_MAX
    while left > 0 and (line := file.readline(left)):
        left -= len(line)
        yield line
