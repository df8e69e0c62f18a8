r"""Texts of a query as patterns of triseek's own engine, whose dialect is ripgrep's.

Go's `\w`, `\d`, `\s` and `\b` know ASCII only, its classes match line ends, and `^` and `$` match
at the ends of lines. The pattern is therefore written anew from its tree: each class by its ranges,
each assertion with its flags. One difference remains: where case is ignored, Zoekt compares literal
texts by lower case, and triseek by case folding, which also finds `ſ` for `s` and `ς` for `Σ`.

Go reads each byte that is not UTF-8 as U+FFFD, which `.` and most classes match; ripgrep's match no
such byte. So there are two patterns: one for texts in UTF-8, also those in which wrong bytes were
replaced (`replaced_text`), and one that finds the files.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from triseek.model.search import PatternSpec
from triseek.query.regex.charset import contains
from triseek.query.regex.syntax import (
    Alternate,
    Assertion,
    Chars,
    Concat,
    Empty,
    Repeat,
    any_node,
    fold,
)
from triseek.query.zoekt import go_regexp
from triseek.query.zoekt.go_class import LAST
from triseek.query.zoekt.syntax import Meta, Regexp, Repo, Substring

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.query.regex.syntax import Node as RegexNode
    from triseek.query.regex.syntax import Ranges
    from triseek.query.zoekt.syntax import Text

_LF = 0x0A
_LOOKS = {
    "line_start": "(?m:^)",
    "line_end": "(?m:$)",
    "text_start": r"\A",
    "text_end": r"\z",
    "word": r"(?-u:\b)",
    "not_word": r"(?-u:\B)",
}
_NOTHING = r"[^\x{0}-\x{10FFFF}]"
_REPLACEMENT = 0xFFFD
_WRONG_BYTE = r"(?-u:[\x80-\xFF])"


def pattern_spec(node: Text | Repo | Meta) -> PatternSpec:
    """Return the pattern that matches in a text in UTF-8 what Zoekt matches.

    Its matches may span lines only if those of the text can. The pattern of a repository's name or
    of a value of its metadata respects case, and its `^` and `$` match at the ends of the text.

    Raises:
        InvalidQuery: The pattern is none that Zoekt accepts.
    """
    if isinstance(node, Substring) and "\0" not in node.pattern:
        return PatternSpec(
            patterns=(node.pattern,),
            fixed=True,
            case="sensitive" if node.case_sensitive else "insensitive",
            multiline="\n" in node.pattern,
        )
    return _spec(node, _written)


def file_spec(node: Text | Repo | Meta) -> PatternSpec:
    """Return a pattern that matches in every file in which Zoekt matches a text, UTF-8 or not.

    It also matches where a class would match a part of a character.

    Raises:
        InvalidQuery: As `pattern_spec`.
    """
    return _spec(node, _written_for_bytes) if reads_wrong_bytes(node) else pattern_spec(node)


def reads_wrong_bytes(node: Text | Repo | Meta) -> bool:
    """Return whether a text can match a byte that is not UTF-8."""
    return not isinstance(node, Substring) and any_node(_tree(node), _reads_wrong_byte)


def _reads_wrong_byte(node: RegexNode) -> bool:
    return isinstance(node, Chars) and contains(node.ranges, _REPLACEMENT)


def _spec(node: Text | Repo | Meta, written: Callable[[RegexNode, list[str]], str]) -> PatternSpec:
    tree = _tree(node)
    sensitive = not isinstance(node, Substring | Regexp) or node.case_sensitive
    return PatternSpec(
        patterns=(fold(tree, written),),
        case="sensitive" if sensitive else "insensitive",
        multiline=any_node(tree, _crosses_lines),
    )


def _tree(node: Text | Repo | Meta) -> RegexNode:
    if isinstance(node, Substring):
        signs = tuple(Chars(((ord(sign), ord(sign)),)) for sign in node.pattern)
        return Concat(signs)
    return go_regexp.parse(node.pattern, one_line=not isinstance(node, Regexp))


def _crosses_lines(node: RegexNode) -> bool:
    """Return whether a part may match a line end, or knows where the whole text ends."""
    if isinstance(node, Chars):
        return contains(node.ranges, _LF)
    return isinstance(node, Assertion) and node.kind in ("text_start", "text_end")


def _written(node: RegexNode, below: list[str]) -> str:
    match node:
        case Empty():
            return "(?:)"
        case Chars(ranges):
            return _class(ranges)
        case Assertion(kind):
            return _LOOKS[kind]
        case Concat():
            return "".join(below)
        case Alternate():
            return f"(?:{'|'.join(below)})"
        case Repeat(_, low, high, greedy):
            return f"(?:{below[0]}){_bounds(low, high)}{'' if greedy else '?'}"
        case _:
            raise AssertionError(node)


def _written_for_bytes(node: RegexNode, below: list[str]) -> str:
    text = _written(node, below)
    return f"(?:{text}|{_WRONG_BYTE})" if _reads_wrong_byte(node) else text


def _bounds(low: int, high: int | None) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
    return short or f"{{{low},{'' if high is None else high}}}"


def _class(ranges: Ranges) -> str:
    """Return a class; Go writes one with the first and last character as what it leaves out.

    That matters where case is ignored: what is left out is then left out in both cases.
    """
    if not ranges:
        return _NOTHING
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _sign(ranges[0][0])
    if len(ranges) == 1 or (ranges[0][0], ranges[-1][1]) != (0, LAST):
        members = _members(ranges)
        return f"[{members}]" if members else _NOTHING
    gaps = tuple((left[1] + 1, right[0] - 1) for left, right in pairwise(ranges))
    members = _members(gaps)
    return f"[^{members}]" if members else "(?s:.)"


def _members(ranges: Ranges) -> str:
    return "".join(
        _sign(low) if low == high else f"{_sign(low)}-{_sign(high)}"
        for low, high in (_without_surrogate_ends(*ends) for ends in ranges)
        if low <= high
    )


def _without_surrogate_ends(low: int, high: int) -> tuple[int, int]:
    """Return a range that does not start or end with a surrogate, which no text contains."""
    low = 0xE000 if 0xD800 <= low <= 0xDFFF else low
    return low, 0xD7FF if 0xD800 <= high <= 0xDFFF else high


def _sign(code: int) -> str:
    if code < 0x80 and chr(code).isalnum():
        return chr(code)
    if 0xD800 <= code <= 0xDFFF:
        return _NOTHING
    return f"\\x{{{code:X}}}"
