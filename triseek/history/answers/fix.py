"""`fix`: what was done after an error when it went away.

The error is looked up by its signature; if that never occurred, errors whose words overlap most are
taken. Words that occur in few errors count more.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.history.answers.conversation_ref import ConversationRef, conversation
from triseek.history.answers.later_events import Resolution, resolution_of
from triseek.history.errors import error_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Hashable, Iterator

    from triseek.store.sqlite import Database

KEYS_MAX = 50_000
"""Different errors whose words are compared."""
SIMILAR_MAX = 5
"""Similar errors that are looked up."""
OVERLAP_MIN = 0.45
"""Least share of words, by weight, that a similar error has in common with the one asked for."""
_UNKNOWN_WEIGHT = 0.3
SESSIONS_MAX = 40
"""Sessions of one error that are examined, newest first."""
ERROR_MAX = 20_000
"""Characters of the error text that are examined."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One conversation in which the error occurred, and how it went away there."""

    error: str
    """The signature's key."""
    conversation: ConversationRef
    time_ms: int
    """When it occurred first there."""
    resolution: Resolution | None
    """None if it did not go away."""


@dataclass(frozen=True, slots=True)
class FixAnswer:
    """What is known of an error."""

    error: str
    """The key of the error asked for."""
    is_exact: bool
    """Whether this very error occurred; else the fixes are those of similar ones."""
    fixes: tuple[Fix, ...]
    """Those that passed first, then newest first."""
    occurrences: int
    """Conversations in which the error, or a similar one, occurred."""


def fix(database: Database, error_text: str, *, project: str = "", limit: int = 5) -> FixAnswer:
    """Return how an error was fixed before.

    Args:
        database: The history.
        error_text: An error line, a part of an output, or a key that `friction` has shown.
        project: Only conversations of this project; "" for all.
        limit: The most fixes.

    Raises: as `Database`.
    """
    text = error_text[:ERROR_MAX]
    key = error_of(text, 1).key
    with database.read() as connection:
        keys = _equal_keys(connection, key, text.strip()) if key else []
        is_exact = bool(keys)
        keys = keys or _similar_keys(connection, key)
        fixes = [fix for key_ in keys for fix in _first(_fixes(connection, key_, project), limit)]
        count = _sessions(connection, keys, project)
    near = {name: 0 if is_exact else at for at, name in enumerate(keys)}
    fixes.sort(key=lambda fix: (_rank(fix), near[fix.error], -fix.time_ms))
    # Forks of a conversation repeat it.
    different = {(fix.error, _done(fix)): fix for fix in reversed(fixes)}
    shown = [fix for fix in fixes if different[fix.error, _done(fix)] is fix]
    return FixAnswer(key, is_exact, tuple(shown[:limit]), count)


def last_fix(connection: sqlite3.Connection, key: str, project: str = "") -> Fix | None:
    """Return the newest fix of an error, by its key; None if it never passed again."""
    return next((fix for fix in _fixes(connection, key, project) if _rank(fix) == 0), None)


def _done(fix: Fix) -> Hashable:
    """Return what two conversations have in common in which the same was done."""
    if fix.resolution is None:
        return None
    return replace(fix.resolution, freshness=None, time_ms=0)


def _first(fixes: Iterator[Fix], most: int) -> Iterator[Fix]:
    """Yield fixes until there are enough that passed: each one is read from its session."""
    passed = set()
    for fix in fixes:
        yield fix
        passed |= {_done(fix)} if _rank(fix) == 0 else set()
        if len(passed) == most:
            return


def _sessions(connection: sqlite3.Connection, keys: list[str], project: str) -> int:
    """Return the number of sessions in which one of these errors occurred."""
    rows = connection.execute(
        "SELECT count(DISTINCT session_id) FROM tool_events"
        " JOIN sessions ON sessions.id = session_id"
        " WHERE error_key IN (SELECT value FROM json_each(?1)) AND error_key != ''"
        " AND (?2 = '' OR project = ?2 OR root = ?2)",
        (json.dumps(keys), project),
    )
    return int(rows.fetchone()[0])


