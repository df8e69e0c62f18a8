"""Transcripts of agents: where recorded ones are, and how records are compared."""

from __future__ import annotations

import json
import random
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek.model.conversation import Conversation, Edit, Mark, Message, ToolEvent, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.agents.base import TranscriptReader
    from triseek.model.conversation import Record

RECORDED = Path(__file__).parent / "fixtures" / "transcripts"
TRACE = (
    'Traceback (most recent call last):\n  File "/work/repo/test_a.py", line 3, in <module>\n'
    '    assert add(1, 2) == 3, "wrong sum"\n           ^^^^^^^^^^^^^^\nAssertionError: wrong sum\n'
)
"""What the failing command of the recorded conversations prints."""
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1 << 70, 1.5, 1e300, "", "x", "\x00", "\ud800", "{", '"\\ud800"',
    '{"command":"\\ud800","path":"\\u0000"}', [], [None], ["a", 1], {}, {"a": {"b": [1]}},
    [{"type": "text", "text": 5}], [[[]]],
)  # fmt: skip
"""Values that no field expects."""


def read(reader: TranscriptReader, path: str | Path, mark: Mark | None = None) -> list[Record]:
    """All records of a source, or those since a mark."""
    records, _ = read_marked(reader, path, mark)
    return records


def read_marked(
    reader: TranscriptReader, path: str | Path, mark: Mark | None = None
) -> tuple[list[Record], Mark]:
    """The records of a source, and the mark at their end."""
    whole = list(reader.read(str(path), mark or Mark()))
    last = whole[-1]
    assert isinstance(last, Mark)
    json.dumps([last.offset, last.state])
    return [one for one in whole if not isinstance(one, Mark)], last


def folded(records: Iterable[Record]) -> dict[str, list[Record]]:
    """What a store has of each conversation: later records replace the fields that they set."""
    stored: dict[tuple[str, str, str], Any] = {}
    for record in records:
        if isinstance(record, Conversation):
            key = (record.id, "", "")
        else:
            assert not isinstance(record, Unreadable), record
            key = (record.conversation, type(record).__name__, record.id)
        known = stored.get(key)
        if known is None or isinstance(record, Message):
            stored[key] = record
            continue
        empty = ("", 0, None, ())
        new = {one.name: getattr(record, one.name) for one in fields(record)}
        told = {
            name: value
            for name, value in new.items()
            if not (isinstance(value, type(empty)) and value == ()) and value not in ("", None)
        }
        if isinstance(record, Conversation):
            told = {name: value for name, value in told.items() if value or name == "id"}
        else:
            told = {
                name: value
                for name, value in told.items()
                if not (name in ("time_ms", "ended_ms") and value == 0)
            }
        stored[key] = replace(known, **told)
    whole: dict[str, list[Record]] = {}
    for (conversation, _, _), record in stored.items():
        whole.setdefault(conversation, []).append(record)
    return whole


def said(records: Iterable[Record]) -> list[tuple[str, str]]:
    """Who says what: `role, text` of messages and `tool, output` of uses."""
    lines = []
    for record in records:
        if isinstance(record, Message):
            lines.append((record.role, record.text))
        elif isinstance(record, ToolEvent):
            lines.append((record.name, record.output))
    return lines


def uses(records: Iterable[Record]) -> dict[str, ToolEvent]:
    """Uses of tools by their ids."""
    return {one.id: one for one in records if isinstance(one, ToolEvent)}


def check(records: Iterable[Record]) -> None:
    """Every field has its type, and every text can be stored."""
    for record in records:
        for one in fields(record):
            _check(getattr(record, one.name), f"{type(record).__name__}.{one.name}")
        if not isinstance(record, Unreadable):
            assert record.id
        for path in getattr(record, "reads", ()):
            assert path.startswith("/")


def _check(value: object, name: str) -> None:
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, tuple):
        for item in value:
            if isinstance(item, Edit):
                assert item.path.startswith("/"), name
                _check((item.path, item.before, item.after), name)
            else:
                assert isinstance(item, str), name
                item.encode()
    else:
        assert value is None or isinstance(value, int), name
        assert value is None or -1 < value < 1 << 63, name


def spoiled(value: Any, seed: int, places: int = 4) -> Any:
    """A JSON value with other values in a few places, drawn with a seed."""
    draw = random.Random(seed)
    value = json.loads(json.dumps(value))
    paths = list(_places(value))
    for container, key in draw.sample(paths, min(places, len(paths))):
        container[key] = draw.choice(ODD)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from _places(inner)


def rows(path: Path) -> list[Any]:
    """The JSON lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_rows(path: Path, values: Iterable[Any]) -> Path:
    """Write values as JSON lines."""
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path
