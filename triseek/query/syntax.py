"""What a pattern means, as a tree.

Everything a user can say (case modes, `-w`, `-x`, `-F`, several `-e`, Perl classes, Unicode
properties, flags inside the pattern) has been resolved into these few node types by
`query.parse`; case folding is already part of the classes. Whoever reads the tree (formulas,
automata, RE2, the slow exact matcher) needs to know nothing else. Capturing groups are left out
but for replacements, which have a tree of their own (`parse.parse_groups`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Sorted, disjoint, non-adjacent inclusive ranges."""

LookKind: TypeAlias = Literal[
    "line_start",  # (?m:^)
    "line_end",  # (?m:$)
    "line_start_crlf",  # (?mR:^): CR LF, LF and a CR alone all end lines
    "line_end_crlf",  # (?mR:$)
    "text_start",  # \A
    "text_end",  # \z
    "word",  # \b
    "not_word",  # \B
    "word_start",  # \b{start} and \<
    "word_end",  # \b{end} and \>
    "word_start_half",  # \b{start-half}: what stands before is no word character
    "word_end_half",  # \b{end-half}: what stands after is no word character
]


@dataclass(frozen=True, slots=True)
class Empty:
    """Matches the empty string."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One Unicode scalar value out of `ranges`, in its UTF-8 spelling; no ranges: never matches."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Bytes:
    """One byte out of `ranges`: what `(?-u:…)` can say and `Chars` cannot (0x80 to 0xFF)."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Look:
    """An assertion of no width."""

    kind: LookKind
    unicode: bool = True
    """Whether a word character is Unicode's (`\\w`) or ASCII's; means nothing for anchors."""


@dataclass(frozen=True, slots=True)
class Concat:
    """All parts, one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternate:
    """One of the parts; the leftmost that leads to a match is preferred."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`node` at least `low` times, at most `high` times (`None`: no bound)."""

    node: Node
    low: int
    high: int | None
    greedy: bool = True


@dataclass(frozen=True, slots=True)
class Capture:
    """What `node` matches is the group with this number."""

    node: Node
    number: int


Node: TypeAlias = Empty | Chars | Bytes | Look | Concat | Alternate | Repeat | Capture
