"""Reads fields of a payload, which is untrusted: any field may have any type."""

from __future__ import annotations

import os
from typing import Any

_WORD_MAX = 512
"""Characters of an id; no agent's ids are longer than a hundred."""
_PATH_MAX = 4096
_LINE_MAX = 1 << 31
"""No file has more lines: a larger number is a mistake."""


class Fields(dict[str, Any]):
    """The fields of a JSON object; each method returns the first valid value under some names."""

    __slots__ = ()

    def inner(self, *names: str) -> Fields:
        """Return the first object; empty if there is none."""
        values = (self.get(name) for name in names)
        return next((Fields(value) for value in values if isinstance(value, dict)), Fields())

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
