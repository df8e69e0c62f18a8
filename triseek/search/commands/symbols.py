"""`triseek symbols`: the outline of a file, where a name is defined, where it is used.

It runs without Typer, in the daemon if there is one.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Annotated, Any

from triseek.errors import InvalidRequest, RepoNotDetected
from triseek.model.plain_text import visible_line
from triseek.search.commands.opening import opened
from triseek.terminal import plain_words, report_text, status
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.engine.service import Service
    from triseek.engine.symbols.lookup import Lookup, SymbolPlace
    from triseek.engine.symbols.symbols import FileSymbols, Symbols
    from triseek.model.symbol import Symbol
    from triseek.terminal.command_context import CommandContext

LIMIT = 200
SECONDS = 60.0
"""Time limit of a lookup; a person can end it sooner."""
_MORE_PARSERS = (
    "Install universal-ctags, or for C#, Kotlin, PHP, Ruby, Scala and Swift triseek[symbols]."
)


def perform(words: Sequence[str], context: CommandContext) -> int | None:
    """Run the verb with its arguments; return None if they are left to Typer.

    Raises:
        NeedsClient: A daemon cannot run the command.
        TriseekError: As the verb.
    """
    values = plain_words.read(symbols, words)
    return None if values is None else symbols(context, **values)


def symbols(
    command: CommandContext,
    path: Annotated[str, Argument("PATH", "The file; with a name, the folder to look in.")] = "",
    definition: Annotated[str, Option("NAME", "Show where a name is defined.")] = "",
    references: Annotated[str, Option("NAME", "Show where a name is used.")] = "",
    limit: Annotated[int, Option("N", "Most places to show.", least=1, most=10_000)] = LIMIT,
    json: Json = False,
) -> int:
    """Show what a file defines, where a name is defined, or where it is used in code.

    References are identifiers: comments and strings do not count. Exit status 1: nothing
    matches; 2: nothing matches, and not everything was searched.

    Examples: triseek symbols src/engine.py · triseek symbols --definition Engine.search ·
    triseek symbols src --references path_order --json
    """
    from triseek.engine.symbols.symbols import shared

    if definition and references:
        raise InvalidRequest(
            "--definition and --references exclude each other", next_step="Pass one of them."
        )
    if not (definition or references or path):
        raise InvalidRequest(
            "a file, --definition NAME or --references NAME is missing",
            next_step="See `triseek symbols --help`.",
        )
    with opened(command) as service:
        if not (definition or references):
            return _outline(command, service, shared(), path, as_json=json)
        from triseek.engine.symbols import lookup

        if not stat.S_ISDIR(_mode(command, path or os.curdir)):
            raise RepoNotDetected(f"{path}: no such folder")
        folder = command.folder(path)
        engine = service.engine(folder)
        inside = os.path.relpath(folder, engine.root)
        find = lookup.definitions if definition else lookup.references
        paths = () if inside == "." else (inside,)
        result = find(
            shared(), engine, definition or references,
            paths=paths, limit=limit, seconds=SECONDS,
        )  # fmt: skip
    command.print(report_text.as_json(_document(result)) if json else _lookup_text(result))
    return status.of_search(bool(result.places), bool(result.partial))


def _outline(
    command: CommandContext, service: Service, parsers: Symbols, path: str, *, as_json: bool
) -> int:
    from triseek.engine.symbols import lookup

    folder, name = os.path.split(command.folder(path))
    if not stat.S_ISREG(_mode(command, path)):
        raise InvalidRequest(f"{path}: no such file", next_step="Pass the path of a file.")
    listed = lookup.outline(parsers, service.engine(folder, exact=True), name)
    if as_json:
        rows = [symbol._asdict() for symbol in listed.symbols]
        partial = [f"{name}: {listed.problem}."] if listed.problem else []
        document = {"path": path, "symbols": rows, "partial": partial}
        command.print(report_text.as_json(document))
    else:
        command.print(_outline_text(path, listed))
    return status.of_search(bool(listed.symbols), bool(listed.problem))


def _mode(command: CommandContext, path: str) -> int:
    """Return the mode of a typed path; 0 if there is none. Raises `NeedsClient`."""
    try:
        return command.stat(path).st_mode
    except (OSError, ValueError):
        return 0


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


def _lookup_text(result: Lookup) -> str:
    lines = [_place_text(place) for place in result.places]
    if not (result.places or result.partial):
        lines.append("no such name in code")
    if result.unparsed:
        files = "file" if result.unparsed == 1 else "files"
        lines.append(f"{result.unparsed:,} more {files} in languages without a parser")
    return "\n".join((*lines, *map(visible_line, result.partial)))


def _place_text(place: SymbolPlace) -> str:
    path, text = place.path.decode(errors="replace"), place.text.decode(errors="replace")
    return visible_line(f"{path}:{place.line}:{place.column}: {text.strip()}")


def _document(result: Lookup) -> dict[str, Any]:
    places = [
        {
            "path": place.path.decode(errors="replace"),
            "line": place.line,
            "column": place.column,
            "text": place.text.decode(errors="replace"),
            "symbol": place.symbol._asdict() if place.symbol else None,
        }
        for place in result.places
    ]
    return {
        "places": places,
        "files": result.files,
        "unparsed": result.unparsed,
        "partial": list(result.partial),
    }
