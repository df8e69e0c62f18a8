"""Databases of claude-mem for tests: its schemas of three versions, in SQL of our own."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_SESSIONS = """
id INTEGER PRIMARY KEY AUTOINCREMENT, {external} TEXT NOT NULL, {memory} TEXT UNIQUE,
project TEXT NOT NULL, user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER,
completed_at TEXT, completed_at_epoch INTEGER, status TEXT DEFAULT 'active'"""
_OBSERVATIONS = """
id INTEGER PRIMARY KEY AUTOINCREMENT, {memory} TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
type TEXT NOT NULL, created_at TEXT, created_at_epoch INTEGER"""
_SUMMARIES = """
id INTEGER PRIMARY KEY AUTOINCREMENT, {memory} TEXT NOT NULL, project TEXT, request TEXT,
investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT,
files_edited TEXT, notes TEXT, created_at TEXT, created_at_epoch INTEGER"""
_PROMPTS = """
id INTEGER PRIMARY KEY AUTOINCREMENT, {external} TEXT NOT NULL, prompt_number INTEGER NOT NULL,
prompt_text TEXT NOT NULL, created_at TEXT, created_at_epoch INTEGER"""
_LAYERS = (
    ", title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,"
    " files_modified TEXT, prompt_number INTEGER"
)
_COUNTERS = ", worker_port INTEGER, prompt_counter INTEGER DEFAULT 0"
_SYNC = ", content_hash TEXT, metadata TEXT, origin_device_id TEXT, origin_local_id INTEGER"
_OLD = {"external": "claude_session_id", "memory": "sdk_session_id"}
_NEW = {"external": "content_session_id", "memory": "memory_session_id"}
SCHEMAS = {
    "v4": (_OLD, {"sdk_sessions": _SESSIONS, "observations": _OBSERVATIONS,
                  "session_summaries": _SUMMARIES}),
    "v5.3": (_OLD, {"sdk_sessions": _SESSIONS + _COUNTERS, "observations": _OBSERVATIONS + _LAYERS,
                    "session_summaries": _SUMMARIES + ", prompt_number INTEGER",
                    "user_prompts": _PROMPTS}),
    "head": (_NEW, {"sdk_sessions": _SESSIONS + _COUNTERS
                    + ", custom_title TEXT, platform_source TEXT DEFAULT 'claude'",
                    "observations": _OBSERVATIONS + _LAYERS + _SYNC,
                    "session_summaries": _SUMMARIES + ", prompt_number INTEGER" + _SYNC,
                    "user_prompts": _PROMPTS}),
}  # fmt: skip
"""Version → its names of sessions' ids, and its tables."""
NOON = 1_761_048_000_000


class Made:
    """A database that is being made."""

    def __init__(self, path: Path, version: str, *, wal: bool = True) -> None:
        self.path, self.version = path, version
        self.names, self.tables = SCHEMAS[version]
        with closing(sqlite3.connect(path)) as connection:
            if wal:
                connection.execute("PRAGMA journal_mode = WAL")
            for table, columns in self.tables.items():
                connection.execute(f"CREATE TABLE {table} ({columns.format(**self.names)})")
            connection.commit()

    def add(self, table: str, **values: Any) -> None:
        """Insert a row; `external` and `memory` are the session's ids under the version's names."""
        values = {self.names.get(name, name): value for name, value in values.items()}
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute(
                f"INSERT INTO {table} ({', '.join(values)})"
                f" VALUES ({', '.join('?' * len(values))})",
                tuple(values.values()),
            )
            connection.commit()

    def fill(self) -> Made:
        """Insert one session with what the version keeps of it."""
        has_layers = self.version != "v4"
        self.add(
            "sdk_sessions", external="c-1", memory="m-1", project="shop",
            user_prompt="Mend the cartTotal", started_at_epoch=NOON, status="completed",
            completed_at_epoch=NOON + 9_000, **({"prompt_counter": 2} if has_layers else {}),
        )  # fmt: skip
        layers = {
            "title": "Fixed the discount", "subtitle": "Rounding", "narrative": "It was halved.",
            "facts": json.dumps(["cart.py rounds down"]), "concepts": json.dumps(["gotcha"]),
            "files_read": json.dumps(["docs/prices.md"]),
            "files_modified": json.dumps(["src/cart.py"]), "prompt_number": 2,
        }  # fmt: skip
        self.add(
            "observations", memory="m-1", project="shop", type="bugfix",
            text=None if has_layers else "The discount was halved twice.",
            created_at_epoch=NOON + 3_000, **(layers if has_layers else {}),
        )  # fmt: skip
        self.add(
            "session_summaries", memory="m-1", project="shop", request="Mend the total",
            learned="Discounts round down", files_read=json.dumps(["docs/prices.md"]),
            created_at_epoch=NOON + 8_000,
        )  # fmt: skip
        if has_layers:
            for number, text in ((1, "Mend the cartTotal"), (2, "And test it")):
                self.add(
                    "user_prompts", external="c-1", prompt_number=number, prompt_text=text,
                    created_at_epoch=NOON + number * 1_000,
                )  # fmt: skip
        return self
