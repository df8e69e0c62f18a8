"""The search verb: parse its arguments and run what they ask for, importing only that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.command_context import NeedsClient
from triseek.terminal import status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.cli.command_context import CommandContext
    from triseek.cli.low_args import LowArgs
    from triseek.engine.service import Service


def search(words: Sequence[str], context: CommandContext, service: Service | None = None) -> int:
    """Run the command of the arguments after `triseek [search]`; return the exit status.

    Without a service one is opened for this command alone.
    """
    from triseek.cli.args import parse

    return search_parsed(parse(words), context, service)


def search_parsed(low: LowArgs, context: CommandContext, service: Service | None = None) -> int:
    """Do the same as `search` for parsed arguments.

    Raises:
        NeedsClient: Standard input is to be read, and is not this process's.
    """
    if low.mode == "help":
        from triseek.cli.help import search_help

        context.out(search_help().encode())
        return status.FOUND
    if low.mode == "version":
        return version(context)
    if low.mode == "types":
        return type_list(low, context)
    if low.kind == "path":
        from triseek.cli.commands.find_files import find_from_search

        return find_from_search(low, context, service)
    from triseek.cli.commands.search import run
    from triseek.cli.resolve import resolve

    plan = resolve(low, context)
    if not context.has_stdin and any(operand.kind == "stdin" for operand in plan.operands):
        raise NeedsClient("stdin")
    return run(plan, context, service)


def version(context: CommandContext) -> int:
    """Print the version of triseek."""
    from triseek import __version__

    context.out(f"triseek {__version__}\n".encode())
    return status.FOUND


def type_list(low: LowArgs, context: CommandContext) -> int:
    """Show every file type and its globs, after --type-add and --type-clear."""
    from triseek.cli.command_context import Output
    from triseek.cli.resolve import type_choice
    from triseek.query.globs.file_types import definitions

    out = Output(context.out)
    table = definitions(type_choice(low).changes)
    for name in sorted(table):
        out.write(f"{name}: {', '.join(table[name])}\n".encode())
    out.flush()
    return status.FOUND if table else status.NOTHING
