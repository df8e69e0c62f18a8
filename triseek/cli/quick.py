"""Recognize and run the most frequent verbs, search, find-files and hook, without Typer.

Light to import: `cli.main` imports it before anything else; the daemon runs it for its clients.
"""

from __future__ import annotations

import os

from triseek.app import wings
from triseek.terminal import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.cli.command_context import CommandContext
    from triseek.engine.service import Service

VERBS = frozenset(
    (
        "stats", "daemon", "hook", "memo-observe", "mcp", "install", "uninstall", "doctor", "audit",
        "brief", "ui",
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
    """Return whether the arguments look like a search, find-files or a hook."""
    first = words[0] if words else "--help"
    return not (
        COMPLETION in os.environ
        or first in APP_OPTIONS
        or first in ("--version", "-V")
        or first in VERBS - HOOKS - {"search", "find-files"}
    )


def perform(
    words: Sequence[str], context: CommandContext, service: Service | None = None
) -> int | None:
    """Run a search or find-files; with a service, in a daemon's thread for a client.

    Return None if parsing the arguments takes Typer, which a daemon does not have.

    Raises:
        NeedsClient: A daemon cannot run the command.
    """
    if words[0] == "find-files":
        return _find_files(words, context, service)
    if words[0] in HOOKS:  # no hook is recorded here: `cli.remote` does that
        return None if words[1:] in HELP else status.FOUND
    from triseek.cli.search_verb import search

    return search(words[1:] if words[0] == "search" else words, context, service)


def _find_files(
    words: Sequence[str], context: CommandContext, service: Service | None
) -> int | None:
    from triseek.cli.find_words import read

    plain = read(words[1:])
    if plain is None:
        return None
    from triseek.cli.commands.find_files import find_files

    return find_files(plain, context, service)
