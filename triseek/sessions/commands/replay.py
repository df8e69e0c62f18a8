"""replay: walk the log of a snapshot or session, in order."""

from __future__ import annotations

import json as jsons
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.errors import InvalidRequest
from triseek.ipc import surroundings
from triseek.model.session import checked_id
from triseek.terminal import report_text, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.model.session import LogEntry
    from triseek.sessions.action_log import ActionLog

_COLORS = {
    "prompt": "1", "edit": "33", "read": "32", "search": "36", "read_denied": "35",
    "compact": "31", "command": "37", "session_open": "34", "session_close": "34",
    "session_resume": "34", "session_handoff": "34",
}  # fmt: skip


def replay(
    name: Annotated[str, typer.Argument(metavar="SNAPSHOT|SESSION", help="Its id.")],
    kind: Annotated[
        list[str],
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Only these: read, edit, search, command, prompt, compact, read_denied, a tool's "
            "name. May be repeated.",
        ),
    ] = [],  # noqa: B006 - Typer copies it
    first: Annotated[
        int, typer.Option("--from", metavar="ENTRY", min=0, help="Begin with this entry.")
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="Write a JSON document.")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Write a JSON document a line.")] = False,
    no_pager: Annotated[
        bool, typer.Option("--no-pager", help="Write to the terminal itself.")
    ] = False,
) -> int:
    """Walk through what was done: when, what kind of thing, by whom, and what.

    On a terminal it goes through $PAGER, or less. Exit status 1: there is no such entry.

    Examples: triseek replay snap_1746300000_session_123 · triseek replay session_123 --kind edit
    --kind prompt · triseek replay session_123 --from 40 --jsonl
    """  # fmt: skip
    if json and jsonl:
        raise InvalidRequest("--json and --jsonl are two forms", next_step="Give one of them.")
    log, omitted = _log(name)
    entries = (
        entry for entry in log if entry.entry_id >= first and (not kind or entry.kind in kind)
    )
    if jsonl:
        return _write(f"{_packed(entry)}\n" for entry in entries)
    if json:
        return _write_document(name, omitted, entries)
    return _show(entries, omitted, no_pager=no_pager)


def _log(name: str) -> tuple[ActionLog, int]:
    """Return the log of a snapshot, else of a session, and the number of older entries it lacks.

    Raises:
        InvalidRequest: There is neither, or it cannot be read.
    """
    from triseek import paths
    from triseek.sessions import snapshot_files
    from triseek.sessions.action_log import ActionLog

    folder = Path(paths.snapshots(), checked_id(name, "id"))
    omitted = 0
    if (folder / snapshot_files.MANIFEST).is_file():
        with suppress(OSError, ValueError):  # show the log even if the manifest is damaged
            omitted = snapshot_files.read_manifest(folder).action_log_omitted
    else:
        folder = Path(paths.sessions(), name)
    log = ActionLog(folder)
    try:
        log.path.open("rb").close()
    except FileNotFoundError:
        raise InvalidRequest(
            f"there is no snapshot or session `{name}`",
            next_step="See `triseek snapshot list` and `triseek session list`.",
        ) from None
    except OSError as error:
        raise InvalidRequest(f"{log.path}: {error.strerror}", next_step="") from error
    return log, omitted


def _write(pieces: Iterable[str]) -> int:
    """Write pieces as they come; return status 1 if there are none."""
    code = status.NOTHING
    for piece in pieces:
        code = status.FOUND
        sys.stdout.buffer.write(piece.encode("ascii"))
    return code


def _write_document(name: str, omitted: int, entries: Iterable[LogEntry]) -> int:
    """Write one JSON document while the log is read."""
    head = f'{{"schema_version": 1, "id": "{name}", "omitted": {omitted}, "entries": ['
    sys.stdout.buffer.write(head.encode("ascii"))
    separated = (("\n" if not n else ",\n") + _packed(entry) for n, entry in enumerate(entries))
    code = _write(separated)
    sys.stdout.buffer.write(b"\n]}\n")
    return code


def _packed(entry: LogEntry) -> str:
    """Return an entry as in the log; ASCII, so that it cannot control a terminal."""
    return jsons.dumps({name: getattr(entry, name) for name in entry.__slots__})


def _show(entries: Iterable[LogEntry], omitted: int, *, no_pager: bool) -> int:
    from triseek.terminal.pager import paged

    code = status.NOTHING
    is_colored = sys.stdout.isatty() and not surroundings.plain(os.environ)
    paint = _painted if is_colored else lambda text, _color: text
    with paged(wanted=not no_pager) as write:
        if omitted:
            write(f"({omitted:,} older entries are not in the snapshot)\n")
        for entry in entries:
            code = status.FOUND
            write(_line(entry, paint))
    return code


def _line(entry: LogEntry, paint: Callable[[str, str], str]) -> str:
    """Format `    12  2026-11-22 18:10:05  search           codex  jitter (literal) → nothing`."""
    from triseek.sessions import wording

    at, kind = paint(_time(entry.ts), "2"), _plain(entry.kind)[:24]
    kind = paint(f"{kind:16}", _COLORS.get(entry.kind, ""))
    who, what = _plain(wording.who(entry)), _plain(wording.what(entry))
    return f"{entry.entry_id:6}  {at}  {kind} {who}  {what}\n"


def _time(at_s: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_s))
    except (OverflowError, ValueError, OSError):
        return str(at_s)[:19]


def _plain(text: str) -> str:
    return text if text.isprintable() else report_text.readable(text.replace("\n", " "))


def _painted(text: str, color: str) -> str:
    return f"\x1b[{color}m{text}\x1b[m" if color else text
