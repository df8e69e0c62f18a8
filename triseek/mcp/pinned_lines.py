"""Lines to pin, as agents name them: by fields of several names, or as `src/a.rs:40-80`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALIASES: Mapping[str, str] = {
    "file": "path", "file_path": "path", "filePath": "path", "filename": "path",
    "start": "line_start", "start_line": "line_start", "startLine": "line_start",
    "lineStart": "line_start", "from": "line_start",
    "end": "line_end", "end_line": "line_end", "endLine": "line_end",
    "lineEnd": "line_end", "to": "line_end",
}  # fmt: skip
_PLACE = re.compile(r"(?P<path>.+?)(?::|#L)(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?")


def read(given: Any) -> Any:  # noqa: ANN401 - JSON
    """Each of some lines under the names of its fields; what is none is left as it is."""
    listed = [given] if isinstance(given, dict) else given
    return [_one(one) for one in listed] if isinstance(listed, list) else given


def _one(given: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(given, str):
        place = _PLACE.fullmatch(given)
        if place is None:
            return given
        first = int(place["first"])
        last = int(place["last"] or first)
        return {"path": place["path"], "line_start": first, "line_end": last}
    if not isinstance(given, dict):
        return given
    return {_name(name, given): _whole(value) for name, value in given.items()}


def _name(name: str, given: Mapping[str, Any]) -> str:
    """A field's own name, unless that is there as well."""
    own = _ALIASES.get(name, name)
    return name if own in given else own


def _whole(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A number that came as a text."""
    is_number = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10
    return int(value) if is_number else value
