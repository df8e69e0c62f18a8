"""The search verb: from its words to whatever they ask for, importing only that."""

from __future__ import annotations

from triseek.cli import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def search(words: Sequence[str]) -> int:
    """Do what the words after `triseek [search]` ask for; return the exit status."""
    from triseek.cli.args import parse

    low = parse(words)
    if low.mode == "help":
        from triseek.cli.help import search_help

        print(search_help(), end="")
        return status.FOUND
    if low.mode == "version":
        return version()
    if low.mode == "types":
        from triseek.cli.commands.types import type_list

        return type_list(low)
    if low.kind == "path":
        from triseek.cli.commands.find_files import find_from_search

        return find_from_search(low)
    from triseek.cli.commands.search import run
    from triseek.cli.resolve import resolve
    from triseek.cli.world import World

    return run(resolve(low, World.here()))


def version() -> int:
    """Say which triseek this is."""
    from triseek import __version__

    print(f"triseek {__version__}")
    return status.FOUND
