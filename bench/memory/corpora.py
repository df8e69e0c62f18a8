"""What recall is measured on: drawers, and questions with the drawers that answer them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCOMO_KINDS = {1: "multi-hop", 2: "date", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""Names of LoCoMo's categories of questions."""
APART_MS = 2 * 3_600_000
"""Between drawers that were not written together."""
_EVIDENCE = re.compile(r"D(\d+):(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A drawer to be stored."""

    id: str
    """Unique in its corpus."""
    text: str
    room: str = ""
    created_ms: int = 1_700_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query, and what answers it."""

    query: str
    evidence: tuple[str, ...]
    """Ids of drawers; at least one."""
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The drawers of one palace and the questions about them."""

    name: str
    """Unique in a run; also the palace's name."""
    drawers: tuple[Text, ...]
    questions: tuple[Question, ...]


def apart(corpus: Corpus) -> Corpus:
    """Return a corpus whose drawers are written one after another, `APART_MS` apart."""
    drawers = tuple(
        replace(drawer, created_ms=drawer.created_ms + at * APART_MS)
        for at, drawer in enumerate(corpus.drawers)
    )
    return replace(corpus, name=f"{corpus.name}-apart", drawers=drawers)


def locomo(path: Path) -> list[Corpus]:
    """Return LoCoMo's conversations: a palace each, a room for each session, turns as drawers.

    Raises:
        Faulty: The file is not one of LoCoMo.
    """
    try:
        rows = json.loads(path.read_bytes())
        return [_conversation(f"locomo-{number:02}", row) for number, row in enumerate(rows)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Faulty(f"{path} is no file of locomo: {error!r}") from error


def _conversation(name: str, row: dict[str, Any]) -> Corpus:
    drawers = tuple(_turns(row["conversation"]))
    ids = {drawer.id for drawer in drawers}
    return Corpus(name=name, drawers=drawers, questions=tuple(_questions(row["qa"], ids)))


def _turns(conversation: dict[str, Any]) -> Iterator[Text]:
    for key, turns in conversation.items():
        session = re.fullmatch(r"session_(\d+)", key)
        if not session:
            continue
        text = conversation[f"{key}_date_time"]
        began = datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        began_ms = int(began.timestamp() * 1000)
        for at, turn in enumerate(turns):
            if turn.get("text"):
                yield Text(
                    id=turn["dia_id"],
                    text=f"{turn['speaker']}: {turn['text']}",
                    room=f"session-{session[1]}",
                    created_ms=began_ms + at * 1000,
                )


def _questions(rows: list[dict[str, Any]], ids: set[str]) -> Iterator[Question]:
    for row in rows:
        matches = _EVIDENCE.findall(str(row.get("evidence", "")))
        turns = dict.fromkeys(f"D{int(session)}:{int(turn)}" for session, turn in matches)
        evidence = tuple(turn for turn in turns if turn in ids)
        if evidence:
            yield Question(
                query=row["question"], evidence=evidence, kind=LOCOMO_KINDS[row["category"]]
            )
