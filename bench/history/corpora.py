"""Reads the files of LoCoMo and LongMemEval, which users bring: nothing of them is kept here."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, and when it began."""

    id: str
    began: datetime
    turns: tuple[tuple[str, str], ...]
    """Role (user or assistant) and text."""


@dataclass(frozen=True, slots=True)
class Haystack:
    """Sessions, and questions with the ids of the sessions that answer them."""

    sessions: tuple[Session, ...]
    questions: tuple[tuple[str, frozenset[str]], ...]


def read(name: str, path: Path) -> Iterator[Haystack]:
    """Yield the haystacks of a file. name: locomo or longmemeval."""
    try:
        rows = json.loads(path.read_bytes())
        yield from (_locomo if name == "locomo" else _longmemeval)(rows)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Faulty(f"{path} is no file of {name}: {error!r}") from error


def _locomo(rows: list[dict[str, Any]]) -> Iterator[Haystack]:
    for row in rows:
        said = row["conversation"]
        sessions = []
        for key in said:
            if re.fullmatch(r"session_\d+", key):
                began = _time(said[f"{key}_date_time"], "%I:%M %p on %d %B, %Y")
                turns = tuple(
                    ("user", f"{turn['speaker']}: {turn['text']}")
                    for turn in said[key]
                    if turn.get("text")
                )
                sessions.append(Session(f"sess-{key[8:]}", began, turns))
        ids = {one.id for one in sessions}
        questions = []
        for asked in row["qa"]:
            found = re.findall(r"D(\d+):\d+", str(asked.get("evidence", "")))
            gold = frozenset(f"sess-{one}" for one in found) & ids
            if gold:
                questions.append((asked["question"], gold))
        yield Haystack(tuple(sessions), tuple(questions))


def _time(text: str, form: str) -> datetime:
    return datetime.strptime(text, form).replace(tzinfo=UTC)


def _longmemeval(rows: list[dict[str, Any]]) -> Iterator[Haystack]:
    for row in rows:
        sessions = []
        for identity, date, turns in zip(
            row["haystack_session_ids"],
            row["haystack_dates"],
            row["haystack_sessions"],
            strict=True,
        ):
            began = _time(re.sub(r" \(\w+\)", "", date), "%Y/%m/%d %H:%M")
            said = tuple((turn["role"], turn["content"]) for turn in turns)
            sessions.append(Session(identity, began, said))
        gold = frozenset(row["answer_session_ids"])
        yield Haystack(tuple(sessions), ((row["question"], gold),) if gold else ())
