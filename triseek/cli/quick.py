"""Recognize and run the most frequent verbs without Typer: search, find-files, hook, and wings'.

Light to import: `cli.main` imports it before anything else; the daemon runs it for its clients.
"""

from __future__ import annotations

import os

from triseek.app import wings
from triseek.terminal import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.cli.low_args import LowArgs
    from triseek.engine.service import Service
    from triseek.terminal.command_context import CommandContext

VERBS = frozenset(
    (
        "stats", "daemon", "hook", "memo-observe", "mcp", "install", "uninstall", "doctor", "audit",
        "brief", "ui", "serve",
    )
).union(wings.VERBS)  # fmt: skip
"""First words that are not patterns. `triseek search build` searches for the word build."""
HOOKS = frozenset(("hook", "memo-observe"))
"""The verb that agents run at each of their steps; the second is its older name."""
HELP = (["-h"], ["--help"])
APP_OPTIONS = frozenset(("-h", "--help", "--install-completion", "--show-completion"))
COMPLETION = "_TRISEEK_COMPLETE"
"""The variable by which a shell asks for completions."""


def is_quick(words: Sequence[str]) -> bool:
    """Return whether the arguments look like a search, find-files, a hook or a wing's command."""
    first = words[0] if words else "--help"
    return not (
        COMPLETION in os.environ
        or first in APP_OPTIONS
        or first in ("--version", "-V")
        or (first in VERBS - HOOKS - {"search", "find-files"} and not wings.is_quick(words))
    )


def perform(
    words: Sequence[str], context: CommandContext, service: Service | None = None
) -> int | None:
    """Run a search, find-files or a wing's verb; with a service, in a daemon's thread.

    Return None if parsing the arguments takes Typer, which a daemon does not have.

    Raises:
        NeedsClient: A daemon cannot run the command.
    """
    if words[0] in HOOKS:  # no hook is recorded here: `cli.remote` does that
        return None if words[1:] in HELP else status.FOUND
    if wings.is_quick(words):
        from importlib import import_module

        module, _ = wings.QUICK[words[0]]
        code: int | None = import_module(module).perform(words[1:], context)
        return code
    if words[0] != "find-files":
        return search(words[1:] if words[0] == "search" else words, context, service)
    from triseek.cli.find_words import read

    plain = read(words[1:])
    if plain is None:
        return None
    from triseek.cli.commands.find_files import find_files

    return find_files(plain, context, service)


def search(words: Sequence[str], context: CommandContext, service: Service | None = None) -> int:
    """Run the command of the arguments after `triseek [search]`; return the exit status.

    Without a service one is opened for this command alone. Only what is needed is imported.

    Raises:
        NeedsClient: Standard input is to be read, and is not this process's.
    """
    from triseek.cli.args import parse

    low = parse(words)
    if low.mode == "help":
        from triseek.cli.search_help import search_help

        context.out(search_help().encode())
        return status.FOUND
    if low.mode == "version":
        return version(context)
    if low.mode == "types":
        return _type_list(low, context)
    if low.kind == "path":
        from triseek.cli.commands.find_files import find_from_search

        return find_from_search(low, context, service)
    from triseek.cli.commands.search import run
    from triseek.cli.resolve import resolve
    from triseek.terminal.command_context import NeedsClient

    plan = resolve(low, context)
    if not context.has_stdin and any(operand.kind == "stdin" for operand in plan.operands):
        raise NeedsClient("stdin")
    return run(plan, context, service)


def version(context: CommandContext) -> int:
    """Print the version of triseek."""
    from triseek import __version__

    context.out(f"triseek {__version__}\n".encode())
    return status.FOUND


def _type_list(low: LowArgs, context: CommandContext) -> int:
    """Show every file type and its globs, after --type-add and --type-clear."""
    from triseek.cli.resolve import type_choice
    from triseek.query.globs.file_types import definitions
    from triseek.terminal.command_context import Output

    out = Output(context.out)
    table = definitions(type_choice(low).type_changes)
    for name in sorted(table):
        out.write(f"{name}: {', '.join(table[name])}\n".encode())
    out.flush()
    return status.FOUND if table else status.NOTHING
