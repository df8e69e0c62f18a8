"""Writes sessions of a corpus as transcripts in the format of Claude Code 2.1.330."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.history.corpora import Session

_NAMES = uuid.UUID("6a1f3f0e-6f3b-4c55-9a0e-1d2c3b4a5f60")
"""The namespace of the rows' ids."""


def write(folder: Path, project: str, sessions: Sequence[Session]) -> list[str]:
    """Write each session into a file of its own; return their ids at Claude Code, in order.

    Args:
        folder: The configuration folder; `projects/` below it is written.
        project: The name of the folder that they were held in, which names the project.
        sessions: The sessions.
    """
    transcripts = folder / "projects" / f"-made-{project}"
    transcripts.mkdir(parents=True)
    names = []
    for number, session in enumerate(sessions):
        name = str(uuid.uuid5(_NAMES, f"{project}/{number}"))
        names.append(name)
        rows = _rows(name, f"/made/{project}", session)
        lines = [json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in rows]
        text = "".join(f"{line}\n" for line in lines)
        (transcripts / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return names


def _rows(name: str, cwd: str, session: Session) -> Iterator[dict[str, Any]]:
    """Yield a row for each turn, a minute apart."""
    parent: str | None = None
    for at, (role, text) in enumerate(session.turns):
        row = str(uuid.uuid5(_NAMES, f"{name}/{at}"))
        moment = (session.began + timedelta(minutes=at)).astimezone(UTC)
        message: dict[str, Any] = {"role": role, "content": text}
        if role == "assistant":
            blocks = [{"type": "text", "text": text}]
            message = {"id": f"msg_{row}", "type": "message", "model": "claude-made", **message}
            message["content"] = blocks
        yield {
            "parentUuid": parent, "isSidechain": False, "type": role, "message": message,
            "uuid": row, "timestamp": moment.isoformat(timespec="milliseconds"),
            "userType": "external", "cwd": cwd, "sessionId": name, "version": "2.1.330",
            "gitBranch": "main",
        }  # fmt: skip
        parent = row
