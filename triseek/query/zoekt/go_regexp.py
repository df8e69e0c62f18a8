"""Parser of Go's regular expressions (package regexp/syntax, RE2's syntax).

The tree has the nodes of `triseek.query.regex.syntax`. Flags such as `(?i)` are resolved into
classes, groups do not capture, and a class may contain surrogates, as Go's may. What is refused,
and with which message, follows Go 1.26.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from triseek.query.regex import unicode
from triseek.query.regex.charset import normalised
from triseek.query.regex.syntax import (
    Alternate,
    Assertion,
    Chars,
    Concat,
    Empty,
    Repeat,
)
from triseek.query.zoekt.go_class import ANY, NOT_LINE_END, class_escape, parse_class, parse_escape
from triseek.query.zoekt.go_text import invalid_regexp
from triseek.query.zoekt.sized_cache import SizedCache

if TYPE_CHECKING:
    from triseek.query.regex.syntax import LookKind, Node

_MOST_REPEATS = 1000
_MOST_HEIGHT = 1000
_MOST_SIZE = (128 << 20) // 40
_TOO_BIG = 10**8
_CACHED_CHARS = 128 << 10
"""A tree takes about 150 bytes for each character."""
_OPERATORS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_LOOKS: dict[str, LookKind] = {"A": "text_start", "z": "text_end", "b": "word", "B": "not_word"}


@dataclass(frozen=True, slots=True)
class _Flags:
    ignore_case: bool = False
    one_line: bool = False
    dot_all: bool = False
    lazy: bool = False


_FLAG_NAMES = {"i": "ignore_case", "m": "one_line", "s": "dot_all", "U": "lazy"}


class _Part(NamedTuple):
    """A part of the tree, with what Go limits."""

    node: Node
    height: int = 1
    size: int = 1
    copies: int = 1
    """The largest product of nested counted repetitions."""


@dataclass(slots=True)
class _Group:
    """An open group: its finished alternatives, and the parts of the current one."""

    alternatives: list[_Part]
    parts: list[_Part]
    outer: _Flags
    """Flags that hold again after the group."""


_trees: SizedCache[Node] = SizedCache(_CACHED_CHARS)


def parse(pattern: str, *, one_line: bool = False) -> Node:
    """Return the tree of a regular expression.

    Args:
        pattern: The regular expression; it has no surrogates.
        one_line: Whether `^` and `$` match at the ends of the text only, not of each line.

    Raises:
        InvalidQuery: Go refuses it, with Go's message.
    """
    return _trees.get(
        (pattern, one_line),
        len(pattern),
        lambda: _Parser(pattern, _Flags(one_line=one_line)).parsed(),
    )


class _Parser:
    def __init__(self, pattern: str, flags: _Flags) -> None:
        self.text = pattern
        self.at = 0
        self.flags = flags
        self.groups = [_Group([], [], flags)]

    def parsed(self) -> Node:
        last_repeat = -1
        while self.at < len(self.text):
            start = self.at
            repeats = self._step(last_repeat)
            last_repeat = start if repeats else -1
        if len(self.groups) > 1:
            raise invalid_regexp("missing closing )", self.text)
        return self._alternation(self.groups.pop()).node

    def _step(self, last_repeat: int) -> bool:
        """Parse one item; return whether it was a repetition."""
        sign = self.text[self.at]
        if sign in "*+?":
            self.at += 1
            self._repeat(self.at - 1, *_OPERATORS[sign], last_repeat)
            return True
        if sign == "{":
            return self._counted(last_repeat)
        if sign == "(":
            self._open()
        elif sign == "|":
            self.at += 1
            group = self.groups[-1]
            group.alternatives.append(_sequence(group.parts, self.text))
            group.parts = []
        elif sign == ")":
            self._close()
        elif sign == "[":
            ranges, self.at = parse_class(self.text, self.at, self.flags.ignore_case)
            self._push(Chars(ranges))
        elif sign == "\\":
            self._escape()
        elif sign in "^$.":
            self.at += 1
            self._push(self._sign(sign))
        else:
            self.at += 1
            self._literal(ord(sign))
        return False

    def _sign(self, sign: str) -> Node:
        if sign == ".":
            return Chars(ANY if self.flags.dot_all else NOT_LINE_END)
        if sign == "^":
            return Assertion("text_start" if self.flags.one_line else "line_start")
        return Assertion("text_end" if self.flags.one_line else "line_end")

    def _push(self, node: Node) -> None:
        self.groups[-1].parts.append(_Part(node))

    def _literal(self, code: int) -> None:
        ranges = ((code, code),)
        self._push(Chars(unicode.fold(ranges) if self.flags.ignore_case else ranges))

    def _escape(self) -> None:
        letter = self.text[self.at + 1 : self.at + 2]
        if letter and letter in _LOOKS:
            self.at += 2
            self._push(Assertion(_LOOKS[letter], unicode=False))
        elif letter == "C":
            raise invalid_regexp("invalid escape sequence", r"\C")
        elif letter == "Q":
            end = self.text.find(r"\E", self.at + 2)
            quoted = self.text[self.at + 2 : end if end >= 0 else None]
            self.at = end + 2 if end >= 0 else len(self.text)
            for character in quoted:
                self._literal(ord(character))
        elif (named := class_escape(self.text, self.at, self.flags.ignore_case)) is not None:
            ranges, self.at = named
            self._push(Chars(ranges))
        else:
            code, self.at = parse_escape(self.text, self.at)
            self._literal(code)

    def _counted(self, last_repeat: int) -> bool:
        """Parse `{2,3}`; a brace that starts no repetition is a literal."""
        start = self.at
        bounds = self._bounds()
        if bounds is None:
            self.at = start + 1
            self._literal(ord("{"))
            return False
        low, high = bounds
        if low > _MOST_REPEATS or (high is not None and not low <= high <= _MOST_REPEATS):
            raise invalid_regexp("invalid repeat count", self.text[start : self.at])
        self._repeat(start, low, high, last_repeat)
        return True

    def _bounds(self) -> tuple[int, int | None] | None:
        """Parse the bounds of a counted repetition; None if there is none."""
        self.at += 1
        low = self._number()
        if low is None:
            return None
        high: int | None = low
        if self.text.startswith(",", self.at):
            self.at += 1
            if self.text.startswith("}", self.at):
                high = None
            elif (high := self._number()) is None:
                return None
        if not self.text.startswith("}", self.at):
            return None
        self.at += 1
        return low, high

    def _number(self) -> int | None:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789":
            self.at += 1
        digits = self.text[start : self.at]
        if not digits or (len(digits) > 1 and digits[0] == "0"):
            return None
        return int(digits) if len(digits) <= 9 else _TOO_BIG

    def _repeat(self, start: int, low: int, high: int | None, last_repeat: int) -> None:
        """Repeat the last part; `start` is where the operator starts."""
        lazy = self.flags.lazy
        if self.text.startswith("?", self.at):
            self.at += 1
            lazy = not lazy
        if last_repeat >= 0:
            part = self.text[last_repeat : self.at]
            raise invalid_regexp("invalid nested repetition operator", part)
        parts = self.groups[-1].parts
        operator = self.text[start : self.at]
        if not parts:
            raise invalid_regexp("missing argument to repetition operator", operator)
        inner = parts.pop()
        counted = self.text[start] == "{"
        copies = (high if high is not None else max(low, 1)) if counted else 1
        node = Repeat(inner.node, low, high, greedy=not lazy)
        made = _Part(
            node,
            inner.height + 1,
            inner.size * max(copies, 1) + 2,
            1 if counted and high == 0 else max(copies, 1) * inner.copies,
        )
        parts.append(_limited(made, self.text))
        if counted and max(low, high or 0) >= 2 and made.copies > _MOST_REPEATS:
            raise invalid_regexp("invalid repeat count", operator)

    def _open(self) -> None:
        if not self.text.startswith("(?", self.at):
            self.at += 1
            self.groups.append(_Group([], [], self.flags))
            return
        start = self.at
        name_at = 4 if self.text.startswith("(?P<", start) else 3
        if (name_at == 4 and len(self.text) - start > 4) or (
            self.text.startswith("(?<", start) and len(self.text) - start > 3
        ):
            self._named(start, start + name_at)
        else:
            self._flags(start)

    def _named(self, start: int, name_at: int) -> None:
        end = self.text.find(">", start)
        if end < 0:
            raise invalid_regexp("invalid named capture", self.text[start:])
        name = self.text[name_at:end]
        if not name.replace("_", "a").isascii() or not name.replace("_", "a").isalnum():
            raise invalid_regexp("invalid named capture", self.text[start : end + 1])
        self.groups.append(_Group([], [], self.flags))
        self.at = end + 1

    def _flags(self, start: int) -> None:
        """Parse `(?i)`, `(?i-s:` and the like."""
        flags, on, any_flag = self.flags, True, False
        self.at += 2
        while self.at < len(self.text):
            letter = self.text[self.at]
            self.at += 1
            if letter in _FLAG_NAMES:
                value = on if letter != "m" else not on
                flags = replace(flags, **{_FLAG_NAMES[letter]: value})
                any_flag = True
            elif letter == "-" and on:
                on, any_flag = False, False
            elif letter in ":)" and (on or any_flag):
                if letter == ":":
                    self.groups.append(_Group([], [], self.flags))
                self.flags = flags
                return
            else:
                break
        raise invalid_regexp("invalid or unsupported Perl syntax", self.text[start : self.at])

    def _close(self) -> None:
        if len(self.groups) == 1:
            raise invalid_regexp("unexpected )", self.text)
        self.at += 1
        group = self.groups.pop()
        self.flags = group.outer
        part = self._alternation(group)
        self.groups[-1].parts.append(_limited(part._replace(height=part.height + 1), self.text))

    def _alternation(self, group: _Group) -> _Part:
        """Return all alternatives of a group as one part."""
        parts = [*group.alternatives, _sequence(group.parts, self.text)]
        if len(parts) == 1:
            return parts[0]
        nodes: list[Node] = []
        for part in parts:
            for node in part.node.parts if isinstance(part.node, Alternate) else (part.node,):
                _add_alternative(nodes, node)
        node = nodes[0] if len(nodes) == 1 else Alternate(tuple(nodes))
        return _limited(_joined(node, parts), self.text)


def _add_alternative(nodes: list[Node], node: Node) -> None:
    """Add an alternative; classes side by side become one, and so do empty ones."""
    last = nodes[-1] if nodes else None
    if isinstance(last, Chars) and isinstance(node, Chars):
        nodes[-1] = Chars(normalised((*last.ranges, *node.ranges)))
    elif not (isinstance(last, Empty) and isinstance(node, Empty)):
        nodes.append(node)


def _sequence(parts: list[_Part], text: str) -> _Part:
    """Return parts in sequence as one part."""
    if not parts:
        return _Part(Empty())
    if len(parts) == 1:
        return parts[0]
    nodes: list[Node] = []
    for part in parts:
        nodes.extend(part.node.parts if isinstance(part.node, Concat) else (part.node,))
    return _limited(_joined(Concat(tuple(nodes)), parts), text)


def _joined(node: Node, parts: list[_Part]) -> _Part:
    return _Part(
        node,
        1 + max(part.height for part in parts),
        sum(part.size for part in parts),
        max(part.copies for part in parts),
    )


def _limited(part: _Part, text: str) -> _Part:
    """Return the part.

    Raises:
        InvalidQuery: It is larger or nests deeper than Go allows.
    """
    if part.size > _MOST_SIZE:
        raise invalid_regexp("expression too large", text)
    if part.height > _MOST_HEIGHT:
        raise invalid_regexp("expression nests too deeply", text)
    return part
