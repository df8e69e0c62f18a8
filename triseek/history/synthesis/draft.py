"""What the rules make: drafts of observations, with the evidence that they rest on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.history.freshness import FILES_MAX, EvidenceFields, FileMark, mark_of
from triseek.history.synthesis.edit_shape import symbols_of
from triseek.model.plain_text import clipped, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.history.synthesis.session_events import EventFile, SessionEvent, SessionView

ObservationType: TypeAlias = Literal[
    "decision", "bugfix", "feature", "refactor", "discovery", "change"
]
TITLE_MAX = 160
FACT_MAX = 300
FACTS_MAX = 12
NARRATIVE_MAX = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftEvidence:
    """The events that an observation is derived from, and the files it is about."""

    events: tuple[SessionEvent, ...]
    files: tuple[EventFile, ...] = ()
    """In order of time: of several uses of a file the last one counts."""
    commit: str = ""
    """Its id as git printed it."""
    is_resolved: bool | None = None
    """For problems: whether they were solved in the session."""

    @property
    def keys(self) -> list[str]:
        """The agent's ids of the events, sorted, each once."""
        return sorted({event.key for event in self.events})

    def document(self) -> str:
        """Return the JSON for the column `evidence`: see `freshness.EvidenceFields`."""
        fields: EvidenceFields = {"events": self.keys, "files": self.marks()[:FILES_MAX]}
        if self.commit:
            fields["commit"] = self.commit
        if self.is_resolved is not None:
            fields["resolved"] = self.is_resolved
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)

    def marks(self) -> list[FileMark]:
        """Return one mark for each file, edited ones first."""
        last: dict[str, EventFile] = {}
        for use in self.files:
            if use.role == "modified" or use.path not in last:
                last[use.path] = use
        ordered = sorted(last.values(), key=lambda use: (use.role != "modified", use.path))
        return [_mark(use) for use in ordered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An observation as a rule makes it."""

    rule: str
    type: ObservationType
    title: str
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    evidence: DraftEvidence
    prompt: int
    time_ms: int
    value: float
    """Drafts of a prompt that exceed the cap are dropped, those of the lowest value first."""
    is_dead_end: bool = False

    def row_hash(self, view: SessionView) -> str:
        """Return what identifies the row: the same while it rests on the same events."""
        identity = [view.agent, view.external_id, self.rule, *self.evidence.keys]
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def one_line(text: str, most: int) -> str:
    """Return a text as one line without control characters, cut to a length."""
    return clipped(visible_line(" ".join(text.split())), most)


def facts_of(lines: Iterable[str]) -> tuple[str, ...]:
    """Return facts: single lines of bounded length, each once, the first `FACTS_MAX`."""
    lines = (one_line(line, FACT_MAX) for line in lines)
    return tuple(dict.fromkeys(line for line in lines if line))[:FACTS_MAX]


def _mark(use: EventFile) -> FileMark:
    text = use.after if use.role == "modified" and use.is_whole else ""
    return mark_of(use.path, use.role, text, symbols_of(use.path, text))
