"""The search verb: from its words to whatever they ask for, importing only that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli import status
from triseek.cli.world import NeedsClient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.cli.args import LowArgs
    from triseek.cli.world import World
    from triseek.service.service import Service


def search(words: Sequence[str], world: World, service: Service | None = None) -> int:
    """Do what the words after `triseek [search]` ask for; return the exit status.

    Without a service one is opened for this command alone.
    """
    from triseek.cli.args import parse

    return search_parsed(parse(words), world, service)


def search_parsed(low: LowArgs, world: World, service: Service | None = None) -> int:
    """The same for words that have been read.

    Raises:
        NeedsClient: standard input is to be read, and is not this process's.
    """
    if low.mode == "help":
        from triseek.cli.help import search_help

        world.out(search_help().encode())
        return status.FOUND
    if low.mode == "version":
        return version(world)
    if low.mode == "types":
        from triseek.cli.commands.types import type_list

        return type_list(low, world)
    if low.kind == "path":
        from triseek.cli.commands.find_files import find_from_search

        return find_from_search(low, world, service)
    from triseek.cli.commands.search import run
    from triseek.cli.resolve import resolve

    plan = resolve(low, world)
    if not world.has_stdin and any(operand.kind == "stdin" for operand in plan.operands):
        raise NeedsClient("stdin")
    return run(plan, world, service)


def version(world: World) -> int:
    """Say which triseek this is."""
    from triseek import __version__

    world.out(f"triseek {__version__}\n".encode())
    return status.FOUND
