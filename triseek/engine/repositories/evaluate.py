"""Evaluation of a query on one file: whether it matches, and which matches are shown.

The meaning is Zoekt's: a query is true or false of a whole file. Shown are the matches of all
texts that made it true; those below a negation, or in a part of an `or` that is false, are not.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.ranking.definition_names import family_of
from triseek.engine.repositories.atoms import SPANS_MAX, Span, atom
from triseek.query.zoekt import syntax

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.engine.repositories.atoms import Atom
    from triseek.engine.repositories.documents import Document
    from triseek.model.symbol import Symbol
    from triseek.query.zoekt.syntax import Node


class Hits(NamedTuple):
    """The matches of one text in one file."""

    wanted: Atom
    in_name: bool
    spans: list[Span]
    """In ascending order, not overlapping; byte offsets in the path or in the text."""
    symbols: tuple[Symbol, ...] = ()
    """One for each span, if the query asked for definitions."""


def matches(node: Node, document: Document) -> list[Hits] | None:
    """Return what is shown of a file in which a query matches; None if it does not match.

    Nodes about repositories must have been replaced (`simplified`).
    """
    match node:
        case syntax.Const():
            return [] if node.value else None
        case syntax.Substring() | syntax.Regexp():
            return _of_text(node, document)
        case syntax.Symbol():
            return _of_symbol(atom(_in_content(node.name)), document)
        case syntax.Language():
            return [] if node.name and document.language == node.name else None
        case syntax.And():
            return _of_all(node.children, document)
        case syntax.Or():
            lists = [matches(child, document) for child in node.children]
            if all(hits is None for hits in lists):
                return None
            return [hit for hits in lists if hits is not None for hit in hits]
        case syntax.Not():
            return [] if matches(node.child, document) is None else None
        case syntax.Type():
            inner = matches(node.child, document)
            # Files are listed by their names alone.
            return inner if inner is None or node.kind == "filematch" else []
        case _:
            raise AssertionError(f"{node} is about repositories")


def _of_all(children: Iterable[Node], document: Document) -> list[Hits] | None:
    """Return the hits of all children, which are in ascending order of their cost."""
    shown: list[Hits] = []
    for child in children:
        hits = matches(child, document)
        if hits is None:
            return None
        shown += hits
    return shown


def _of_text(text: syntax.Text, document: Document) -> list[Hits] | None:
    wanted, where = atom(text), text.where
    hits: list[Hits] = []
    if where != "content" and wanted.holds(document.path):
        hits.append(Hits(wanted, True, wanted.spans(document.path)))
    if where != "file":
        spans = wanted.spans(document.content)
        if spans or (wanted.matches_all and wanted.holds(document.content)):
            hits.append(Hits(wanted, False, spans))
        if len(spans) >= SPANS_MAX:
            document.note(f"only its first {SPANS_MAX:,} matches were looked at")
    return hits or None


def _of_symbol(wanted: Atom, document: Document) -> list[Hits] | None:
    """Return the first match in the name of each definition."""
    content = document.content
    matched = False
    spans: list[Span] = []
    symbols: list[Symbol] = []
    for symbol in _that_may_match(wanted, document):
        span = wanted.first(content[symbol.begin : symbol.end])
        matched = matched or span is not None
        if span is not None and span[0] < span[1]:
            spans.append((symbol.begin + span[0], symbol.begin + span[1]))
            symbols.append(symbol)
    return [Hits(wanted, False, spans, tuple(symbols))] if matched else None


def _that_may_match(wanted: Atom, document: Document) -> Iterator[Symbol]:
    """Yield the definitions in whose names a text may match, in order."""
    places = wanted.places(document.content)
    if places is None:
        yield from document.symbols
        return
    if not places:
        return
    first, last = places[0], places[-1]
    for symbol in document.symbols:
        if (
            symbol.begin <= last
            and first < symbol.end
            and places[bisect_left(places, symbol.begin)] < symbol.end
        ):
            yield symbol


def _in_content(name: syntax.Text) -> syntax.Text:
    return type(name)(name.pattern, name.case_sensitive, "content")


_COSTS: dict[type[Node], int] = {
    syntax.Const: 0,
    syntax.Language: 2,
    syntax.Symbol: 5,
}


def cost(node: Node) -> int:
    """Return the order in which the parts of an `And` are evaluated: cheap ones first."""
    match node:
        case syntax.Substring():
            return 1 if node.where == "file" else 3
        case syntax.Regexp():
            return 1 if node.where == "file" else 4
        case syntax.And() | syntax.Or():
            return max(map(cost, node.children), default=0)
        case syntax.Not() | syntax.Type():
            return cost(node.child)
        case _:
            return _COSTS.get(type(node), 0)


def names_sought(node: Node) -> Iterator[Atom]:
    """Yield the names of definitions that a query asks for."""
    match node:
        case syntax.Symbol():
            yield atom(_in_content(node.name))
        case syntax.And() | syntax.Or():
            for child in node.children:
                yield from names_sought(child)
        case syntax.Type():
            yield from names_sought(node.child)
        case _:
            return


def seems_to_define(names: Iterable[Atom], document: Document) -> bool:
    """Return whether a line of a file has the form of a definition of one of some names."""
    family = family_of(document.path)
    if family is None:
        return False
    names = [name for name in names if name.places(document.content) != []]
    finders = (name.definition_finder(family) for name in names)
    content = document.content + b"\n" if names else b""
    return any(find is not None and find(content, 0, len(content)) is not None for find in finders)
