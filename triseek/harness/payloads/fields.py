"""Fields of a payload, taken with care: it comes from outside, and any of them may be anything."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

Fields: TypeAlias = dict[str, Any]
"""A JSON object."""
_WORD_MAX = 512
"""Letters of an id; no agent's is longer than a hundred."""
_PATH_MAX = 4096
_LINE_MAX = 1 << 31
"""No file has more lines: what is above it was not meant."""


def inner(told: Fields, *names: str) -> Fields:
    """The object under the first of these names that holds one; empty if none does."""
    return next((told[name] for name in names if isinstance(told.get(name), dict)), {})


def text(told: Fields, *names: str) -> str:
    """The first text of these names; "" if there is none."""
    return next(
        (told[name] for name in names if isinstance(told.get(name), str) and told[name]), ""
    )


def word(told: Fields, *names: str) -> str:
    """An id: the first of these names that holds one, text or number."""
    for name in names:
        value = told.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value) if abs(value) < 1 << 64 else ""
        if isinstance(value, str) and 0 < len(value) <= _WORD_MAX and "\0" not in value:
            return value
    return ""


def line(told: Fields, *names: str) -> int | None:
    """The first of these names that holds the number of a line, or of lines; None if none does."""
    for name in names:
        value = told.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
            value = int(value)  # models write numbers as texts, and agents take them
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LINE_MAX:
            return value
    return None


def path(told: Fields, cwd: str, *names: str) -> str:
    """The first path of these names, made absolute; "" if there is none, or no file can have it."""
    return absolute(text(told, *names), cwd)


def absolute(given: str, cwd: str) -> str:
    """A path as seen from a folder; "" for one that no file can have."""
    return os.path.join(cwd, given) if given and _can_be(given) else ""  # noqa: PTH118


def folder(told: Fields, cwd: str, *names: str) -> str:
    """The first absolute path of these names, else `cwd`."""
    return next((place for name in names if (place := absolute_only(told.get(name)))), cwd)


def absolute_only(value: object) -> str:
    """A path that is absolute as it was told, else ""."""
    told = isinstance(value, str) and os.path.isabs(value) and _can_be(value)  # noqa: PTH117
    return str(value) if told else ""


def _can_be(path: str) -> bool:
    """Whether a file can have this path."""
    try:
        return "\0" not in path and len(os.fsencode(path)) <= _PATH_MAX
    except UnicodeEncodeError:
        return False


def words(value: object) -> frozenset[str] | None:
    """A set of ids; None if it is no list of them."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return None
    return frozenset(value)


def shown(response: object) -> str | None:
    """The text in a tool's result, of the shapes that the protocol and most agents give it."""
    if isinstance(response, str):
        return response
    if isinstance(response, list):
        return _blocks(response)
    if not isinstance(response, dict):
        return None
    if isinstance(response.get("stdout"), str):
        return _joined(response["stdout"], text(response, "stderr"))
    for name in ("content", "output", "text", "llmContent", "result"):
        found = response.get(name)
        if isinstance(found, (str, list)):
            return shown(found)
    return None


def _blocks(blocks: list[Any]) -> str | None:
    """The texts of content blocks; None if one is something else, such as a picture."""
    texts = [each.get("text") if isinstance(each, dict) else each for each in blocks]
    known = [each for each in texts if isinstance(each, str)]
    return "\n".join(known) if known and len(known) == len(texts) else None


def _joined(stdout: str, stderr: str) -> str:
    return f"{stdout}\n{stderr}" if stderr else stdout
