"""Uses and definitions of names in files that mention them: by syntax trees, else by lines."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from triseek.files.tree.text import decode_all
from triseek.model.code_search import CodeLine
from triseek.workflows.runtime import items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from triseek.engine.symbols.symbols import FileSymbols
    from triseek.model.code_search import CodeFile
    from triseek.model.symbol import Symbol
    from triseek.workflows.runtime.items import FileItem, MatchItem

SymbolsOf: TypeAlias = "Callable[[bytes, bytes], Sequence[Symbol]]"
"""Returns the definitions of a file, of its path and content."""
ParsedBy: TypeAlias = "Callable[[bytes, bytes], FileSymbols]"
"""Returns them with why some may be missing."""
UsesOf: TypeAlias = "Callable[[bytes, bytes, bytes], tuple[FileSymbols, list[int]]]"
"""Returns the definitions of a file, and the offsets at which its code uses a name: of its path,
its content and the name."""
IMPORTED = "unknown"
"""The kind that ctags gives to names that a module of Python imports."""
SAME, SAME_BUT_CASE, BEGINS, CONTAINS, NO_DEFINITION = range(5)
"""How well a match fits the name of a definition that is looked for, best first."""


def uses_of(path: bytes, text: bytes, name: bytes) -> tuple[FileSymbols, list[int]]:
    """Return what the parsers of this process say, as `UsesOf`."""
    from triseek.engine.symbols.symbols import shared

    return shared().uses_in_file(path, text, name)


def last_part(symbol: str) -> str:
    """Return the name at the end of a qualified one, as `pop` of `MultiDict.pop`."""
    return re.split(r"::|[.#]", symbol.rstrip(".:#"))[-1] or symbol


class References:
    """Finds the uses of a name in files that mention it."""

    def __init__(self, name: str, symbols: SymbolsOf, uses: UsesOf) -> None:
        """For uses of `name`; the functions parse a file."""
        self._name = name
        self._symbols = symbols
        self._uses = uses

    def of_file(self, file: CodeFile, content: bytes | None) -> FileItem | None:
        """Return a file with its uses, each with the definition around it; None if it has none.

        A file of a language with a grammar is `checked` by `syntax`: comments, strings and
        definitions are no uses. Otherwise it is checked by `lines`: all that match and do not
        define the name.

        content: None if it cannot be read.
        """
        if content is None:
            return self._by_lines(file, ())
        text = decode_all(content).data
        listed, offsets = self._uses(file.path, text, self._name.encode())
        if not listed.is_parsed or listed.problem:
            return self._by_lines(file, listed.symbols or self._symbols(file.path, text))
        matches = _lines_at(text, offsets, listed.symbols)
        return {**items.of_file(file), "matches": matches, "checked": "syntax"} if matches else None

    def _by_lines(self, file: CodeFile, symbols: Sequence[Symbol]) -> FileItem | None:
        item = items.of_file(file)
        defining = {symbol.line for symbol in symbols if symbol.name == self._name}
        matches: list[MatchItem] = [
            {**match, "inside": _inside(symbols, match["line_number"])}
            for match in item["matches"]
            if match["line_number"] and match["line_number"] not in defining
        ]
        return {**item, "matches": matches, "checked": "lines"} if matches else None


def _lines_at(text: bytes, offsets: Iterable[int], symbols: Sequence[Symbol]) -> list[MatchItem]:
    """Return the lines at ascending offsets, each once."""
    matches: list[MatchItem] = []
    number, counted, until = 1, 0, -1
    for offset in offsets:
        if offset < until:
            continue  # in the same line
        number += text.count(b"\n", counted, offset)
        counted = offset
        begin, until = text.rfind(b"\n", 0, offset) + 1, text.find(b"\n", offset)
        until = len(text) if until < 0 else until
        line = items.shown(text[begin:until])
        matches.append({"line_number": number, "text": line, "inside": _inside(symbols, number)})
    return matches


def _inside(symbols: Sequence[Symbol], line: int) -> str:
    """Return the innermost definition of several lines around a line; "" at top level."""
    around = [each for each in symbols if each.line <= line <= each.end_line > each.line]
    if not around:
        return ""
    inner = max(around, key=lambda symbol: (symbol.line, -symbol.end_line))
    return f"{inner.parent}.{inner.name}" if inner.parent else inner.name


def definitions(file: CodeFile, symbols: Sequence[Symbol], name: str) -> tuple[int, FileItem]:
    """Return how well a file defines a name, and its item: the lines that define it best first.

    Args:
        file: With the lines that match.
        symbols: The definitions in it, if it was parsed here: its own symbols do not count then,
            among which ctags lists imports.
        name: What is looked for; "" if that is a pattern, which every definition fits.
    """
    item = items.of_file(file)
    known = symbols or [
        line.symbol for line in file.lines if line.symbol and line.symbol.kind != IMPORTED
    ]
    by_line: dict[int, Symbol] = {}
    for symbol in sorted(known, key=lambda symbol: fit(symbol.name, name)):
        by_line.setdefault(symbol.line, symbol)
    ranked: list[tuple[int, MatchItem]] = []
    for match in item["matches"]:
        definition = by_line.get(match["line_number"])
        if definition is None:
            ranked.append((NO_DEFINITION, match))
            continue
        match = {**match, "name": definition.name, "kind": definition.kind}
        if definition.parent:
            match["parent"] = definition.parent
        ranked.append((fit(definition.name, name), match))
    ranked.sort(key=lambda entry: entry[0])
    if ranked[0][0] < NO_DEFINITION:  # other matches say nothing then
        ranked = [entry for entry in ranked if entry[0] < NO_DEFINITION]
    return ranked[0][0], {**item, "matches": [match for _, match in ranked]}


def parsed_definitions(
    file: CodeFile, text: bytes, symbols: Sequence[Symbol], name: str
) -> tuple[int, FileItem] | None:
    """Return what `definitions` does, of a file that mentions a name; None if it defines none."""
    ranks = {symbol.line: fit(symbol.name, name) for symbol in reversed(symbols)}
    lines = text.split(b"\n")
    matching = tuple(
        CodeLine(number, lines[number - 1].removesuffix(b"\r"), ())
        for number, rank in sorted(ranks.items())
        if rank < NO_DEFINITION and number <= len(lines)
    )
    return definitions(replace(file, lines=matching), symbols, name) if matching else None


def fit(name: str, wanted: str) -> int:
    """Return how well the name of a definition fits what is looked for."""
    folded, sought = name.casefold(), wanted.casefold()
    if not wanted or name == wanted:
        return SAME
    if folded == sought:
        return SAME_BUT_CASE
    if folded.startswith(sought):
        return BEGINS
    return CONTAINS if sought in folded else NO_DEFINITION
