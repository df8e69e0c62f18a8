"""Rows of a history database for tests, written as the importer and the rules write them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from triseek.recall.sub_tokens import observation_sub, sub_tokens

if TYPE_CHECKING:
    from triseek.store.sqlite import Database

NOON = 1_761_048_000_000
"""2025-10-21 12:00 UTC in milliseconds."""
MINUTE = 60_000


class Rows:
    """Writes rows; each method returns the row's id."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._count = 0

    def _insert(self, table: str, **values: Any) -> int:
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        with self.database.write() as connection:
            cursor = connection.execute(
                f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
            )
            return int(cursor.lastrowid or 0)

    def session(self, name: str = "", **values: Any) -> int:
        self._count += 1
        values = {"agent": "claude-code", "project": "shop", "started_at_epoch": NOON, **values}
        return self._insert("sessions", external_id=name or f"session-{self._count}", **values)

    def prompt(self, session: int, text: str, time_ms: int = NOON, number: int = 1) -> int:
        self._count += 1
        return self._insert(
            "messages", session_id=session, external_id=str(self._count), role="user", text=text,
            prompt_number=number, created_at_epoch=time_ms, sub=sub_tokens([text]),
        )  # fmt: skip

    def said(self, session: int, text: str, time_ms: int = NOON) -> int:
        self._count += 1
        return self._insert(
            "messages", session_id=session, external_id=str(self._count), role="assistant",
            text=text, created_at_epoch=time_ms,
        )  # fmt: skip

    def summary(self, session: int, request: str, time_ms: int = NOON, **values: Any) -> int:
        self._count += 1
        return self._insert(
            "session_summaries", session_id=session, project="shop", request=request,
            row_hash=str(self._count), sub=sub_tokens([request]), created_at_epoch=time_ms,
            **values,
        )  # fmt: skip

    def observation(
        self,
        session: int,
        title: str,
        time_ms: int = NOON,
        *,
        facts: tuple[str, ...] = (),
        concepts: tuple[str, ...] = (),
        read: tuple[str, ...] = (),
        modified: tuple[str, ...] = (),
        **values: Any,
    ) -> int:
        self._count += 1
        fields = (title, values.get("subtitle", ""), values.get("narrative", ""))
        values = {
            "type": "discovery", "project": "shop",
            "facts": json.dumps(facts), "concepts": json.dumps(concepts),
            **values,
        }  # fmt: skip
        id_ = self._insert(
            "observations", session_id=session, title=title, created_at_epoch=time_ms,
            row_hash=hashlib.sha256(str(self._count).encode()).hexdigest(),
            sub=observation_sub(fields, facts, concepts, (*read, *modified)), **values,
        )  # fmt: skip
        for role, paths in (("read", read), ("modified", modified)):
            for path in paths:
                self._insert("observation_files", observation_id=id_, path=path, role=role)
        return id_
