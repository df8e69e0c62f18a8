"""`triseek history import`: read what agents keep of conversations on this machine."""

from __future__ import annotations

import os
import re
import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.agents.base import InstallPlace
from triseek.errors import InvalidRequest
from triseek.history.commands.calling import open_history
from triseek.history.importing import run, sources
from triseek.model.plain_text import visible_line
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from triseek.agents.base import Agent
    from triseek.history.importing.run import ImportReport
    from triseek.history.service import History

_DAYS = re.compile(r"(\d{1,5})d")
DAY_S = 86_400
SKIPPED_SHOWN = 10


def import_conversations(
    agents: Annotated[
        list[str] | None,
        typer.Argument(metavar="AGENT…", help="Whose conversations, as `claude-code`."),
    ] = None,
    everyone: Annotated[
        bool, typer.Option("--all", help="Those of all agents that are known.")
    ] = False,
    since: Annotated[
        str,
        typer.Option(metavar="WHEN", help="Only files changed since: 2026-10-01, or 30d."),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what would be read, and read nothing.")
    ] = False,
    file: Annotated[
        str, typer.Option("--file", metavar="FILE", help="The conversations in a pack, .tcp.")
    ] = "",
    json: options.Json = False,
) -> int:
    """Import conversations that agents keep on this machine, so that they can be searched.

    Only what is new is read; doing it again changes nothing. Secrets and private passages are
    removed before anything is written. What was imported stays when the agent deletes its files.
    What triseek's own sessions have recorded comes with them, for conversations of which there is
    nothing better.

    Examples: triseek history import --all · triseek history import claude-code codex --since 30d ·
    triseek history import --all --dry-run · triseek history import --file handoff.tcp
    """
    if file and (agents or everyone or since or dry_run):
        raise InvalidRequest("--file goes with --json only", next_step="Import the agents apart.")
    chosen = [] if file else _chosen(agents or [], everyone=everyone)
    since_ms = moment_ms(since) if since else 0
    here = InstallPlace("", os.path.expanduser("~"), os.getcwd(), dict(os.environ))
    history = open_history()
    try:
        if file:
            report = _import_file(history, file, here)
        elif dry_run:
            report = run.plan(history.database, history.with_own(chosen), here, since_ms)
        else:
            with report_text.progress_bars() as progress:
                report = history.import_conversations(
                    chosen, here, since_ms=since_ms, progress=progress
                )
    finally:
        history.close()
    if json:
        print(report_text.as_json({"dry_run": dry_run, "agents": _document(report)}))
    else:
        print(report_text.readable("\n".join(_lines(report, dry_run=dry_run))))
    return status.FOUND


def _import_file(history: History, path: str, here: InstallPlace) -> ImportReport:
    """Import the conversations in a file, by its kind.

    Raises:
        InvalidRequest: Files of this kind cannot be imported. The readers of each kind raise more.
    """
    suffix = os.path.splitext(path)[1].lower()
    importer = FILE_KINDS.get(suffix)
    if importer is None:
        raise InvalidRequest(
            f"cannot import {path!r:.200}: not a file of a known kind",
            next_step=f"Known are {', '.join(FILE_KINDS)}.",
        )
    return importer(history, os.path.abspath(path), here)


def _import_pack(history: History, path: str, here: InstallPlace) -> ImportReport:
    return history.import_pack(path, here)


FILE_KINDS = {".tcp": _import_pack}
"""By the ending of a file's name: what imports its conversations."""


def moment_ms(text: str, now_s: float | None = None) -> int:
    """Return a date, a time, or days before now (`30d`) as Unix milliseconds.

    Raises:
        InvalidRequest: The text is none of these.
    """
    days = _DAYS.fullmatch(text)
    if days:
        now = time.time() if now_s is None else now_s
        return int((now - int(days[1]) * DAY_S) * 1000)
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise InvalidRequest(
            f"invalid date {text!r:.40}", next_step="Write 2026-10-01, 2026-10-01T12:30 or 30d."
        ) from None


def _chosen(names: list[str], *, everyone: bool) -> list[Agent]:
    """Return the agents that are named. Raises InvalidRequest if one is not known, or none is."""
    known = {agent.name: agent for agent in sources.importable()}
    listed = ", ".join(known)
    if everyone and not names:
        return list(known.values())
    if everyone or not names:
        raise InvalidRequest(
            "name agents, or say --all" if not names else "name agents or say --all, not both",
            next_step=f"Known are {listed}.",
        )
    for name in names:
        if name not in known:
            raise InvalidRequest(
                f"conversations of {name!r:.40} cannot be imported",
                next_step=f"Known are {listed}.",
            )
    return [known[name] for name in dict.fromkeys(names)]


def _document(report: ImportReport) -> dict[str, Any]:
    return {
        name: {field: getattr(counts, field) for field in counts.__slots__}
        for name, counts in report.agents.items()
    }


def _lines(report: ImportReport, *, dry_run: bool) -> list[str]:
    lines = []
    for name, counts in report.agents.items():
        if not counts.sources:
            continue
        files = f"{counts.read:,} of {counts.sources:,} files"
        if dry_run:
            lines.append(f"{name}: {files} to read, {report_text.human_size(counts.bytes)}")
            continue
        lines.append(
            f"{name}: {files} read, {counts.messages:,} messages and {counts.events:,} uses of "
            f"tools in {counts.conversations:,} conversations"
        )
        if counts.forgotten:
            lines.append(f"  {counts.forgotten:,} records left out that were forgotten")
        lines += [f"  skipped {visible_line(line)}" for line in counts.skipped[:SKIPPED_SHOWN]]
        if len(counts.skipped) > SKIPPED_SHOWN:
            lines.append(f"  … and {len(counts.skipped) - SKIPPED_SHOWN:,} more (--json)")
    return lines or ["No conversations of these agents on this machine."]
