"""Checks of the arguments that a script passes: any of them may be of any type."""

from __future__ import annotations

from triseek.errors import InvalidRequest
from triseek.model.plain_text import is_encodable

QUERY_MAX = 8_192
PATH_MAX = 4_096


def text(name: str, value: object, most: int = PATH_MAX, *, least: int = 0) -> str:
    """Return a text.

    Raises:
        InvalidRequest: It is no text, or it is too long or too short.
    """
    if not isinstance(value, str):
        raise InvalidRequest(f"{name} must be a text")
    if len(value) > most:
        raise InvalidRequest(f"{name} has {len(value):,} characters, {most:,} are allowed")
    if len(value.strip()) < least:
        raise InvalidRequest(f"{name} must not be empty")
    if not is_encodable(value) or "\0" in value:
        raise InvalidRequest(f"{name} holds a character that no file can hold")
    return value


def clamped(name: str, value: object, least: int, most: int) -> int:
    """Return a number, or the nearest one between two others. Raises as `whole`."""
    return min(max(least, whole(name, value)), most)


def whole(name: str, value: object) -> int:
    """Return a whole number.

    Raises:
        InvalidRequest: It is no number.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) <= 12 and value.strip().lstrip("-").isdigit():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidRequest(f"{name} must be a whole number")
    return value


def repository(value: object, *, least: int = 0) -> str:
    """Return a repository's name without the scheme of its URL. Raises as `text`."""
    name = text("repo", value, least=least).strip()
    return name.removeprefix("https://").removeprefix("http://")


def path(value: object, *, least: int = 0) -> str:
    """Return a path in a repository without slashes at its ends. Raises as `text`."""
    return text("path", value, least=least).strip("/")
