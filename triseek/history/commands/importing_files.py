"""`triseek history import --file`: archives, packs, and what other programs have kept."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from triseek.agents.base import InstallPlace
from triseek.errors import InvalidRequest
from triseek.history.commands import import_report
from triseek.history.commands.calling import open_history
from triseek.history.commands.import_report import SKIPPED_SHOWN
from triseek.history.importing import archive_import, claude_mem, claude_mem_import
from triseek.history.importing.claude_mem import DEFAULT_PATH
from triseek.model.plain_text import counted, visible_line
from triseek.terminal import report_text, status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.history.importing.file_report import FileReport

_GZIP = b"\x1f\x8b"


def import_file(path: str, *, dry_run: bool, as_json: bool) -> int:
    """Import a file by its kind, which its content says.

    Raises:
        InvalidRequest: It cannot be read, or is of no kind that is known.
    """
    real = os.path.realpath(os.path.expanduser(path))
    if claude_mem.is_database(real):
        return _import_claude_mem(real, dry_run=dry_run, as_json=as_json)
    if archive_import.is_archive(real):
        return _import_archive(real, dry_run=dry_run, as_json=as_json)
    if _is_gzip(real):
        return _import_pack(real, dry_run=dry_run, as_json=as_json)
    if not os.path.exists(real):
        raise InvalidRequest(f"{path}: no such file", next_step="Pass the path of a file.")
    if not os.path.isfile(real):
        raise InvalidRequest(f"{path}: not a regular file", next_step="Pass the path of a file.")
    raise InvalidRequest(
        f"{path}: not a file that can be imported",
        next_step="Pass an archive, a pack (.tcp), or a claude-mem.db.",
    )


def hint(home: str) -> str:
    """Return the sentence that names the database of claude-mem; "" if there is none."""
    path = os.path.join(home, *DEFAULT_PATH)
    return f"; `--file {path}` imports claude-mem's" if os.path.isfile(path) else ""


def _is_gzip(path: str) -> bool:
    """Return whether a file begins like a pack, which is compressed by gzip."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            return file.read(len(_GZIP)) == _GZIP
    except OSError:
        return False


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _import_pack(path: str, *, dry_run: bool, as_json: bool) -> int:
    if dry_run:
        raise InvalidRequest("--dry-run does not go with a pack", next_step="Leave it out.")
    here = InstallPlace("", os.path.expanduser("~"), os.getcwd(), dict(os.environ))
    with closing(open_history()) as history:
        import_report.show(history.import_pack(path, here), dry_run=False, as_json=as_json)
    return status.FOUND


def _import_claude_mem(path: str, *, dry_run: bool, as_json: bool) -> int:
    try:
        report = claude_mem_import.plan(path) if dry_run else _imported(path)
    except OSError as error:
        raise InvalidRequest(
            f"{path} cannot be imported: {error.strerror}",
            next_step="What was read before is kept; the file is as it was.",
        ) from error
    counts = ", ".join((
        counted(report.sessions, "conversation"), counted(report.observations, "observation"),
        counted(report.summaries, "summary", "summaries"), counted(report.messages, "prompt"),
    ))  # fmt: skip
    head = f"claude-mem: {counts} {'to read' if dry_run else 'imported'}"
    return _show(report, "claude-mem", head, dry_run=dry_run, as_json=as_json)


def _import_archive(path: str, *, dry_run: bool, as_json: bool) -> int:
    if dry_run:
        raise InvalidRequest(
            "an archive cannot be counted beforehand", next_step="Leave out --dry-run."
        )
    try:
        with closing(open_history()) as history:
            report = history.import_archive(path)
    except OSError as error:
        raise InvalidRequest(
            f"{path} cannot be imported: {error.strerror}", next_step="What was read is kept."
        ) from error
    head = (
        f"archive: {counted(report.sessions, 'conversation')},"
        f" {counted(report.messages, 'message')},"
        f" {counted(report.events, 'use')} of tools, {counted(report.observations, 'observation')},"
        f" {counted(report.summaries, 'summary', 'summaries')} restored"
    )
    return _show(report, "archive", head, dry_run=False, as_json=as_json)


def _imported(path: str) -> FileReport:
    with closing(open_history()) as history, report_text.progress_bars() as progress:
        return history.import_claude_mem(path, progress)


def _show(report: FileReport, kind: str, head: str, *, dry_run: bool, as_json: bool) -> int:
    """Print what an import did, as JSON or as `head` and what was left out."""
    if as_json:
        counts = {name: getattr(report, name) for name in report.__slots__}
        print(report_text.as_json({"dry_run": dry_run, "kind": kind, **counts}))
    else:
        print(report_text.readable("\n".join((head, *_left_out(report)))))
    return status.FOUND


def _left_out(report: FileReport) -> Iterator[str]:
    if report.private:
        yield f"  {counted(report.private, 'record')} left out that belong to private prompts"
    if report.known:
        yield f"  {counted(report.known, 'record')} were there already"
    if report.forgotten:
        yield f"  {counted(report.forgotten, 'record')} left out that were forgotten"
    yield from (f"  skipped {visible_line(line)}" for line in report.skipped[:SKIPPED_SHOWN])
    if len(report.skipped) > SKIPPED_SHOWN:
        yield f"  … and {len(report.skipped) - SKIPPED_SHOWN:,} more (--json)"
