"""Reads JSON that agents write, in payloads and transcripts: any field may have any type."""

from __future__ import annotations

import json
import os
import stat
from typing import Any

_WORD_MAX = 512
"""Characters of an id; no agent's ids are longer than a hundred."""
_PATH_MAX = 4096
_LINE_MAX = 1 << 31
"""No file has more lines: a larger number is a mistake."""
READ_MAX = 4 << 20
"""Bytes of a transcript, from its end: an agent waits for the read, and what was shown long ago is
not refused."""


class Fields(dict[str, Any]):
    """The fields of a JSON object; each method returns the first valid value under some names."""

    __slots__ = ()

    def inner(self, *names: str) -> Fields:
        """Return the first object; empty if there is none."""
        values = (self.get(name) for name in names)
        return fields_of(next((value for value in values if isinstance(value, dict)), None))

    def objects(self, name: str) -> list[Fields]:
        """Return the objects of a list; empty if it is no list."""
        value = self.get(name)
        items = value if isinstance(value, list) else []
        return [Fields(item) for item in items if isinstance(item, dict)]

    def text(self, *names: str) -> str:
        """Return the first text that is not empty; "" if there is none."""
        values = (self.get(name) for name in names)
        return next((value for value in values if isinstance(value, str) and value), "")

    def word(self, *names: str) -> str:
        """Return the first id, a text or a number; "" if there is none."""
        for name in names:
            value = self.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value) if abs(value) < 1 << 64 else ""
            if isinstance(value, str) and 0 < len(value) <= _WORD_MAX and "\0" not in value:
                return value
        return ""

    def line(self, *names: str) -> int | None:
        """Return the first line number or line count; None if there is none."""
        for name in names:
            value = self.get(name)
            if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
                value = int(value)  # models write numbers as strings, and agents accept them
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LINE_MAX:
                return value
        return None

    def path(self, cwd: str, *names: str) -> str:
        """Return the first text as a path, made absolute; "" if it is missing or invalid."""
        return absolute(self.text(*names), cwd)

    def folder(self, cwd: str, *names: str) -> str:
        """Return the first absolute path, else `cwd`."""
        return next((path for name in names if (path := absolute_only(self.get(name)))), cwd)


def fields_of(value: object) -> Fields:
    """Return the fields of a JSON value; empty if it is no object."""
    return Fields(value) if isinstance(value, dict) else Fields()


def parsed(text: str | bytes) -> object:
    """Return the value of a JSON text; None if it is malformed."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def entries(
    path: str, *, without: tuple[bytes, ...] = (), most: int = READ_MAX
) -> list[Fields] | None:
    """Return the objects of a file, in order; None if it cannot be read.

    Lines that are not JSON objects are skipped: the last one may be half written.
    without: beginnings of lines that need not be parsed. most: bytes that are read, from the end.
    """
    data = _end_of(path, most)
    if data is None:
        return None
    lines = (line for line in data.split(b"\n") if not (without and line.startswith(without)))
    return [entry for line in lines if (entry := fields_of(parsed(line)))]


def _end_of(path: str, most: int) -> bytes | None:
    """Return the last bytes of a regular file, cut at a line's start if it is longer."""
    try:
        with open(path, "rb", opener=_opened) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            cut = max(0, status.st_size - most)
            file.seek(cut)
            data = file.read(most)
    except (OSError, ValueError):
        return None
    return data.partition(b"\n")[2] if cut else data


def _opened(path: str, flags: int) -> int:
    """Open a file, without waiting for a writer if it is a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def absolute(path: str, cwd: str) -> str:
    """Return a path made absolute from a folder; "" if no file can have it."""
    return os.path.join(cwd, path) if path and _can_be(path) else ""  # noqa: PTH118


def absolute_only(value: object) -> str:
    """Return the value if it is a valid absolute path, else ""."""
    is_valid = isinstance(value, str) and os.path.isabs(value) and _can_be(value)  # noqa: PTH117
    return str(value) if is_valid else ""


def _can_be(path: str) -> bool:
    """Whether a file can have this path."""
    try:
        return "\0" not in path and len(os.fsencode(path)) <= _PATH_MAX
    except UnicodeEncodeError:
        return False


def words(value: object) -> frozenset[str] | None:
    """Return a list of ids as a set; None if it is not a list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return frozenset(value)


def shown(response: object) -> str | None:
    """Return the text in a tool's result, in the shapes of the protocol and of most agents."""
    if isinstance(response, str):
        return response
    if isinstance(response, list):
        return _blocks(response)
    if not isinstance(response, dict):
        return None
    if isinstance(response.get("stdout"), str):
        return _joined(response["stdout"], Fields(response).text("stderr"))
    for name in ("content", "output", "text", "llmContent", "result"):
        value = response.get(name)
        if isinstance(value, (str, list)):
            return shown(value)
    return None


def _blocks(blocks: list[Any]) -> str | None:
    """Return the texts of content blocks; None if one is something else, such as an image."""
    texts = [item.get("text") if isinstance(item, dict) else item for item in blocks]
    strings = [item for item in texts if isinstance(item, str)]
    return "\n".join(strings) if strings and len(strings) == len(texts) else None


def _joined(stdout: str, stderr: str) -> str:
    return f"{stdout}\n{stderr}" if stderr else stdout
