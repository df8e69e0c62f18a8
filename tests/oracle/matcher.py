"""What a pattern tree means, position by position: the twin of every automaton we have.

A set of places goes in, the set of places a match may end at comes out. Nothing is compiled,
nothing is skipped, so it can be read beside `query/regex/syntax.py` and believed.
"""

import re

from triseek.query.regex.syntax import Alternate, Assertion, Bytes, Chars, Concat, Empty, Repeat


def matches(tree, text: bytes) -> bool:
    """Whether `tree` matches anywhere in `text`."""
    return bool(ends(tree, text, set(range(len(text) + 1))))


def ends(node, text: bytes, starts: set[int]) -> set[int]:
    """Where matches of `node` that begin at one of `starts` may end."""
    match node:
        case Empty():
            return starts
        case Chars(ranges):
            found = ((at, char_at(text, at)) for at in starts)
            return {at + len(c.encode()) for at, c in found if c and is_in(ord(c), ranges)}
        case Bytes(ranges):
            return {at + 1 for at in starts if at < len(text) and is_in(text[at], ranges)}
        case Assertion():
            return {at for at in starts if holds(node, text, at)}
        case Concat(parts):
            for part in parts:
                starts = ends(part, text, starts)
            return starts
        case Alternate(parts):
            return set().union(*(ends(part, text, starts) for part in parts))
        case Repeat(part, low, high):
            return repeated(part, low, high, text, starts)


def repeated(part, low, high, text, starts):
    """Walk `low` times, then on until nothing new is reached."""
    for _ in range(low):
        starts = ends(part, text, starts)
    reached, edge, rounds = set(starts), starts, low
    while edge and (high is None or rounds < high):
        edge = ends(part, text, edge) - reached
        reached |= edge
        rounds += 1
    return reached


def holds(look, text: bytes, at: int) -> bool:
    """Whether an assertion holds between text[at - 1] and text[at]."""
    before, after = is_word(char_before(text, at), look), is_word(char_at(text, at), look)
    return {
        "line_start": at == 0 or text[at - 1 : at] == b"\n",
        "line_end": at == len(text) or text[at : at + 1] == b"\n",
        "text_start": at == 0,
        "text_end": at == len(text),
        "word": before != after,
        "not_word": before == after,
        "word_start": after and not before,
        "word_end": before and not after,
        "word_start_half": not before,
        "word_end_half": not after,
    }[look.kind]


def is_word(char: str, look) -> bool:
    return bool(re.match(r"\w", char, 0 if look.unicode else re.ASCII))


def char_at(text: bytes, at: int) -> str:
    """The character spelled at `at`; empty when none is."""
    return next(filter(None, (decoded(text[at : at + size]) for size in range(1, 5))), "")


def char_before(text: bytes, at: int) -> str:
    sizes = range(1, min(at, 4) + 1)
    return next(filter(None, (decoded(text[at - size : at]) for size in sizes)), "")


def decoded(spelling: bytes) -> str:
    try:
        char = spelling.decode()
    except UnicodeDecodeError:
        return ""
    return char if len(char) == 1 else ""


def is_in(code: int, ranges) -> bool:
    return any(low <= code <= high for low, high in ranges)
