"""What followed an error in its session: what was done, and the run in which it was gone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.history.commands_run import main_run, runs_of
from triseek.history.freshness import EvidenceFields, freshness_of, mark_of
from triseek.history.outcomes import outcome_of
from triseek.history.synthesis.edit_shape import lines_changed, symbols_of
from triseek.history.synthesis.session_events import relative

if TYPE_CHECKING:
    import sqlite3

    from triseek.history.commands_run import Run
    from triseek.history.outcomes import Outcome
    from triseek.model.freshness import Freshness

EVENTS_MAX = 400
"""Events after an error that are examined."""
EDITS_MAX = 100
"""Edits after an error that are examined."""
COMMANDS_MAX = 5
FILES_MAX = 8
OUTPUT_TAIL = 4_000
"""Characters of an output's end from which its outcome is read."""
TEXT_MAX = 60_000


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file that was edited between the error and the run in which it was gone."""

    path: str
    """Relative to the conversation's root if it is below it."""
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Resolution:
    """How an error went away."""

    failed_command: str
    passed_command: str
    passes: bool
    """Whether the run passed; else it failed with another error."""
    commands: tuple[str, ...]
    """What was run between, in order; the last ones."""
    files: tuple[EditedFile, ...]
    freshness: Freshness | None
    """Whether the edits still stand; None without edits in the root."""
    time_ms: int


def resolution_of(connection: sqlite3.Connection, event_id: int, root: str) -> Resolution | None:
    """Return how the error of an event went away in its session; None if it did not."""
    row = connection.execute(
        "SELECT session_id, command, error_key FROM tool_events WHERE id = ?", (event_id,)
    ).fetchone()
    failed = main_run(runs_of(row[1])) if row else None
    if failed is None:
        return None
    later = connection.execute(
        "SELECT id, command, exit_status, failed, error_key, created_at_epoch, substr(output, ?)"
        " FROM tool_events WHERE session_id = ? AND id > ? AND command != '' ORDER BY id LIMIT ?",
        (-OUTPUT_TAIL, row[0], event_id, EVENTS_MAX),
    )
    commands: list[str] = []
    for number, command, status, has_failed, key, time_ms, output in later:
        run = main_run(runs_of(command))
        if run is None:
            continue
        outcome = run_outcome(run, status, has_failed, output)
        is_other = outcome == "failed" and key not in ("", row[2])
        if run.covers(failed) and (outcome == "passed" or is_other):
            files, freshness = _edits(connection, (row[0], event_id, number), root, time_ms)
            return Resolution(
                failed.text, run.text, outcome == "passed",
                tuple(dict.fromkeys(commands[-COMMANDS_MAX:])), files, freshness, time_ms,
            )  # fmt: skip
        if outcome != "failed":
            commands.append(run.text)
    return None


def run_outcome(run: Run, status: int | None, has_failed: int | None, output: str) -> Outcome:
    """Return how a stored run ended."""
    failed = None if has_failed is None else bool(has_failed)
    return outcome_of(status, failed, output, hides_status=run.is_filtered)


def edits_freshness(root: str, edits: dict[str, str], time_ms: int) -> Freshness | None:
    """Return whether texts still stand in files. edits: path, relative to the root → text."""
    marks = [
        mark_of(path, "modified", text, symbols_of(path, text)) for path, text in edits.items()
    ]
    evidence: EvidenceFields = {"files": marks}
    return freshness_of(root, json.dumps(evidence), time_ms)


def _edits(
    connection: sqlite3.Connection, between: tuple[int, int, int], root: str, time_ms: int
) -> tuple[tuple[EditedFile, ...], Freshness | None]:
    """Return the files edited in a session between two events, and whether the edits stand."""
    rows = connection.execute(
        "SELECT path, substr(before, 1, ?1), substr(after, 1, ?1) FROM tool_events"
        " JOIN event_files ON event_id = tool_events.id AND role = 'modified'"
        " WHERE session_id = ?2 AND tool_events.id > ?3 AND tool_events.id < ?4"
        " AND coalesce(failed, 0) = 0 ORDER BY tool_events.id LIMIT ?5",
        (TEXT_MAX, *between, EDITS_MAX),
    )
    counts: dict[str, tuple[int, int]] = {}
    left: dict[str, str] = {}
    for path, before, after in rows:
        name = relative(path, root)
        plus, minus = lines_changed(before, after)
        old = counts.get(name, (0, 0))
        counts[name] = (old[0] + plus, old[1] + minus)
        left[name] = after if len(after) < TEXT_MAX else ""
    most = sorted(counts, key=lambda name: (-sum(counts[name]), name))[:FILES_MAX]
    files = tuple(EditedFile(name, *counts[name]) for name in most)
    freshness = edits_freshness(root, {name: left[name] for name in most}, time_ms)
    return files, freshness if files else None
