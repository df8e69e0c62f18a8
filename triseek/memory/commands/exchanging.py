"""`triseek memory export|import`."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import tempfile
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.errors import InvalidRequest, StateUnwritable
from triseek.memory import palaces
from triseek.memory.commands import calling
from triseek.memory.exchange import exporting, importing, sources
from triseek.memory.service import Memory, now_ms
from triseek.model.plain_text import counted, visible_line
from triseek.store import atomic
from triseek.terminal import options, report_text, status
from triseek.terminal.command_context import CommandContext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.memory.exchange.importing import ImportReport
    from triseek.memory.exchange.sources import Source

SKIPPED_SHOWN = 10
"""Lines that name what was left out."""


def export(
    target: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to; standard output if none.")
    ] = "",
    palace: Annotated[
        str,
        typer.Option(metavar="NAME", help="The palace; that of this folder's repository if none."),
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="All palaces.")] = False,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="Forgotten drawers and earlier texts, too.")
    ] = False,
) -> int:
    """Write a palace as JSON lines, to be read by other programs or by `triseek memory import`.

    Exit status 1: nothing is kept.

    Examples: triseek memory export ~/shop.jsonl · triseek memory export --all ~/memory.jsonl ·
    triseek memory export | jq -r .content
    """
    if palace and everything:
        raise InvalidRequest("--palace and --all do not go together")
    context = CommandContext.here()
    with calling.opened(context) as memory:
        chosen = _chosen(memory, context, palace, everything=everything)
        if not chosen:
            context.err(calling.NOTHING_KEPT)
            return status.NOTHING
        lines = exporting.lines(memory.database, chosen, with_forgotten=forgotten)
        if target in ("", "-"):
            for line in lines:
                sys.stdout.buffer.write(line.encode())
            sys.stdout.buffer.flush()
            return status.FOUND
        _write(target, lines)
    return status.FOUND


def import_(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="An export, a memory.jsonl, or a folder of trusty-memory; - for standard input.",
        ),
    ],
    palace: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The palace into which everything goes. Else that which the file names, or that "
            "of this folder's repository.",
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be imported, and import nothing.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Import an export of triseek, or what another program has remembered.

    Known are exports of `triseek memory export`, the memory.jsonl of the MCP memory server, and
    stores of trusty-memory in SQLite. They are only read. What is there already is left as it is,
    so importing again changes nothing. Secrets are removed.

    Exit status 1: there was nothing that can be imported.

    Examples: triseek memory import ~/memory.jsonl · triseek memory import
    ~/.local/share/trusty-memory --dry-run · triseek memory import memory.jsonl --palace shop
    """
    try:
        with sources.opened(path, sys.stdin.buffer) as source:
            report = _imported(source, palace, dry_run=dry_run)
    except OSError as error:
        raise InvalidRequest(
            f"{path} cannot be imported: {error.strerror or error}",
            next_step="Pass the path of a file or folder that you can read.",
        ) from error
    if json:
        document = {"dry_run": dry_run, "kind": source.kind, **dataclasses.asdict(report)}
        print(report_text.as_json(document))
    else:
        print(report_text.readable("\n".join(_lines(source, report, dry_run=dry_run))))
    return status.FOUND if report.palaces else status.NOTHING


def _imported(source: Source, palace: str, *, dry_run: bool) -> ImportReport:
    context = CommandContext.here()
    with _memory(context, dry_run=dry_run) as memory, report_text.progress_bars() as progress:
        name = palace
        if not name and not source.names_palaces:
            name = calling.palace_to_read(memory, context, "")
            if not name and dry_run:
                name = os.path.basename(calling.root_of(context))
            elif not name:
                name = calling.palace_to_write(memory, context, "")
        return importing.run(
            memory.database, source.records(name), now_ms(),
            palace=name, dry_run=dry_run, progress=progress,
        )  # fmt: skip


@contextlib.contextmanager
def _memory(context: CommandContext, *, dry_run: bool) -> Iterator[Memory]:
    """Yield the memory; for a dry run without one, an empty memory that is removed afterwards."""
    with calling.opened(context) as memory:
        if not dry_run or memory.exists():
            yield memory
            return
    with tempfile.TemporaryDirectory(prefix="triseek-") as folder:
        empty = Memory(folder)
        try:
            yield empty
        finally:
            empty.close()


def _chosen(memory: Memory, context: CommandContext, palace: str, *, everything: bool) -> list[str]:
    if not memory.exists():
        return []
    if everything:
        return memory.palaces()
    name = calling.palace_to_read(memory, context, palace)
    if name:
        with memory.database.read() as connection:
            palaces.id_of(connection, name)
    return [name] if name else []


def _write(target: str, lines: Iterator[str]) -> None:
    path = os.path.abspath(os.path.expanduser(target))
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a device would be replaced
            raise StateUnwritable(f"cannot write {target}: it is no file", next_step=_ELSEWHERE)
        atomic.write_lines(path, lines)
    except OSError as error:
        raise StateUnwritable(
            f"cannot write {target}: {error.strerror}", next_step=_ELSEWHERE
        ) from error


_ELSEWHERE = "Name a file in a folder that exists, which you may write and which has room."


def _lines(source: Source, report: ImportReport, *, dry_run: bool) -> Iterator[str]:
    counts = f"{counted(report.drawers, 'drawer')} and {counted(report.facts, 'fact')}"
    into = ", ".join(map(visible_line, report.palaces)) or "no palace"
    done = "to be imported" if dry_run else "imported"
    yield f"{source.kind}: {counts} {done} into {into}"
    if report.known:
        yield f"  {report.known:,} were there already"
    if report.left_out:
        yield f"  {counted(report.left_out, 'record')} left out:"
    yield from (f"    {visible_line(line)}" for line in report.skipped[:SKIPPED_SHOWN])
    if report.left_out > SKIPPED_SHOWN:
        yield f"    … and {report.left_out - SKIPPED_SHOWN:,} more (--json names 100)"
