"""`triseek symbols`: the outline of a file, where a name is defined, where it is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.errors import InvalidRequest
from triseek.model.plain_text import visible_line
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from triseek.engine.symbols.lookup import Lookup, Place
    from triseek.engine.symbols.symbols import FileSymbols
    from triseek.model.symbol import Symbol

LIMIT = 200
_MORE_PARSERS = (
    "Install universal-ctags, or for C#, Kotlin, PHP, Ruby, Scala and Swift triseek[symbols]."
)


def symbols(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="The file; with a name, the folder to look in.")
    ] = "",
    definition: Annotated[
        str, typer.Option("--definition", metavar="NAME", help="Show where a name is defined.")
    ] = "",
    references: Annotated[
        str, typer.Option("--references", metavar="NAME", help="Show where a name is used.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="Most places to show.")
    ] = LIMIT,
    json: options.Json = False,
) -> int:
    """Show what a file defines, where a name is defined, or where it is used in code.

    References are identifiers: comments and strings do not count. Exit status 1: nothing found.

    Examples: triseek symbols src/engine.py · triseek symbols --definition Engine.search ·
    triseek symbols src --references path_order --json
    """
    from triseek.engine.service import Service
    from triseek.engine.symbols.symbols import Symbols

    if definition and references:
        raise InvalidRequest(
            "--definition and --references exclude each other", next_step="Pass one of them."
        )
    if not (definition or references or path):
        raise InvalidRequest(
            "a file, --definition NAME or --references NAME is missing",
            next_step="See `triseek symbols --help`.",
        )
    with Service() as service, Symbols() as parsers:
        if not (definition or references):
            return _outline(service, parsers, path, as_json=json)
        from triseek.engine.symbols import lookup

        folder = options.existing_folder(path or ".")
        engine = service.engine(folder)
        inside = os.path.relpath(folder, engine.root)
        find = lookup.definitions if definition else lookup.references
        paths = () if inside == "." else (inside,)
        found = find(parsers, engine, definition or references, paths=paths, limit=limit)
    print(report_text.as_json(_document(found)) if json else _lookup_text(found))
    return status.FOUND if found.places else status.NOTHING


def _outline(service: Any, parsers: Any, path: str, *, as_json: bool) -> int:  # noqa: ANN401
    from triseek.engine.symbols import lookup

    folder, name = os.path.split(os.path.realpath(path))
    if not os.path.isfile(path):
        raise InvalidRequest(f"{path}: no such file", next_step="Pass the path of a file.")
    listed = lookup.outline(parsers, service.engine(folder, exact=True), name)
    if as_json:
        rows = [symbol._asdict() for symbol in listed.symbols]
        partial = [f"{name}: {listed.problem}."] if listed.problem else []
        print(report_text.as_json({"path": path, "symbols": rows, "partial": partial}))
    else:
        print(_outline_text(path, listed))
    return status.FOUND if listed.symbols else status.NOTHING


def _outline_text(path: str, listed: FileSymbols) -> str:
    lines = []
    around: list[Symbol] = []
    for symbol in listed.symbols:
        while around and not _is_inside(symbol, around[-1]):
            around.pop()
        span = f"{symbol.line}"
        span += f"-{symbol.end_line}" if symbol.end_line > symbol.line else ""
        lines.append(f"{'  ' * len(around)}{symbol.kind} {visible_line(symbol.name)}  {span}")
        around.append(symbol)
    if not listed.is_parsed:
        lines.append(f"{path}: there is no parser for this language. {_MORE_PARSERS}")
    if listed.problem:
        lines.append(f"{path}: {listed.problem}, so definitions may be missing")
    return "\n".join(lines) or f"{path}: no definitions"


def _is_inside(symbol: Symbol, outer: Symbol) -> bool:
    """Return whether a symbol is shown below another: in its lines, and named as its child."""
    return symbol.parent == outer.name and outer.line <= symbol.line <= outer.end_line


def _lookup_text(found: Lookup) -> str:
    lines = [_place_text(place) for place in found.places]
    if not found.places:
        lines.append("no such name in code")
    if found.unparsed:
        files = "file" if found.unparsed == 1 else "files"
        lines.append(f"{found.unparsed:,} more {files} in languages without a parser")
    return "\n".join((*lines, *map(visible_line, found.partial)))


def _place_text(place: Place) -> str:
    path, text = place.path.decode(errors="replace"), place.text.decode(errors="replace")
    return visible_line(f"{path}:{place.line}:{place.column}: {text.strip()}")


def _document(found: Lookup) -> dict[str, Any]:
    places = [
        {
            "path": place.path.decode(errors="replace"),
            "line": place.line,
            "column": place.column,
            "text": place.text.decode(errors="replace"),
            "symbol": place.symbol._asdict() if place.symbol else None,
        }
        for place in found.places
    ]
    return {
        "places": places,
        "files": found.files,
        "unparsed": found.unparsed,
        "partial": list(found.partial),
    }
