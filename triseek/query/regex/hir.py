r"""The parser's intermediate form of a pattern, which determines what is refused.

ripgrep refuses a pattern that has a line end *as a literal*, but only removes line ends from
classes. Which of the two `a|\n` contains depends on how regex-syntax simplifies: it joins adjacent
literals, turns single-character alternatives into a class and factors out common prefixes. So the
same simplifications are made here before line ends are looked for; capturing groups prevent them,
as they do there. `lower` then produces the tree of `syntax`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from triseek.query.regex.charset import difference, is_ascii, normalised, size
from triseek.query.regex.syntax import (
    Alternate,
    Assertion,
    Bytes,
    Capture,
    Chars,
    Concat,
    Empty,
    Node,
    Ranges,
    Repeat,
    any_node,
    fold,
)


class NotAllowedError(Exception):
    """The pattern has a byte as a literal that may not be matched."""


@dataclass(frozen=True, slots=True)
class Literal:
    """These bytes, in this order."""

    data: bytes


Hir: TypeAlias = (
    "Empty | Assertion | Literal | Chars | Bytes"
    " | Concat[Hir] | Alternate[Hir] | Repeat[Hir] | Capture[Hir]"
)
"""No part of a `Concat` is a `Concat`, no two literals in it are adjacent, and no choice of an
`Alternate` is an `Alternate`; both have at least two parts."""

NOTHING = Empty()


def class_of(ranges: Ranges, *, of_bytes: bool = False) -> Hir:
    """Return the set as a class; as a literal if it has one member."""
    if size(ranges) == 1:
        value = ranges[0][0]
        return Literal(bytes((value,)) if of_bytes else chr(value).encode())
    return Bytes(ranges) if of_bytes else Chars(ranges)


def loop(body: Hir, low: int, high: int | None, *, greedy: bool) -> Hir:
    """Return a repetition, simplified."""
    if fold(body, _only_empty):
        low, high = min(low, 1), 1 if high is None else min(high, 1)
    if high == 0:
        return NOTHING
    if low == high == 1:
        return body
    return Repeat(body, low, high, greedy)


def sequence(parts: list[Hir]) -> Hir:
    """Return the concatenation of the parts, simplified."""
    out: list[Hir] = []
    run: list[bytes] = []  # adjacent literals, joined all at once because patterns can be long
    for part in parts:
        for piece in part.parts if isinstance(part, Concat) else (part,):
            if isinstance(piece, Literal):
                run.append(piece.data)
            elif not isinstance(piece, Empty):
                if run:
                    out.append(Literal(b"".join(run)))
                    run.clear()
                out.append(piece)
    if run:
        out.append(Literal(b"".join(run)))
    if len(out) > 1:
        return Concat(tuple(out))
    return out[0] if out else NOTHING


def choice(parts: list[Hir]) -> Hir:
    """Return the alternation of the parts, simplified."""
    flat: list[Hir] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Alternate) else (part,))
    if not flat:
        return Chars(())
    if len(flat) == 1:
        return flat[0]
    return _single_characters(flat) or _joined_classes(flat) or _prefixed(flat)


def _single_characters(parts: list[Hir]) -> Hir | None:
    """Return the class of all parts if each is a literal of one character, or each of one byte."""
    data: list[bytes] = []
    for part in parts:
        if not isinstance(part, Literal) or len(part.data) > 4:
            return None
        data.append(part.data)
    try:
        codes = [ord(literal.decode()) for literal in data]
    except (UnicodeDecodeError, TypeError):
        if max(map(len, data)) > 1:
            return None
        return class_of(normalised((literal[0], literal[0]) for literal in data), of_bytes=True)
    return class_of(normalised((code, code) for code in codes))


def _joined_classes(parts: list[Hir]) -> Hir | None:
    """Return the union of all parts if all are classes of the same kind."""
    pairs: list[tuple[int, int]] = []
    kinds: set[bool] = set()
    for part in parts:
        if not isinstance(part, Chars | Bytes):
            return None
        pairs.extend(part.ranges)
        if not is_ascii(part.ranges):
            kinds.add(isinstance(part, Bytes))
    return None if len(kinds) > 1 else class_of(normalised(pairs), of_bytes=True in kinds)


def _prefixed(parts: list[Hir]) -> Hir:
    """Return the choice with the common prefix of all sequences factored out."""
    shared: tuple[Hir, ...] | None = None
    for part in parts:
        if not isinstance(part, Concat):
            return Alternate(tuple(parts))
        shared = part.parts if shared is None else _common(shared, part.parts)
    if not shared:
        return Alternate(tuple(parts))
    tails = [
        sequence(list(part.parts[len(shared) :])) for part in parts if isinstance(part, Concat)
    ]
    return sequence([*shared, choice(tails)])


def _common(first: tuple[Hir, ...], second: tuple[Hir, ...]) -> tuple[Hir, ...]:
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    return first[:count]


def _only_empty(hir: Hir, below: list[bool]) -> bool:
    """Return whether only the empty string can match."""
    return all(below) if below else isinstance(hir, Empty | Assertion)


def without(hir: Hir, byte: int) -> Hir:
    """Return the pattern with an ASCII byte removed from every class.

    Raises:
        NotAllowedError: The byte occurs as a literal.
    """
    return fold(hir, lambda part, below: _without(part, below, byte))


def _without(hir: Hir, below: list[Hir], byte: int) -> Hir:
    match hir:
        case Literal(data):
            if byte in data:
                raise NotAllowedError
            return hir
        case Chars(ranges) | Bytes(ranges):
            left = difference(ranges, ((byte, byte),))
            if ranges and not left:
                raise NotAllowedError
            return hir if left == ranges else class_of(left, of_bytes=isinstance(hir, Bytes))
        case Capture(_, number):
            return Capture(below[0], number)
        case Repeat(_, low, high, greedy):
            return loop(below[0], low, high, greedy=greedy)
        case Concat():
            return sequence(below)
        case Alternate():
            return choice(below)
        case _:
            return hir


def has_literal(hir: Hir, byte: int) -> bool:
    """Return whether the byte occurs anywhere in the pattern as a literal."""
    return any_node(hir, lambda part: isinstance(part, Literal) and byte in part.data)


def lower(hir: Hir, *, groups: bool = False) -> Node:
    """Return the pattern as a tree of `syntax`; with capturing groups if `groups`."""
    return fold(hir, lambda part, below: _lower(part, below, groups=groups))


def _lower(hir: Hir, below: list[Node], *, groups: bool) -> Node:
    match hir:
        case Literal(data):
            return _characters(data)
        case Bytes(ranges):
            return Chars(ranges) if is_ascii(ranges) else hir
        case Capture(_, number):
            return Capture(below[0], number) if groups else below[0]
        case Repeat(_, low, high, greedy):
            return Repeat(below[0], low, high, greedy)
        case Concat():
            return _row(below)
        case Alternate():
            branches: list[Node] = []
            for branch in below:
                branches.extend(branch.parts if isinstance(branch, Alternate) else (branch,))
            return Alternate(tuple(branches))
        case _:
            return hir


def _row(parts: list[Node]) -> Node:
    out: list[Node] = []
    for part in parts:
        if not isinstance(part, Empty):
            out.extend(part.parts if isinstance(part, Concat) else (part,))
    if len(out) > 1:
        return Concat(tuple(out))
    return out[0] if out else NOTHING


def _characters(data: bytes) -> Node:
    """Return a literal as one node per character, or per byte where it is not UTF-8."""
    out: list[Node] = []
    for character in data.decode(errors="surrogateescape"):
        code = ord(character)
        if 0xDC80 <= code <= 0xDCFF:  # the codec's replacement for an undecodable byte
            out.append(Bytes(((code - 0xDC00, code - 0xDC00),)))
        else:
            out.append(Chars(((code, code),)))
    return out[0] if len(out) == 1 else Concat(tuple(out))
