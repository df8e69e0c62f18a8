"""Records of sessions and entries of their logs, as they are stored and read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from triseek.errors import InvalidRequest
from triseek.model.session import (
    DEPTH_MAX,
    NUMBER_MAX,
    LogEntry,
    Session,
    checked_id,
    is_count,
    is_tellable,
)

SESSION = Session(
    session_id="one", goal="mend it", repo_root="/repo", created_at=1, updated_at=2, by_itself=True
)
ENTRY = LogEntry(entry_id=3, session_id="one", ts=4, kind="read", payload={"path": "a.py"})


@pytest.mark.parametrize("record", [SESSION, ENTRY])
def test_a_document_reads_back_as_what_was_written(record: Session | LogEntry) -> None:
    document = json.loads(json.dumps(record.document()))

    assert type(record).read({**document, "later": "field"}) == record


def test_only_a_session_that_began_by_itself_says_so() -> None:
    opened = Session(session_id="one", goal="", repo_root="/", created_at=1, updated_at=1)

    assert SESSION.document()["by_itself"] is True
    assert "by_itself" not in opened.document()


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2}, {"schema_version": True}, {"session_id": "../up"}, {"goal": None},
        {"status": "paused"}, {"created_at": -1}, {"updated_at": 1 << 53}, {"created_at": 1.0},
    ],
)  # fmt: skip
def test_a_session_with_an_invalid_field_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="session"):
        Session.read({**SESSION.document(), **change})


@pytest.mark.parametrize(
    "change",
    [
        {"entry_id": -1}, {"ts": True}, {"session_id": ""}, {"kind": 1}, {"payload": []},
        {"payload": {"score": float("nan")}}, {"schema_version": 0},
    ],
)  # fmt: skip
def test_an_entry_with_an_invalid_field_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="entry"):
        LogEntry.read({**ENTRY.document(), **change})


@pytest.mark.parametrize("text", ["", ".hidden", "a/b", "sessions.json", "x.partial", "a" * 129])
def test_what_cannot_name_a_folder_is_no_id(text: str) -> None:
    with pytest.raises(InvalidRequest):
        checked_id(text)


def test_numbers_and_nesting_have_bounds() -> None:
    deep: Any = "text"
    for _ in range(DEPTH_MAX):
        deep = [deep]

    assert is_count(NUMBER_MAX)
    assert not is_count(NUMBER_MAX + 1)
    assert is_tellable(deep)
    assert not is_tellable([deep])
    assert not is_tellable({"a": -NUMBER_MAX - 1})
