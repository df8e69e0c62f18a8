"""An agent whose transcripts are records as JSON lines: for what does not depend on a format."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from triseek.agents import jsonl
from triseek.agents.base import Agent, InstallPlace, TranscriptReader
from triseek.model.conversation import (
    Conversation,
    Edit,
    Mark,
    Message,
    ToolEvent,
    Unreadable,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.model.conversation import Record

_KINDS = {kind.__name__: kind for kind in (Conversation, Message, ToolEvent)}


class StubReader(TranscriptReader):
    """Reads `~/stub/*.jsonl`."""

    def sources(self, here: InstallPlace) -> Iterator[str]:
        from pathlib import Path

        yield from map(str, sorted(Path(here.in_home("stub")).glob("*.jsonl")))

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        for row in jsonl.rows(path, mark.offset):
            if isinstance(row.value, Unreadable):
                yield row.value
            else:
                yield _record(dict(row.value))
            yield Mark(offset=row.end)
            mark = Mark(offset=row.end)
        yield mark


def _record(fields: dict[str, Any]) -> Record:
    kind = _KINDS[fields.pop("kind")]
    if kind is ToolEvent:
        fields["edits"] = tuple(Edit(**edit) for edit in fields["edits"])
        fields["reads"] = tuple(fields["reads"])
    return kind(**fields)


class StubAgent(Agent):
    """The agent."""

    name = "stub"
    title = "Stub"
    transcripts = StubReader()


AGENT = StubAgent()


def place(home: Path) -> InstallPlace:
    """Return the place below a home folder."""
    return InstallPlace("", str(home), str(home), {})


def write(path: Path, *records: Record, mode: str = "a") -> None:
    """Append records to a transcript."""
    path.parent.mkdir(exist_ok=True)
    with path.open(mode) as file:
        for record in records:
            fields: dict[str, Any] = dataclasses.asdict(record)
            file.write(json.dumps({"kind": type(record).__name__, **fields}) + "\n")
