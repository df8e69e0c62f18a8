"""The two that search: triseek's recall over a database, and deja as a program."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import timedelta
from typing import TYPE_CHECKING

from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.history.corpora import Session

MOST = 20
"""Sessions asked for; an answer behind them counts as not found."""


def triseek(folder: Path, sessions: Sequence[Session]) -> Callable[[str], list[str]]:
    """Store and index sessions below a folder; return a function that searches them."""
    from triseek.history.database import open_database
    from triseek.history.recall.engine import Recall
    from triseek.kernels import jit

    jit.warm(lambda *_: None)
    database = open_database(str(folder / "history"))
    with database.write() as connection:
        for number, session in enumerate(sessions, 1):
            began = int(session.began.timestamp() * 1000)
            connection.execute(
                "INSERT INTO sessions (id, agent, external_id, started_at_epoch)"
                " VALUES (?, 'claude-code', ?, ?)",
                (number, f"{number}-{session.id}", began),
            )
            connection.executemany(
                "INSERT INTO messages (session_id, external_id, role, text, created_at_epoch)"
                " VALUES (?, ?, ?, ?, ?)",
                [
                    (number, str(at), role, text, began + at * 60_000)
                    for at, (role, text) in enumerate(session.turns)
                ],
            )
    recall = Recall(str(folder / "recall"), database)
    recall.update()

    def search(question: str) -> list[str]:
        page = recall.search(question, by="session", limit=MOST)
        return [sessions[hit.session_id - 1].id for hit in page.hits]

    return search


def deja(program: Path, folder: Path, sessions: Sequence[Session]) -> Callable[[str], list[str]]:
    """Write sessions as Claude Code's transcripts and have deja index them, as its own bench."""
    project = folder / "claude" / "-work-bench"
    project.mkdir(parents=True)
    for number, session in enumerate(sessions):
        lines = [
            json.dumps(
                {
                    "type": role,
                    "sessionId": f"session-{number}",
                    "timestamp": (session.began + timedelta(minutes=at)).isoformat(),
                    "message": {"role": role, "content": text},
                }
            )
            for at, (role, text) in enumerate(session.turns)
        ]
        (project / f"{number}.jsonl").write_text("\n".join(lines) + "\n")
    env = {
        **os.environ,
        "HOME": str(folder),
        "DEJA_CLAUDE_ROOT": str(folder / "claude"),
        "DEJA_INDEX_DIR": str(folder / "index.db"),
    }

    def run(*arguments: str) -> bytes:
        ended = subprocess.run(
            [program.absolute(), *arguments], env=env, capture_output=True, check=False
        )
        if ended.returncode not in (0, 1):  # 1: nothing found
            raise Faulty(f"deja: {ended.stderr.decode(errors='replace')[-200:]}")
        return ended.stdout

    run("index", "--rebuild")

    def search(question: str) -> list[str]:
        reply = run("search", "--all", "--no-embed", "--json", "--", question)
        hits = json.loads(reply)["hits"] if reply.strip() else []
        numbers = [int(hit["session"]["id"].rpartition("-")[2]) for hit in hits or []]
        return [sessions[number].id for number in numbers[:MOST]]

    return search
