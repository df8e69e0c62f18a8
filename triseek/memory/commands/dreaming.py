"""`triseek memory dream`: consolidate palaces, read what was changed, undo it."""

from __future__ import annotations

import dataclasses
import json as json_
from typing import TYPE_CHECKING, Annotated

from triseek.errors import InvalidRequest
from triseek.memory.commands.calling import NOTHING_KEPT, only_here, opened
from triseek.memory.commands.showing import SHORT
from triseek.memory.dreaming.log import DUPLICATE, PURGE
from triseek.memory.dreaming.run import BUDGET_S
from triseek.model.moment import rfc3339
from triseek.model.plain_text import counted, visible_line
from triseek.terminal import report_text, status
from triseek.terminal.plain_words import Json, Option

if TYPE_CHECKING:
    from typing import Any

    from triseek.memory.dreaming.log import Change
    from triseek.memory.dreaming.run import Report
    from triseek.terminal.command_context import CommandContext


def dream(
    context: CommandContext,
    dry_run: Annotated[bool, Option("", "Say what would be changed, change nothing.")] = False,
    log: Annotated[bool, Option("", "Print what earlier runs changed, newest first.")] = False,
    undo: Annotated[int, Option("RUN", "Undo what this run linked.", 0)] = 0,
    limit: Annotated[int, Option("N", "The most lines of the log.", 1, 1_000)] = 50,
    seconds: Annotated[int, Option("N", "Stop after so long; the next run goes on.", 0)] = 0,
    palace: Annotated[str, Option("NAME", "Only this palace; all if none.")] = "",
    json: Json = False,
) -> int:
    """Link drawers that say the same, and delete what was forgotten more than 30 days ago.

    The older drawer is superseded by one that says all of it: `recall` leaves it out, `recall
    --deep` does not, and its text stays. The daemon does this while nobody uses the memory.

    Examples: triseek memory dream --dry-run · triseek memory dream --log ·
    triseek memory dream --undo 3
    """
    if (dry_run + log + bool(undo)) > 1:
        raise InvalidRequest("--dry-run, --log and --undo do not go together")
    only_here(context)
    with opened(context) as memory:
        if not memory.exists():
            context.print(report_text.as_json({"run": None}) if json else NOTHING_KEPT)
            return status.NOTHING
        if undo:
            return _undo(context, dataclasses.asdict(memory.undo_dream(undo)), json=json)
        if log:
            return _log(context, memory.dreams(limit), json=json)
        report = memory.dream(
            [palace] if palace else None, dry_run=dry_run, budget_s=seconds or BUDGET_S
        )
    document = {
        **dataclasses.asdict(report),
        "run": report.run or None,
        "changes": [_document(change) for change in report.changes],
    }
    context.print(report_text.as_json(document) if json else "\n".join(_lines(report)))
    return status.FOUND


def _lines(report: Report) -> list[str]:
    would = "would be " if report.is_dry else ""
    summary = (
        f"{counted(report.looked_at, 'drawer')} compared in {report.seconds:.1f} s: "
        f"{report.superseded:,} {would}superseded, {report.purged:,} {would}deleted that were "
        "forgotten more than 30 days ago"
    )
    lines = [summary]
    lines += [f"  {_line(change)}" for change in report.changes] if report.is_dry else []
    if report.left and not report.is_dry:
        lines.append(f"{counted(report.left, 'drawer')} left; the next run goes on with them")
    if report.run:
        lines.append(
            f"Read it: triseek memory dream --log · undo it: triseek memory dream --undo"
            f" {report.run}"
        )
    return lines


def _log(context: CommandContext, changes: list[Change], *, json: bool) -> int:
    if json:
        context.print(report_text.as_json({"changes": [_document(change) for change in changes]}))
    else:
        lines = [
            f"run {change.run}  {report_text.local_time(change.changed_ms / 1000)}  "
            f"{visible_line(change.palace)}  {_line(change)}"
            for change in changes
        ]
        context.print("\n".join(lines) or "No run has changed anything.")
    return status.FOUND if changes else status.NOTHING


def _line(change: Change) -> str:
    drawer = change.drawer[:SHORT]
    undone = "" if change.undone_ms is None else " (undone)"
    if change.step == DUPLICATE:
        return f"{drawer} is superseded by {change.after[:SHORT]}{undone}"
    if change.step == PURGE:
        return f"{drawer} is deleted, forgotten {report_text.local_time(int(change.before) / 1000)}"
    tags = " ".join(f"#{visible_line(tag)}" for _, tag in json_.loads(change.after))
    return f"{drawer} gets the tags {tags}{undone}"


def _undo(context: CommandContext, document: dict[str, int], *, json: bool) -> int:
    text = f"{counted(document['restored'], 'change')} undone"
    if document["kept"]:
        text += f"; {document['kept']:,} left alone, whose drawers have been changed since"
    if document["purged"]:
        text += f"; {counted(document['purged'], 'drawer')} that it deleted cannot be brought back"
    context.print(report_text.as_json(document) if json else text)
    return status.FOUND


def _document(change: Change) -> dict[str, Any]:
    """Return a change for JSON."""
    document: dict[str, Any] = {
        "run": change.run or None,
        "step": change.step,
        "palace": change.palace,
        "drawer_id": change.drawer,
        "changed_at": rfc3339(change.changed_ms) if change.changed_ms else None,
        "undone_at": rfc3339(change.undone_ms),
    }
    if change.step == DUPLICATE:
        document["superseded_by"] = change.after
    elif change.step == PURGE:
        document["forgotten_at"] = rfc3339(int(change.before))
    else:
        document["tags_added"] = [tag for _, tag in json_.loads(change.after)]
    return document
