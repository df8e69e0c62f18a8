r"""What another dialect's habits may have meant, when a search found nothing.

`grep`'s basic expressions write `\|` where Rust writes `|`; an agent that thinks in JSON doubles
its backslashes; `foo(bar)` is a call to who wrote it and a group to the parser. None of that is an
error, so it is silent, and an empty answer looks like a fact. Each piece of advice names
the habit and, where there is one, the other reading, for the caller to try and count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.errors import InvalidQuery
from triseek.query.fold import fold
from triseek.query.parse import parse
from triseek.query.syntax import Look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triseek.model.search import PatternSpec
    from triseek.query.syntax import Node

_META = frozenset("\\.+*?()|[]{}^$")
_ESCAPE_OR_CHARACTER = re.compile(r"\\.|.", re.DOTALL)
_BASIC = frozenset("|(){}+?")
_DOUBLED = re.compile(r"\\\\(?=[.()\[\]{}|+*?^$wWdDsSbB\"'/-])")
_BARE_POSIX = re.compile(r"(?<!\[)\[:(\^?[a-z]+):\](?!\])")
_DOT_ALL = re.compile(r"\(\?[a-zA-Z]*s")
_REGEX_SIGNS = re.compile(r"\.[*+]|\\[wWdDsSbB.()|]|\||\[[^\]]+\]|\(\?|^\^|\$$")

_ONLY_REGEX = re.compile(r"\.[*+]|\\[wWdDsSbBpP]|\(\?")


@dataclass(frozen=True, slots=True)
class Advice:
    """One other way to read what was asked for."""

    text: str
    """What the pattern means here and how to write the other meaning; one sentence."""
    alternative: PatternSpec | None = None
    """The other reading, valid and different from the first; `None` if there is only advice."""


def zero_hit_advice(spec: PatternSpec) -> list[Advice]:
    """Return the other readings of patterns that matched nothing, the likeliest first.

    Every alternative can be parsed, and means something else than `spec` does.
    """
    out: list[Advice] = []
    own = _tree(spec)
    seen = [own]
    for text, other in _readings(spec):
        tree = _tree(other)
        if tree is not None and tree not in seen:
            seen.append(tree)
            out.append(Advice(text, other))
    return out


def _readings(spec: PatternSpec) -> Iterator[tuple[str, PatternSpec]]:
    """Yield what other dialects would make of the patterns, whether or not it can be parsed."""
    if spec.fixed:
        if any(_REGEX_SIGNS.search(pattern) for pattern in spec.patterns):
            yield (
                "-F reads the pattern as text; without it, it is a regular expression",
                replace(spec, fixed=False),
            )
        return
    for text, rewrite in _REWRITES:
        patterns = tuple(map(rewrite, spec.patterns))
        if patterns != spec.patterns:
            yield text, replace(spec, patterns=patterns)
    if not spec.multiline and any(map(_DOT_ALL.search, spec.patterns)):
        yield (
            "(?s) changes nothing within one line; pass -U to match across lines",
            replace(spec, multiline=True),
        )
    if any(map(_may_be_text, spec.patterns)):
        yield (
            "some characters of the pattern are operators here; -F reads all of it as text",
            replace(spec, fixed=True),
        )
    if not spec.crlf and _asserts_line_end(spec):
        yield (
            "$ does not match before a CR; pass --crlf for files whose lines end in CR LF",
            (replace(spec, crlf=True)),
        )


def _may_be_text(pattern: str) -> bool:
    """Return whether a pattern has operators, but none that only an expression would have."""
    return not _META.isdisjoint(pattern) and _ONLY_REGEX.search(pattern) is None


def _tree(spec: PatternSpec) -> Node | None:
    try:
        return parse(spec).tree
    except InvalidQuery:
        return None


def _asserts_line_end(spec: PatternSpec) -> bool:
    def asserts(node: Node, below: list[bool]) -> bool:
        return any(below) or (isinstance(node, Look) and node.kind == "line_end")

    tree = _tree(spec)
    return tree is not None and fold(tree, asserts)


def _rewritten(pattern: str, rewrite: Callable[[str], str]) -> str:
    """Return the pattern with `rewrite` applied to every escape and every other character."""
    return "".join(rewrite(piece) for piece in _ESCAPE_OR_CHARACTER.findall(pattern))


def _from_basic(pattern: str) -> str:
    r"""Read `\|`, `\(`, `\)`, `\{`, `\}`, `\+` and `\?` as operators, and those signs as text."""
    escaped = {piece[1] for piece in _ESCAPE_OR_CHARACTER.findall(pattern) if len(piece) == 2}
    if escaped.isdisjoint(_BASIC):
        return pattern

    def swap(piece: str) -> str:
        if len(piece) == 2 and piece[1] in _BASIC:
            return piece[1]
        return "\\" + piece if piece in _BASIC and _pair(piece) & escaped else piece

    return _rewritten(pattern, swap)


def _pair(sign: str) -> set[str]:
    """Return the signs that a pattern writes the same way as this one."""
    return next((set(pair) for pair in ("()", "{}") if sign in pair), {sign})


def _angles(pattern: str) -> str:
    r"""Read `\<` and `\>` as the characters."""
    return _rewritten(pattern, lambda piece: piece[1] if piece in (r"\<", r"\>") else piece)


_REWRITES: tuple[tuple[str, Callable[[str], str]], ...] = (
    (
        r"\| \( \) \{ \} \+ \? are plain characters here; as operators they have no backslash",
        _from_basic,
    ),
    (
        r"\\ is one literal backslash here; write \ once if the pattern was escaped twice",
        lambda pattern: _DOUBLED.sub(r"\\", pattern),
    ),
    (
        r"\< and \> are the start and the end of a word here; write < and > for the characters",
        _angles,
    ),
    (
        "[:name:] is a class of these letters here; the POSIX class is written [[:name:]]",
        lambda pattern: _BARE_POSIX.sub(r"[[:\1:]]", pattern),
    ),
)
