"""The verbs that are asked all day, search, find-files and hook: told apart and done without Typer.

Light: `cli.main` imports it before anything else, the daemon runs it for its clients.
"""

from __future__ import annotations

import os

from triseek.cli import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.cli.world import World
    from triseek.service.service import Service

VERBS = frozenset(
    (
        "search", "find-files", "build", "update", "reindex", "index-status", "measure", "check",
        "stats", "warmup", "daemon", "frecency-select", "hook", "memo-observe", "memo", "mcp",
        "context-pack", "install", "uninstall", "doctor", "session", "snapshot", "pack", "resume",
        "handoff", "audit", "brief", "replay", "ui",
    )
)  # fmt: skip
"""First words that are not patterns. `triseek search build` searches for the word build."""
HOOKS = frozenset(("hook", "memo-observe"))
"""What agents run at each of their steps; the second is the older name."""
HELP = (["-h"], ["--help"])
APP_OPTIONS = frozenset(("-h", "--help", "--install-completion", "--show-completion"))
COMPLETION = "_TRISEEK_COMPLETE"
"""The variable by which a shell asks for completions."""


def is_quick(words: Sequence[str]) -> bool:
    """Whether the words are a search, find-files or a hook, as far as a glance at them tells."""
    first = words[0] if words else "--help"
    return not (
        COMPLETION in os.environ
        or first in APP_OPTIONS
        or first in ("--version", "-V")
        or first in VERBS - HOOKS - {"search", "find-files"}
    )


def perform(words: Sequence[str], world: World, service: Service | None = None) -> int | None:
    """Do a search or find-files; with a service, in a daemon's thread for somebody else.

    None: it takes Typer, which a daemon has not, to understand the words.

    Raises:
        NeedsClient: a daemon cannot do it.
    """
    if words[0] == "find-files":
        return _find_files(words, world, service)
    if words[0] in HOOKS:  # nobody here who keeps anything: `cli.remote` does it
        return None if words[1:] in HELP else status.FOUND
    from triseek.cli.search_verb import search

    return search(words[1:] if words[0] == "search" else words, world, service)


def _find_files(words: Sequence[str], world: World, service: Service | None) -> int | None:
    from triseek.cli.find_words import read

    plain = read(words[1:])
    if plain is None:
        return None
    from triseek.cli.commands.find_files import find_from_words

    return find_from_words(plain, world, service)
