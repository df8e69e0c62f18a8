"""`triseek history fix|how|blame|friction`: what only a history of uses of tools can say."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from triseek.errors import InvalidRequest
from triseek.history.commands.calling import call
from triseek.terminal import report_text, status
from triseek.terminal.moments import moment_ms
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from triseek.terminal.command_context import CommandContext

Project = Annotated[str, Option("NAME", "Only this project's: its name or root folder.")]
Limit = Annotated[int, Option("N", "Results, at most 100.", least=1, most=100)]


def fix(
    context: CommandContext,
    error: Annotated[list[str], Argument("ERROR", "The error's text.")],
    project: Project = "",
    limit: Limit = 5,
    json: Json = False,
) -> int:
    """Show what was edited and run after an error when it went away.

    Exit status 1: no conversation has met it.

    Example: triseek history fix "ModuleNotFoundError: No module named 'yaml'"
    """
    text = _joined(error, "the error")
    return _print(context, "fix", {"error": text, "project": project, "limit": limit}, as_json=json)


def how(
    context: CommandContext,
    command: Annotated[list[str], Argument("COMMAND", "Such as `pytest`.")],
    project: Project = "",
    limit: Limit = 8,
    json: Json = False,
) -> int:
    """Show how a command is really run here: its arguments, its folder, how often it passed.

    Exit status 1: no conversation has run it.

    Example: triseek history how pytest
    """
    text = _joined(command, "the command")
    return _print(
        context, "how", {"command": text, "project": project, "limit": limit}, as_json=json
    )


def blame(
    context: CommandContext,
    path: Annotated[str, Argument("PATH", "The file.")],
    limit: Limit = 20,
    json: Json = False,
) -> int:
    """Show which conversations have changed a file, and what they were asked for.

    Exit status 1: none has.

    Example: triseek history blame src/auth/router.py
    """
    folder, name = os.path.split(path)
    with suppress(OSError, ValueError):
        context.stat(folder or ".")  # what only the client's process may look up
    absolute = os.path.join(context.folder(folder), name)
    named = absolute if os.path.lexists(context.at(path)) else path
    return _print(context, "blame", {"path": named, "limit": limit}, as_json=json)


def friction(
    context: CommandContext,
    project: Project = "",
    since: Annotated[str, Option("WHEN", "Not older: 2026-10-01, or 30d.")] = "",
    limit: Limit = 10,
    json: Json = False,
) -> int:
    """Show the errors that come again, most often first, and what made them go away.

    Exit status 1: none comes again.

    Example: triseek history friction --project triseek --since 90d
    """
    since_ms = moment_ms(since) if since else 0
    params = {"project": project, "since_ms": since_ms, "limit": limit}
    return _print(context, "friction", params, as_json=json)


def _joined(words: list[str], what: str) -> str:
    text = " ".join(words).strip()
    if not text:
        raise InvalidRequest(f"{what} is empty", next_step="See `triseek history --help`.")
    return text


def _print(context: CommandContext, name: str, params: dict[str, Any], *, as_json: bool) -> int:
    reply = call(name, params, context)
    text = reply["text"] + ("\n\nA whole conversation: triseek history show ID" * reply["found"])
    context.print(report_text.as_json(reply["answer"]) if as_json else report_text.readable(text))
    return status.FOUND if reply["found"] else status.NOTHING
