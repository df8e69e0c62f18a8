"""Entries of session logs become records of the conversation that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.app.session_records import SessionRecords, history_name
from triseek.model.conversation import Conversation, Edit, Message, ToolEvent
from triseek.model.session import LogEntry

if TYPE_CHECKING:
    from triseek.model.conversation import Record

ROOT = "/work/shop"
BY = {"harness": "claude_code", "conversation": "session/abc/"}
NAME = "claude-code/abc"


def entry(number: int, kind: str, **payload: Any) -> LogEntry:
    return LogEntry(entry_id=number, session_id="s1", ts=1_000 + number, kind=kind, payload=payload)


def opened(**more: Any) -> LogEntry:
    return entry(1, "session_open", session={"repo_root": ROOT, **more})


def records(*entries: LogEntry) -> list[Record]:
    reader = SessionRecords("s1")
    return [record for each in entries for record in reader.of(each)]


def only(each: LogEntry) -> Any:
    conversation, record = records(opened(), each)
    assert isinstance(conversation, Conversation)
    return record


@pytest.mark.parametrize(
    ("harness", "name"),
    [
        ("claude_code", "claude-code"),
        ("opencode", "opencode"),
        ("qwen", "qwen"),
        ("vscode", "vscode"),
        ("some/agent", "some-agent"),
        ("", ""),
    ],
)
def test_agents_have_the_names_of_the_history(harness: str, name: str) -> None:
    assert history_name(harness) == name


def test_a_prompt_is_what_a_person_said() -> None:
    begun, said = records(opened(), entry(2, "prompt", prompt="mend it", **BY))
    assert begun == Conversation(id=NAME, cwd=ROOT, started_ms=1_002_000)
    assert said == Message(
        conversation=NAME, id="triseek:2", role="user", text="mend it", time_ms=1_002_000
    )


def test_uses_of_tools_keep_what_the_log_has() -> None:
    edit = only(entry(2, "edit", path="src/a.py", call="c1", **BY))
    assert (edit.id, edit.edits) == ("triseek:use:c1", (Edit(path=f"{ROOT}/src/a.py"),))
    read = only(entry(2, "read", path="src/a.py", line_start=3, line_end=9, **BY))
    assert (read.reads, read.input) == ((f"{ROOT}/src/a.py",), '{"lines":[3,9]}')
    ran = only(entry(2, "command", command="make", exit_status=2, failed=True, **BY))
    assert (ran.command, ran.exit_status, ran.failed) == ("make", 2, True)
    search = only(entry(2, "search", query="a b", tool="grep", **BY))
    assert (search.name, search.input) == ("grep", '{"query":"a b"}')
    own = only(entry(2, "search", tool="search_text", arguments={"q": "x"}, error="BUSY", **BY))
    assert (own.name, own.input, own.failed) == ("search_text", '{"q":"x"}', True)


def test_how_a_command_ended_belongs_to_the_same_use() -> None:
    _, ran, ended = records(
        opened(),
        entry(2, "command", command="make", call="c1", **BY),
        entry(3, "command_status", call="c1", exit_status=0, failed=False, **BY),
    )
    assert isinstance(ran, ToolEvent)
    assert isinstance(ended, ToolEvent)
    assert ran.id == ended.id
    assert (ran.failed, ended.failed, ended.exit_status) == (None, False, 0)


def test_a_sub_agents_uses_belong_to_the_conversation_that_began_it() -> None:
    by = {**BY, "conversation": "session/abc/agent-7"}
    assert only(entry(2, "read", path="a", **by)).conversation == NAME


def test_a_call_without_a_conversation_belongs_to_the_last_of_its_agent() -> None:
    other = {"harness": "codex", "conversation": "session/xyz/"}
    found = records(
        opened(),
        entry(2, "prompt", prompt="a", **BY),
        entry(3, "prompt", prompt="b", **other),
        entry(4, "context_pack", tool="context_pack", harness="claude_code"),
        entry(5, "context_pack", tool="context_pack"),
    )
    calls = [one.conversation for one in found if isinstance(one, ToolEvent)]
    assert calls == [NAME, "codex/xyz"]


def test_a_session_without_conversations_is_one_itself() -> None:
    assert only(entry(2, "search", tool="search_text")).conversation == "triseek/s1"
    listed = opened(conversations=["codex/xyz", "connection/4", "*", 7])
    _, record = records(listed, entry(2, "search", tool="search_text", harness="codex"))
    assert isinstance(record, ToolEvent)
    assert record.conversation == "codex/xyz"


def test_a_later_reader_goes_on_with_the_state() -> None:
    reader = SessionRecords("s1")
    list(reader.of(opened()))
    list(reader.of(entry(2, "prompt", prompt="a", **BY)))
    later = SessionRecords("s1", reader.state)
    begun, record = later.of(entry(3, "read", path="a", harness="claude_code"))
    assert begun == Conversation(id=NAME, cwd=ROOT, started_ms=1_003_000)
    assert isinstance(record, ToolEvent)
    assert (record.conversation, record.reads) == (NAME, (f"{ROOT}/a",))


@pytest.mark.parametrize(
    "bad",
    [
        entry(2, "prompt", prompt=["a"], **BY),
        entry(2, "read", path="../outside", **BY),
        entry(2, "read", outside=True, **BY),
        entry(2, "edit", path=7, **BY),
        entry(2, "command", command=None, **BY),
        entry(2, "command_status", exit_status=0, **BY),
        entry(2, "compact", **BY),
        entry(2, "read_denied", path="a", **BY),
        entry(2, "session_handoff", snapshot_id="s"),
        entry(2, "mystery", **BY),
    ],
)
def test_what_is_no_message_and_no_use_is_left_out(bad: LogEntry) -> None:
    assert records(opened(), bad) == []


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("session/a/b"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=4,
)
_FIELDS = st.sampled_from(
    ["session", "harness", "conversation", "prompt", "call", "path", "command", "exit_status",
     "failed", "query", "tool", "arguments", "line_start", "line_end", "repo_root", "folder"]
)  # fmt: skip
_KINDS = st.sampled_from(
    ["session_open", "prompt", "read", "edit", "command", "command_status", "search", "other"]
)


@given(st.lists(st.tuples(_KINDS, st.dictionaries(_FIELDS, _VALUES, max_size=5)), max_size=4))
def test_any_payload_is_read(rows: list[tuple[str, dict[str, Any]]]) -> None:
    for record in records(*(entry(n, kind, **payload) for n, (kind, payload) in enumerate(rows))):
        name = record.id if isinstance(record, Conversation) else record.conversation  # type: ignore[union-attr]
        assert all(name.partition("/")[::2])
