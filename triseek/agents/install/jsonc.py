"""Parser for JSON with comments, trailing commas and a BOM, which keeps the positions of values.

Agents' configs are edited as text (`entries`), so that everything not ours keeps its bytes. The
parsed nodes say where the members and items of each container begin and end.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

from triseek.agents.base import Refused


def _refuse(word: str) -> None:
    """Reject NaN and the infinities, which are extensions of Python.

    Raises:
        ValueError: always.
    """
    raise ValueError(word)


_SKIP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)+", re.DOTALL)
_COMMENT = re.compile(r"[ \t\r\n]*(//[^\r\n]*|/\*.*?\*/)", re.DOTALL)
_PLAIN = json.JSONDecoder(parse_constant=_refuse)
_CLOSING = {"{": "}", "[": "]"}


Dialect: TypeAlias = Literal["jsonc", "commented", "json", "bare"]
"""What an agent accepts. jsonc: comments and trailing commas. commented: comments, no BOM.
json: JSON, perhaps with a BOM. bare: JSON without a BOM and without duplicate names."""


class MalformedJsonc(Refused):
    """The text is not JSON, even with comments and trailing commas; the message says where."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"it is not valid JSON: {reason}")


@dataclass
class Part:
    """A member of an object or an item of an array."""

    start: int
    """The position where the key begins, or an item's value."""
    key: str | None
    """The member's name; None for an item."""
    node: Node
    comma: int | None = None
    """The position of the comma after it; None if there is none."""

    @property
    def end(self) -> int:
        """The position where the value ends."""
        return self.node.end


@dataclass
class Node:
    """A value and its position in the text."""

    text: str
    """The whole text."""
    start: int
    end: int
    value: Any
    """The value, as `json.loads` would return it."""

    @cached_property
    def parts(self) -> list[Part]:
        """The parts of a container, parsed at first use; empty for other values."""
        is_container = isinstance(self.value, (dict, list))
        return _container(self.text, self.start)[0] if is_container else []

    def member(self, key: str) -> Part | None:
        """Return an object's member of that name; the last of several, as that takes effect."""
        return next((part for part in reversed(self.parts) if part.key == key), None)


@lru_cache(maxsize=4)  # edits to one file parse the same text repeatedly
def parse(text: str) -> Node | None:
    """Parse a text; None if it has only white space and comments.

    Raises:
        MalformedJsonc: the text is not exactly one value.
    """
    at = skip(text, 1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return None
    try:
        root = _value(text, at)
    except RecursionError:
        raise MalformedJsonc("it is nested too deeply") from None
    if skip(text, root.end) != len(text):
        raise _malformed(text, skip(text, root.end), "the end")
    return root


def check(text: str, dialect: Dialect) -> None:
    """Check that a text, which `parse` accepts, is valid in an agent's dialect.

    Raises:
        MalformedJsonc: the agent would not accept the text; the message says why.
    """
    if dialect == "jsonc" or not text.strip("\ufeff \t\r\n"):
        return
    if dialect != "json" and text.startswith("\ufeff"):
        raise MalformedJsonc("it begins with a byte-order mark")
    if dialect == "commented":
        _no_trailing_commas(text, parse(text))
        return
    try:
        json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_unique if dialect == "bare" else None
        )
    except json.JSONDecodeError as error:
        raise MalformedJsonc(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise MalformedJsonc("it is nested too deeply") from None
    except ValueError:
        raise MalformedJsonc("it has a number of too many digits") from None


def _no_trailing_commas(text: str, node: Node | None) -> None:
    parts = node.parts if node else ()
    if parts and parts[-1].comma is not None:
        raise _malformed(text, parts[-1].comma, "no comma")
    for part in parts:
        _no_trailing_commas(text, part.node)


def _unique(members: list[tuple[str, Any]]) -> None:
    if len(dict(members)) < len(members):
        raise MalformedJsonc("it has a name twice")


def skip(text: str, at: int) -> int:
    """Return the position of the next token after white space and comments."""
    found = _SKIP.match(text, at)
    return found.end() if found else at


def has_comment(text: str, begin: int, end: int) -> bool:
    """Whether there is a comment between two positions that have no value between them."""
    return bool(text[begin:end].strip(" \t\r\n,"))


def after_comments(text: str, at: int, *, same_line: bool = False) -> int:
    """Return where the last of the comments after `at` ends; `at` itself if there are none."""
    while comment := _COMMENT.match(text, at):
        if same_line and "\n" in text[at : comment.start(1)]:
            break
        at = comment.end()
    return at


def _value(text: str, at: int) -> Node:
    """Parse the value that begins at `at`.

    Most values are plain JSON, for which Python's decoder is far faster; ours parses the others.
    """
    try:
        value, end = _PLAIN.raw_decode(text, at)
    except ValueError:
        if text[at : at + 1] not in _CLOSING:
            is_number = text[at : at + 2].lstrip("-")[:1].isdecimal()
            raise _malformed(text, at, "a shorter number" if is_number else "a value") from None
        parts, end = _container(text, at)
        items = [part.node.value for part in parts]
        members = [(part.key, part.node.value) for part in parts]
        value = dict(members) if text[at] == "{" else items
    return Node(text, at, end, value)


def _container(text: str, at: int) -> tuple[list[Part], int]:
    """Parse the container that begins at `at`; return its parts and where it ends."""
    opening, parts = text[at], []
    closing = _CLOSING[opening]
    at = skip(text, at + 1)
    while not text.startswith(closing, at):
        begin, key = at, None
        if opening == "{":
            if not text.startswith('"', at):
                raise _malformed(text, at, 'a "name" or }')
            name = _value(text, at)
            key, at = name.value, skip(text, name.end)
            if not text.startswith(":", at):
                raise _malformed(text, at, "a colon")
            at = skip(text, at + 1)
        part = Part(begin, key, _value(text, at))
        parts.append(part)
        at = skip(text, part.end)
        if text.startswith(",", at):
            part.comma = at
            at = skip(text, at + 1)
        elif not text.startswith(closing, at):
            raise _malformed(text, at, f"a comma or {closing}")
    return parts, at + 1


def _malformed(text: str, at: int, expected: str) -> MalformedJsonc:
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return MalformedJsonc(f"line {line}, column {column}: expected {expected}")
