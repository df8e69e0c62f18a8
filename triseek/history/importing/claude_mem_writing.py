"""Writes rows of a claude-mem database as ours: redacted, each once, and nothing forgotten."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from triseek.history.importing.claude_mem import ForeignSession
from triseek.history.importing.cleaning import COMMAND_MAX, TEXT_MAX, clean, clean_name
from triseek.history.importing.writing import FOREIGN_PREFIX
from triseek.recall.sub_tokens import observation_sub, sub_tokens
from triseek.redaction import PRIVATE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from triseek.history.freshness import EvidenceFields, FileMark
    from triseek.history.importing.claude_mem import (
        ForeignObservation,
        ForeignPrompt,
        ForeignSummary,
    )
    from triseek.history.importing.file_report import FileReport
    from triseek.history.tombstones import Tombstones

ID_MAX = 512
_DEFAULT_AGENT = "claude-code"
_AGENTS = {"claude": _DEFAULT_AGENT, "gemini-cli": "gemini", "copilot-cli": "copilot"}
"""claude-mem's names of platforms that are not our names of agents."""
_STATUSES = ("active", "completed", "failed")
_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")


@dataclass(frozen=True, slots=True)
class _Session:
    """A row of our `sessions`."""

    id: int
    agent: str
    external_id: str
    project: str
    root: str


