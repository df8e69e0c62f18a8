"""JSON as people write it, with where everything stands: comments, trailing commas, a BOM.

Agents' configs are edited as text (`entries`), so that all of it that is not ours keeps its bytes.
What is read here says where the members and items of each container begin and end.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Literal, TypeAlias


def _refuse(word: str) -> None:
    """NaN and the infinities are Python's own.

    Raises:
        ValueError: always.
    """
    raise ValueError(word)


_SKIP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)+", re.DOTALL)
_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrtu])*"')
_WORD = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null", re.ASCII)
_PLAIN = json.JSONDecoder(parse_constant=_refuse)
_CLOSING = {"{": "}", "[": "]"}


Dialect: TypeAlias = Literal["jsonc", "commented", "json", "bare"]
"""What a client reads: comments and trailing commas too; comments, and no BOM; JSON, perhaps with a
BOM; JSON without one and without a name twice."""


class Malformed(Exception):
    """The text is no JSON, even with comments and trailing commas; says where."""


class Part:
    """A member of an object or an item of an array."""

    __slots__ = ("comma", "key", "node", "start")

    def __init__(self, start: int, key: str | None, node: Node) -> None:
        self.start = start
        """Where the key begins, or an item's value."""
        self.key = key
        """None for an item."""
        self.node = node
        self.comma: int | None = None
        """Where the comma after it stands, if there is one."""

    @property
    def end(self) -> int:
        """Where the value ends."""
        return self.node.end


class Node:
    """A value and where it stands."""

    __slots__ = ("_parts", "_text", "end", "start", "value")

    def __init__(self, text: str, start: int, end: int, value: Any) -> None:  # noqa: ANN401 - any JSON
        self.start = start
        self.end = end
        self.value = value
        """As `json.loads` would give it."""
        self._text = text
        self._parts: list[Part] | None = None

    @property
    def parts(self) -> list[Part]:
        """What a container holds, looked for when first asked; empty for anything else."""
        if self._parts is None:
            whole = self.value if isinstance(self.value, (dict, list)) else None
            self._parts = [] if whole is None else _container(self._text, self.start)[0]
        return self._parts

    def member(self, key: str) -> Part | None:
        """An object's member of that name: of several the last, which is the one that counts."""
        return next((part for part in reversed(self.parts) if part.key == key), None)


@lru_cache(maxsize=4)  # edits to one file ask for the same text again and again
def parse(text: str) -> Node | None:
    """Read a text; None if there is nothing in it but white space and comments.

    Raises:
        Malformed: it is something else than one value.
    """
    at = skip(text, 1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return None
    try:
        root = _value(text, at)
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    if skip(text, root.end) != len(text):
        raise _malformed(text, skip(text, root.end), "the end")
    return root


def check(text: str, dialect: Dialect) -> None:
    """Find what a client does not read that `parse` does.

    Raises:
        Malformed: it would not read the text; says why.
    """
    if dialect == "jsonc" or not text.strip("\ufeff \t\r\n"):
        return
    if dialect != "json" and text.startswith("\ufeff"):
        raise Malformed("it begins with a byte-order mark")
    if dialect == "commented":
        _no_trailing_commas(text, parse(text))
        return
    try:
        json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_once if dialect == "bare" else None
        )
    except json.JSONDecodeError as error:
        raise Malformed(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    except ValueError:
        raise Malformed("it has a number of too many digits") from None


def _no_trailing_commas(text: str, node: Node | None) -> None:
    parts = node.parts if node else ()
    if parts and parts[-1].comma is not None:
        raise _malformed(text, parts[-1].comma, "no comma")
    for part in parts:
        _no_trailing_commas(text, part.node)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Malformed("it has a name twice")
    return found


def skip(text: str, at: int) -> int:
    """Where the next thing begins that is neither white space nor a comment."""
    found = _SKIP.match(text, at)
    return found.end() if found else at


def has_comment(text: str, begin: int, end: int) -> bool:
    """Whether there is more than white space between two places with no values between them."""
    return bool(text[begin:end].strip(" \t\r\n,"))


def after_comments(text: str, at: int, *, same_line: bool = False) -> int:
    """Where the last comment ends of those that follow `at`; `at` itself if none does."""
    last = at
    while True:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank else at
        if same_line and "\n" in text[last:at]:
            return last
        comment = _SKIP.match(text, at) if text.startswith(("//", "/*"), at) else None
        if comment is None:
            return last
        ends = text.find("*/", at) + 2 if text.startswith("/*", at) else _line_end(text, at)
        last = at = ends


def _line_end(text: str, at: int) -> int:
    found = re.compile(r"[\r\n]").search(text, at)
    return found.start() if found else len(text)


def _value(text: str, at: int) -> Node:
    """The value that begins at `at`.

    Most are plain JSON, which Python reads far quicker than we do; we read what it does not.
    """
    try:
        value, end = _PLAIN.raw_decode(text, at)
    except ValueError:
        if text[at : at + 1] not in _CLOSING:
            return _scalar(text, at)
        parts, end = _container(text, at)
        items = [part.node.value for part in parts]
        named = [(part.key, part.node.value) for part in parts]
        value = dict(named) if text[at] == "{" else items
    return Node(text, at, end, value)


def _container(text: str, at: int) -> tuple[list[Part], int]:
    """What the container holds that begins at `at`, and where it ends."""
    opening, parts = text[at], []
    closing = _CLOSING[opening]
    at = skip(text, at + 1)
    while not text.startswith(closing, at):
        begin, key = at, None
        if opening == "{":
            name = _STRING.match(text, at)
            if name is None:
                raise _malformed(text, at, 'a "name" or }')
            key, at = _text(name.group(), text, at), skip(text, name.end())
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


def _scalar(text: str, at: int) -> Node:
    quoted = text.startswith('"', at)
    found = (_STRING if quoted else _WORD).match(text, at)
    if found is None:
        raise _malformed(text, at, "a value")
    word = found.group()
    value = _text(word, text, at) if quoted else _word(word, text, at)
    return Node(text, at, found.end(), value)


def _text(word: str, text: str, at: int) -> str:
    if "\\" not in word:
        return word[1:-1]
    try:
        return str(json.loads(word))
    except ValueError:
        raise _malformed(text, at, "a string") from None


def _word(word: str, text: str, at: int) -> Any:  # noqa: ANN401 - a number, a truth or nothing
    try:
        return json.loads(word)
    except ValueError:  # a number of more digits than Python reads
        raise _malformed(text, at, "a number of fewer digits") from None


def _malformed(text: str, at: int, wanted: str) -> Malformed:
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return Malformed(f"line {line}, column {column}: expected {wanted}")
