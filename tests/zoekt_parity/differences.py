"""Why a place may differ between the results of Zoekt and of triseek."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tests.zoekt_parity.trees import TOO_LARGE
from triseek.engine.repositories.atoms import SPANS_MAX, atom
from triseek.query.regex.syntax import Alternate, Repeat, any_node
from triseek.query.zoekt import go_regexp, go_tree
from triseek.query.zoekt.syntax import And, Not, Or, Regexp, Substring, Symbol, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.query.zoekt.syntax import Node, Text

Spans: TypeAlias = tuple[tuple[int, int], ...]

NAME, NO_LINE = 0, -1
"""Line numbers of a match in the name, and of a file of which no line is shown."""
TOO_SMALL = 3


class Place(NamedTuple):
    """A line of a file, or its name, with what either side shows there; None if nothing."""

    path: bytes
    content: bytes
    number: int
    ours: Spans | None
    theirs: Spans | None
    in_file: int
    """Matches that triseek shows in the file."""


def reason(query: Node, place: Place) -> str:
    """Return why the two differ at a place; "" if they should not."""
    texts = list(texts_of(query))
    if _is_left_out(place.content):
        return "Zoekt indexes the name and a note instead of binary, large and tiny files"
    if place.in_file >= SPANS_MAX:
        return f"triseek looks at {SPANS_MAX:,} matches of a text in a file, and says so"
    if _full(place.ours) == _full(place.theirs) or (
        place.number in (NAME, NO_LINE) and _match_nothing(texts, place)
    ):
        return "triseek shows no empty matches"
    if any(_is_folded(text) and _holds(text, place) for text in texts):
        return "Zoekt reads a text that ignores case by itself as one of capitals"
    if _covered(place.ours) == _covered(place.theirs) and any(map(_has_choice, texts)):
        return "Zoekt shows each literal of a regular expression that only repeats or lists some"
    if _covered(place.theirs) < _covered(place.ours) and any(map(_folds_beyond_ascii, texts)):
        return "triseek folds case where Zoekt compares lower case"
    return ""


def texts_of(node: Node) -> Iterator[Text]:
    """Yield all texts of a query."""
    match node:
        case Substring() | Regexp():
            yield node
        case Symbol(name):
            yield name
        case And(children) | Or(children):
            for child in children:
                yield from texts_of(child)
        case Not(child) | Type(_, child):
            yield from texts_of(child)


def _is_left_out(content: bytes) -> bool:
    return b"\0" in content or len(content) > TOO_LARGE or len(content) < TOO_SMALL


def _full(spans: Spans | None) -> Spans:
    return tuple((begin, end) for begin, end in spans or () if begin < end)


def _covered(spans: Spans | None) -> set[int]:
    return {at for begin, end in spans or () for at in range(begin, end)}


def _match_nothing(texts: list[Text], place: Place) -> bool:
    """Return whether a text matches the empty string somewhere in the file or its name."""
    return any(
        begin == end
        for text in texts
        for data in (place.path, place.content)
        for begin, end in atom(text).pattern.finditer(data)
    )


def _is_folded(text: Text) -> bool:
    return isinstance(text, Regexp) and text.pattern == go_tree.folded_literal(
        go_regexp.parse(text.pattern.removesuffix("(?:)"))
    )


def _holds(text: Text, place: Place) -> bool:
    return atom(text).holds(place.content) or atom(text).holds(place.path)


def _has_choice(text: Text) -> bool:
    return isinstance(text, Regexp) and any_node(
        go_regexp.parse(text.pattern), lambda node: isinstance(node, Alternate | Repeat)
    )


def _folds_beyond_ascii(text: Text) -> bool:
    letters = set(text.pattern.lower())
    return not text.case_sensitive and bool(letters & set("ks") or not text.pattern.isascii())
