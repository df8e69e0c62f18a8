"""`triseek history fix|how|blame|friction`: what only a history of uses of tools can say."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from triseek.errors import InvalidRequest
from triseek.history.commands.calling import call
from triseek.history.commands.importing import moment_ms
from triseek.terminal import options, report_text, status

Project = Annotated[
    str, typer.Option(metavar="NAME", help="Only this project's: its name or root folder.")
]
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Results, at most 100.")]


def fix(
    error: Annotated[list[str], typer.Argument(metavar="ERROR", help="The error's text.")],
    project: Project = "",
    limit: Limit = 5,
    json: options.Json = False,
) -> int:
    """Show what was edited and run after an error when it went away.

    Exit status 1: no conversation has met it.

    Example: triseek history fix "ModuleNotFoundError: No module named 'yaml'"
    """
    text = _joined(error, "the error")
    return _print("fix", {"error": text, "project": project, "limit": limit}, as_json=json)


def how(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", help="Such as `pytest`.")],
    project: Project = "",
    limit: Limit = 8,
    json: options.Json = False,
) -> int:
    """Show how a command is really run here: its arguments, its folder, how often it passed.

    Exit status 1: no conversation has run it.

    Example: triseek history how pytest
    """
    text = _joined(command, "the command")
    return _print("how", {"command": text, "project": project, "limit": limit}, as_json=json)


def blame(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The file.")],
    limit: Limit = 20,
    json: options.Json = False,
) -> int:
    """Show which conversations have changed a file, and what they were asked for.

    Exit status 1: none has.

    Example: triseek history blame src/auth/router.py
    """
    folder, name = os.path.split(path)
    absolute = os.path.join(os.path.realpath(folder or "."), name)
    named = absolute if os.path.lexists(path) else path
    return _print("blame", {"path": named, "limit": limit}, as_json=json)


def friction(
    project: Project = "",
    since: Annotated[str, typer.Option(metavar="WHEN", help="Not older: 2026-10-01, or 30d.")] = "",
    limit: Limit = 10,
    json: options.Json = False,
) -> int:
    """Show the errors that come again, most often first, and what made them go away.

    Exit status 1: none comes again.

    Example: triseek history friction --project triseek --since 90d
    """
    since_ms = moment_ms(since) if since else 0
    params = {"project": project, "since_ms": since_ms, "limit": limit}
    return _print("friction", params, as_json=json)


def _joined(words: list[str], what: str) -> str:
    text = " ".join(words).strip()
    if not text:
        raise InvalidRequest(f"{what} is empty", next_step="See `triseek history --help`.")
    return text


def _print(name: str, params: dict[str, Any], *, as_json: bool) -> int:
    reply = call(name, params)
    answer = report_text.as_json(reply["answer"])
    print(answer if as_json else report_text.readable(reply["text"]))
    return status.FOUND if reply["found"] else status.NOTHING
