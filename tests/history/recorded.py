"""A builder of sessions in a real history database."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triseek.store.sqlite import Database

ROOT = "/work/shop"
MINUTE = 60_000


class Recorded:
    """One session; each call adds what happens next, a minute later."""

    def __init__(
        self, database: Database, key: str = "s1", *, root: str = ROOT, at: int = 1_000_000
    ):
        self.database, self.root, self.now, self.prompt_number, self.count = (
            database,
            root,
            at,
            0,
            0,
        )
        with database.write() as connection:
            self.id = connection.execute(
                "INSERT INTO sessions (agent, external_id, project, root, cwd, title,"
                " started_at_epoch)"
                " VALUES ('claude', ?, 'shop', ?, ?, ?, ?)",
                (key, root, root, f"Title of {key}", at),
            ).lastrowid
        assert self.id is not None

    def prompt(self, text: str) -> Recorded:
        self.prompt_number += 1
        return self._said("user", text)

    def answer(self, text: str) -> Recorded:
        return self._said("assistant", text)

    def run(
        self, command: str, output: str = "", status: int | None = 0, ms: int = 1000
    ) -> Recorded:
        return self._event("Bash", command, status, output, [], ms)

    def edit(self, path: str, before: str, after: str, name: str = "Edit") -> Recorded:
        return self._event(name, "", None, "ok", [(path, "modified", before, after)])

    def write(self, path: str, text: str) -> Recorded:
        return self.edit(path, "", text, "Write")

    def read(self, path: str) -> Recorded:
        return self._event("Read", "", None, "text", [(path, "read", "", "")])

    def tool(self, name: str, **arguments: Any) -> Recorded:
        return self._event(name, "", None, "", [], arguments=arguments)

    def _said(self, role: str, text: str) -> Recorded:
        self.now += MINUTE
        self.count += 1
        with self.database.write() as connection:
            connection.execute(
                "INSERT INTO messages (session_id, external_id, role, prompt_number, text,"
                " created_at_epoch) VALUES (?, ?, ?, ?, ?, ?)",
                (self.id, f"m{self.count}", role, self.prompt_number, text, self.now),
            )
        return self

    def _event(self, name, command, status, output, uses, ms=0, arguments=None) -> Recorded:
        self.now += MINUTE
        self.count += 1
        with self.database.write() as connection:
            number = connection.execute(
                "INSERT INTO tool_events (session_id, external_id, prompt_number, name, input,"
                " command, exit_status, failed, output, created_at_epoch, ended_at_epoch)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self.id, f"e{self.count}", self.prompt_number, name,
                    json.dumps(arguments or {}),
                    command, status, None if status is None else int(status != 0), output,
                    self.now, self.now + ms,
                ),
            ).lastrowid  # fmt: skip
            for path, role, before, after in uses:
                whole = path if path.startswith("/") else f"{self.root}/{path}"
                connection.execute(
                    "INSERT INTO event_files VALUES (?, ?, ?, ?, ?)",
                    (number, whole, role, before, after),
                )
        return self
