"""Reads transcripts as the history does, and puts together what is read of a thing."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from tests.agents.fixtures import FOLDER
from tests.agents.places import PROGRAM
from triseek.agents.base import InstallPlace
from triseek.agents.registry import with_transcripts
from triseek.model.conversation import Conversation, Edit, Mark, Message, ToolEvent, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from triseek.agents.base import TranscriptReader

FIXTURES = FOLDER / "transcripts"
HOSTILE: tuple[Any, ...] = (
    None, True, -1, 1 << 70, 0.5, "", "x", "a\0b", "../..", "<", [], [[]], [None, 1, "x", {}],
    {}, {"type": []}, {"text": {}, "content": 1}, [{"type": "text", "text": []}, {"text": "x"}],
)  # fmt: skip


@dataclass
class Read:
    """What was read, put together."""

    conversations: dict[str, Conversation] = field(default_factory=dict)
    messages: dict[tuple[str, str], Message] = field(default_factory=dict)
    events: dict[tuple[str, str], ToolEvent] = field(default_factory=dict)
    unreadable: list[Unreadable] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def add(self, records: Iterable[Any]) -> Read:
        for one in records:
            match one:
                case Mark():
                    self.marks.append(one)
                case Unreadable():
                    self.unreadable.append(one)
                case Conversation():
                    known = self.conversations.get(one.id, one)
                    self.conversations[one.id] = _later(known, one)
                case Message():
                    self.messages[one.conversation, one.id] = one
                case ToolEvent():
                    key = (one.conversation, one.id)
                    self.events[key] = _later(self.events.get(key, one), one)
        return self

    def said(self, conversation: str) -> list[tuple[str, str]]:
        """Roles and texts of a conversation."""
        return [
            (one.role, one.text)
            for one in self.messages.values()
            if one.conversation == conversation
        ]

    def used(self, conversation: str) -> list[ToolEvent]:
        """Uses of tools in a conversation."""
        return [one for one in self.events.values() if one.conversation == conversation]

    def records(self) -> tuple[object, ...]:
        """All that two reads of the same file have in common."""
        return self.conversations, self.messages, self.events, self.unreadable


def _later(known: Any, new: Any) -> Any:
    """The known record with the fields that the new one sets."""
    told = {one.name: getattr(new, one.name) for one in fields(new)}
    unset: tuple[Any, ...] = (None, "", (), 0)
    kept = {
        name: value
        for name, value in told.items()
        if (name in ("failed", "exit_status") and value is not None) or value not in unset
    }
    return replace(known, **kept)


def reader_of(name: str) -> TranscriptReader:
    """The reader of an agent."""
    return next(agent.transcripts for agent in with_transcripts() if agent.name == name)


def place(home: Path, **environ: str) -> InstallPlace:
    """Where an agent has its files."""
    return InstallPlace(program=PROGRAM, home=str(home), cwd=str(home), environ=environ)


def recorded(name: str, environ: Mapping[str, str]) -> list[str]:
    """The sources in the fixtures of an agent, oldest first."""
    return [*reader_of(name).sources(place(FIXTURES / name, **environ))]


def read(name: str, path: str | Path, *marks: Mark) -> Read:
    """Read a file from its start, or from a mark."""
    return Read().add(reader_of(name).read(str(path), *(marks or (Mark(),))))


def variants(row: Any, depth: int = 7) -> Iterable[Any]:
    """The row with each of its values replaced by values that nobody expects."""
    if depth and isinstance(row, dict):
        for name, value in row.items():
            for other in itertools.chain(HOSTILE, variants(value, depth - 1)):
                yield {**row, name: other}
    elif depth and isinstance(row, list):
        for at, value in enumerate(row[:2]):
            for other in variants(value, depth - 1):
                yield [*row[:at], other, *row[at + 1 :]]


def check(record: Any) -> None:
    """That a record can be stored: its fields have the types that they declare."""
    for one in fields(record):
        value = getattr(record, one.name)
        if one.name in ("exit_status", "failed", "is_sub_agent"):
            assert value is None or type(value) in (bool, int), record
        elif one.name.endswith("_ms"):
            assert type(value) is int, record
            assert 0 <= value < 1 << 60, record
        elif one.name in ("reads", "edits"):
            assert all(isinstance(path, Edit | str) for path in value), record
            for path in value:
                name = path if isinstance(path, str) else path.path
                assert name.startswith("/"), record
        elif one.name == "state":
            assert all(isinstance(text, str) for text in value.values())
        elif one.name != "offset":
            assert isinstance(value, str), record
            value.encode()
    if not isinstance(record, Mark | Unreadable):
        assert record.id, record