def _rank(fix: Fix) -> int:
    if fix.resolution is None:
        return 2
    return 0 if fix.resolution.passes else 1


def _equal_keys(connection: sqlite3.Connection, key: str, text: str) -> list[str]:
    """Return the stored keys of an error, wherever it occurred."""
    what = key.split(" @ ", maxsplit=1)[0]
    rows = connection.execute(
        "SELECT DISTINCT error_key FROM tool_events WHERE error_key IN (?1, ?2, ?3)"
        " OR (error_key >= ?4 AND error_key < ?5 AND error_key != '') LIMIT 50",
        (key, what, text[:300], f"{what} @ ", f"{what} @!"),
    )
    stored = [str(row[0]) for row in rows]
    exact = [key_ for key_ in stored if key_ in (key, text)]
    return exact or stored


def _similar_keys(connection: sqlite3.Connection, key: str) -> list[str]:
    """Return the stored keys that share most words with a key, best first."""
    wanted = _words(key)
    if not wanted:
        return []
    words = {stored: _words(stored) for stored in _all_keys(connection)}
    asked_for = re.compile(rf"(?<!\w){re.escape(key)}(?!\w)")
    whole = [stored for stored in words if len(wanted) > 1 and asked_for.search(stored)]
    if whole:  # such as `command not found: go` of one shell or another
        return sorted(whole, key=len)[:SIMILAR_MAX]
    counts = Counter(word for of_key in words.values() for word in of_key)
    weights = {word: math.log(1 + len(words) / (1 + count)) for word, count in counts.items()}
    # A word that no error has says little of which one is meant.
    weights.update(dict.fromkeys(wanted - counts.keys(), _UNKNOWN_WEIGHT))
    scored = []
    for stored, of_key in words.items():
        common = wanted & of_key
        if len(common) < min(2, len(wanted)):
            continue
        shared, of_query, of_stored = (
            sum(map(weights.__getitem__, side)) for side in (common, wanted, of_key)
        )
        # A short query may be a part of a long error, and the other way round.
        score = (shared / min(of_query, of_stored) + shared / (of_query + of_stored - shared)) / 2
        if score >= OVERLAP_MIN:
            scored.append((-score, stored))
    return [stored for _, stored in sorted(scored)[:SIMILAR_MAX]]


def _words(key: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[^\W\d]\w{2,}", key)}


def _all_keys(connection: sqlite3.Connection) -> list[str]:
    """Return all different keys; the index is skipped through from one to the next."""
    rows = connection.execute(
        "WITH RECURSIVE keys (key) AS ("
        " SELECT min(error_key) FROM tool_events WHERE error_key != ''"
        " UNION ALL SELECT (SELECT min(error_key) FROM tool_events"
        " WHERE error_key > key AND error_key != '') FROM keys WHERE key IS NOT NULL LIMIT ?"
        ") SELECT key FROM keys WHERE key IS NOT NULL",
        (KEYS_MAX,),
    )
    return [str(row[0]) for row in rows]


def _fixes(connection: sqlite3.Connection, key: str, project: str) -> Iterator[Fix]:
    """Yield what became of an error in each session, newest first."""
    rows = connection.execute(
        "SELECT min(tool_events.id), session_id, min(created_at_epoch) AS first FROM tool_events"
        " JOIN sessions ON sessions.id = session_id"
        " WHERE error_key = ?1 AND error_key != '' AND (?2 = '' OR project = ?2 OR root = ?2)"
        " GROUP BY session_id ORDER BY first DESC, session_id DESC LIMIT ?3",
        (key, project, SESSIONS_MAX),
    ).fetchall()
    for event_id, session_id, time_ms in rows:
        of_session = conversation(connection, session_id)
        resolution = resolution_of(connection, event_id, of_session.root)
        yield Fix(key, of_session, time_ms, resolution)