class Writer:
    """Writes rows of one database, each in the transaction of the caller's connection."""

    def __init__(self, tombstones: Tombstones, report: FileReport) -> None:
        """Write what `tombstones` do not forbid, and count it in `report`."""
        self._tombstones = tombstones
        self._report = report
        self._of_memory: dict[str, _Session | None] = {}
        """By the id that observations name; None for those that were forgotten."""
        self._of_external: dict[str, _Session | None] = {}
        self._first_prompts: dict[int, tuple[_Session, str, int]] = {}
        """By session: the prompt that its row has, and the session's time."""
        self._private: set[tuple[int, int]] = set()
        """Sessions and numbers of the prompts that are private."""
        self._now_ms = time.time_ns() // 1_000_000

    def session(self, connection: sqlite3.Connection, row: ForeignSession) -> None:
        """Write a session."""
        external = row.external_id or row.memory_id
        if not external:
            self._skip("a session without an id")
            return
        session = self._session(connection, row, external)
        self._of_external[external] = session
        self._of_memory[row.memory_id or external] = session
        if session is not None and row.prompt:
            self._first_prompts[session.id] = (session, row.prompt, row.started_ms)

    def prompt(self, connection: sqlite3.Connection, row: ForeignPrompt) -> None:
        """Write a prompt."""
        session = self._owner(connection, self._of_external, row.external_id, "", row.created_ms)
        if session is not None:
            self._first_prompts.pop(session.id, None)
            self._message(connection, session, row.key, row.text, row.prompt_number, row.created_ms)

    def observation(self, connection: sqlite3.Connection, row: ForeignObservation) -> None:
        """Write an observation."""
        session = self._owner(
            connection, self._of_memory, row.memory_id, row.project, row.created_ms
        )
        if session is None or not self._is_due(connection, "observations", session, row):
            return
        title, subtitle = _line(row.title), _line(row.subtitle)
        narrative, text = clean(row.narrative, TEXT_MAX), clean(row.text, TEXT_MAX)
        facts, concepts = _all_clean(row.facts), _all_clean(row.concepts)
        if not any((title, subtitle, narrative, text, facts)):
            self._skip(f"{row.key.rpartition(':')[0]}: it has no text")
            return
        read, modified = _all_clean(row.read), _all_clean(row.modified)
        paths = [(path, "read") for path in read] + [(path, "modified") for path in modified]
        cursor = connection.execute(
            "INSERT INTO observations (session_id, project, root, type, title, subtitle,"
            " narrative, text, facts, concepts, prompt_number, origin, row_hash, evidence, sub,"
            " created_at_epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'import', ?, ?, ?, ?)",
            (
                session.id, _line(row.project) or session.project, session.root,
                _line(row.type)[:40] or "discovery", title, subtitle, narrative, text,
                json.dumps(facts, ensure_ascii=False), json.dumps(concepts, ensure_ascii=False),
                row.prompt_number, _hash(row.key), _evidence(paths),
                observation_sub(
                    (title, subtitle, narrative, text), facts, concepts, (*read, *modified)
                ),
                row.created_ms,
            ),
        )  # fmt: skip
        self._report.observations += 1
        connection.executemany(
            "INSERT OR IGNORE INTO observation_files (observation_id, path, role) VALUES (?, ?, ?)",
            [(cursor.lastrowid, path, role) for path, role in paths],
        )

    def summary(self, connection: sqlite3.Connection, row: ForeignSummary) -> None:
        """Write a summary. The files that old versions name in it become a line of its notes."""
        session = self._owner(
            connection, self._of_memory, row.memory_id, row.project, row.created_ms
        )
        if session is None or not self._is_due(connection, "session_summaries", session, row):
            return
        texts = {name: clean(row.texts[name], TEXT_MAX) for name in _SUMMARY}
        files = [
            f"{what}: {', '.join(paths)}"
            for what, paths in (
                ("Files read", _all_clean(row.read)), ("Files edited", _all_clean(row.edited)),
            )
            if paths
        ]  # fmt: skip
        texts["notes"] = "\n".join(filter(None, (texts["notes"], *files)))
        if not any(texts.values()):
            self._skip(f"{row.key.rpartition(':')[0]}: it has no text")
            return
        connection.execute(
            "INSERT INTO session_summaries (session_id, project, request, investigated,"
            " learned, completed, next_steps, notes, prompt_number, origin, row_hash, sub,"
            " created_at_epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'import', ?, ?, ?)",
            (
                session.id, _line(row.project) or session.project,
                *(texts[name] for name in _SUMMARY), row.prompt_number, _hash(row.key),
                sub_tokens(texts.values()), row.created_ms,
            ),
        )  # fmt: skip
        self._report.summaries += 1

    def first_prompts(self, connection: sqlite3.Connection) -> None:
        """Write the prompts that only rows of sessions have: version 4 kept no others."""
        for session, text, time_ms in self._first_prompts.values():
            self._message(connection, session, "prompt:first", text, 1, time_ms)

    def _message(
        self,
        connection: sqlite3.Connection,
        session: _Session,
        key: str,
        text: str,
        number: int,
        time_ms: int,
    ) -> None:
        text = clean(text, TEXT_MAX)
        if text.strip() == PRIVATE:
            self._private.add((session.id, number))
            self._report.private += 1
            return
        if not text.strip():
            self._skip(f"{key.rpartition(':')[0]}: it has no text")
            return
        external = FOREIGN_PREFIX + clean_name(key)
        if self._is_forgotten(session, external, text):
            return
        is_known = connection.execute(
            "SELECT 1 FROM messages WHERE session_id = ?1 AND (external_id = ?2"
            " OR (role = 'user' AND text = ?3 AND external_id NOT LIKE ?4))",
            (session.id, external, text, f"{FOREIGN_PREFIX}%"),
        ).fetchone()
        if is_known:  # also from the conversation's own file
            self._report.known += 1
            return
        connection.execute(
            "INSERT INTO messages (session_id, external_id, role, prompt_number, text, sub,"
            " created_at_epoch) VALUES (?, ?, 'user', ?, ?, ?, ?)",
            (session.id, external, number, text, sub_tokens((text,)), time_ms),
        )
        connection.execute(
            "UPDATE sessions SET prompt_counter = max(prompt_counter, ?) WHERE id = ?",
            (number, session.id),
        )
        self._report.messages += 1

    def _session(
        self, connection: sqlite3.Connection, row: ForeignSession, external: str
    ) -> _Session | None:
        """Return a session, written if it is new; None if it was forgotten."""
        agent, external = _agent(row.agent), clean_name(external[:ID_MAX])
        if self._tombstones.has_session(agent, external):
            self._report.forgotten += 1
            return None
        query = "SELECT id, project, root, title FROM sessions WHERE agent = ? AND external_id = ?"
        known = connection.execute(query, (agent, external)).fetchone()
        title = _line(row.title)
        if known is None:
            self._report.sessions += 1
            # Nothing is derived of it: claude-mem has done that.
            connection.execute(
                "INSERT INTO sessions (agent, external_id, project, title, status,"
                " prompt_counter, started_at_epoch, completed_at_epoch, derived_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    agent, external, _line(row.project), title,
                    row.status if row.status in _STATUSES else "completed", row.prompts,
                    row.started_ms, row.completed_ms, self._now_ms,
                ),
            )  # fmt: skip
            known = connection.execute(query, (agent, external)).fetchone()
        else:
            self._report.known += 1
        number, project, root, known_title = known
        if title and not known_title:
            connection.execute("UPDATE sessions SET title = ? WHERE id = ?", (title, number))
        return _Session(number, agent, external, project, root)

    def _owner(
        self,
        connection: sqlite3.Connection,
        known: dict[str, _Session | None],
        name: str,
        project: str,
        time_ms: int,
    ) -> _Session | None:
        """Return the session of a row; one that the database does not have is made."""
        if not name:
            self._skip("a row without a session")
            return None
        if name not in known:
            known[name] = self._session(
                connection,
                ForeignSession(name, name, "", project, "", "", "", 0, time_ms, time_ms),
                name,
            )
        elif known[name] is None:
            self._report.forgotten += 1
        return known[name]

    def _is_due(
        self,
        connection: sqlite3.Connection,
        table: str,
        session: _Session,
        row: ForeignObservation | ForeignSummary,
    ) -> bool:
        """Return whether a row is to be written: not private, not forgotten and not there."""
        if (session.id, row.prompt_number) in self._private:
            self._report.private += 1
            return False
        row_hash = _hash(row.key)
        if self._is_forgotten(session, row_hash, ""):
            return False
        known = connection.execute(
            f"SELECT 1 FROM {table} WHERE session_id = ? AND row_hash = ?",  # noqa: S608 - ours
            (session.id, row_hash),
        ).fetchone()
        self._report.known += known is not None
        return known is None

    def _is_forgotten(self, session: _Session, record: str, text: str) -> bool:
        is_forgotten = self._tombstones.has_record(session.agent, session.external_id, record, text)
        self._report.forgotten += is_forgotten
        return is_forgotten

    def _skip(self, reason: str) -> None:
        self._report.skipped.append(reason)


def _agent(platform: str) -> str:
    """Return our name of the agent that claude-mem calls a platform."""
    from triseek.agents import registry

    name = _AGENTS.get(platform, platform)
    return name if name in {agent.name for agent in registry.with_transcripts()} else _DEFAULT_AGENT


def _line(text: str) -> str:
    """Return a text on one line as it may be written."""
    return " ".join(clean(text, COMMAND_MAX).split())


def _all_clean(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, (clean(text, COMMAND_MAX) for text in texts))))


def _evidence(paths: Iterable[tuple[str, str]]) -> str:
    """Return what freshness compares: files by their times, since claude-mem keeps no contents."""
    files: list[FileMark] = [{"path": path, "role": role} for path, role in paths]
    evidence: EvidenceFields = {"files": files}
    return json.dumps(evidence if files else {}, ensure_ascii=False)


def _hash(key: str) -> str:
    return sha256(f"{FOREIGN_PREFIX}{key}".encode("utf-8", "surrogatepass")).hexdigest()
