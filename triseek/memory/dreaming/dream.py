"""Runs the consolidation: keywords of rooms, duplicates, and what was forgotten long ago."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.memory import events
from triseek.memory import palaces as named
from triseek.memory.dreaming import closets, duplicates, purge
from triseek.memory.dreaming.run import BUDGET_S, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.memory.dreaming.run import Flag, Report
    from triseek.store.sqlite import Database


def dream(
    database: Database,
    palaces: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    budget_s: float = BUDGET_S,
    cancelled: Flag | None = None,
) -> Report:
    """Consolidate palaces; of what nobody has written since the last time nothing is read.

    Several processes may do it at once. A run that is killed leaves each link whole or not made.

    Args:
        database: The memory database.
        palaces: Their names; None for all.
        dry_run: Whether to change nothing, and only to report what would be changed.
        budget_s: Seconds after which to stop; the next run goes on from there.
        cancelled: Set to stop; it is asked after each drawer. A `threading.Event` is one.

    Raises:
        InvalidRequest: There is no palace of this name.
    """
    only = None
    if palaces is not None:
        with database.read() as connection:
            only = [named.id_of(connection, name) for name in palaces]
    run = Run(database, only, is_dry=dry_run, budget_s=budget_s, cancelled=cancelled)
    for step in (purge.purge, closets.refresh, duplicates.consolidate):
        if run.goes_on():
            step(run)
    report = run.finish()
    if report.run or (report.closets and not dry_run):
        with database.write() as connection:
            events.note(connection, "dream_completed", "", _summary(report))
    return report


def _summary(report: Report) -> dict[str, object]:
    return {
        "merged": report.superseded,
        "pruned": report.purged,
        "compacted": 0,
        "closets_updated": report.closets,
        "duration_ms": round(report.seconds * 1000),
    }
