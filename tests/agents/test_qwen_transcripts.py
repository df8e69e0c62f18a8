"""What Qwen Code 0.15.10 wrote is read message for message, and what its source says it writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.agents.transcript_reads import FIXTURES, Read, place, read, reader_of
from triseek.model.conversation import Edit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def whole() -> Read:
    """The recorded session."""
    folder = FIXTURES / "qwen"
    [path] = reader_of("qwen").sources(place(folder, QWEN_HOME=str(folder)))
    return read("qwen", path)


def row(uuid: str, kind: str, text: str, parent: str = "", **more: object) -> dict[str, object]:
    return {
        "uuid": uuid, "parentUuid": parent, "sessionId": "s", "type": kind, "cwd": "/w",
        "timestamp": "2026-07-01T10:00:00Z", "message": {"parts": [{"text": text}]}, **more,
    }  # fmt: skip


def of_rows(folder: Path, *rows: object) -> Read:
    path = folder / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return read("qwen", path)


def test_a_session_is_read_message_for_message(whole):
    [session] = whole.conversations

    assert whole.said(session) == [
        ("user", "Do as told. [[first]]"),
        ("assistant", "All was done."),
        ("user", "Do as told. [[second]]"),
        ("assistant", "Back."),
    ]
    conversation = whole.conversations[session]
    assert (conversation.cwd, conversation.branch) == ("/work/repo", "main")
    first, done, second, _ = (one.id for one in whole.messages.values())
    uses = whole.used(session)
    assert [one.parent for one in whole.messages.values()] == ["", uses[-1].id, done, second]
    assert [one.parent for one in uses] == [first, *(one.id for one in uses[:-1])]


def test_a_session_is_read_tool_for_tool(whole):
    [session] = whole.conversations
    a, b = "/work/repo/src/a.py", "/work/repo/b.py"
    uses = whole.used(session)
    assert [(one.name, one.command, one.exit_status, one.failed, one.reads) for one in uses] == [
        ("read_file", "", None, False, (a,)),
        ("read_file", "", None, True, ("/work/repo/none.py",)),
        ("run_shell_command", "cat b.py", 0, False, ()),
        ("run_shell_command", "echo no >&2; exit 3", 3, True, ()),
        ("edit", "", None, False, ()),
        ("write_file", "", None, True, ()),  # it was not read before
        ("read_file", "", None, False, (b,)),
        ("glob", "", None, False, ()),
        ("agent", "", None, False, ()),
    ]
    assert uses[4].edits == (Edit(path=a, before="a_3 = 3", after="a_3 = 33"),)
    assert uses[-1].output == "Seen."


def test_going_back_starts_a_branch(tmp_path):
    found = of_rows(
        tmp_path,
        row("1", "user", "One"),
        row("2", "assistant", "First", "1"),
        row("3", "user", "Two", "2"),
        row("4", "system", "", "2", subtype="rewind"),
        row("5", "user", "Other", "4"),
    )
    parents = {one.text: one.parent for one in found.messages.values()}
    assert parents == {"One": "", "First": "1", "Two": "2", "Other": "2"}


def test_summaries_and_titles_are_kept_and_what_nobody_said_is_not(tmp_path):
    kept = [{"role": "user", "parts": [{"text": "<state_snapshot>Much."}]}]
    payload = {"info": {}, "compressedHistory": kept}
    found = of_rows(
        tmp_path,
        row("1", "user", "<system-reminder>No."),
        row("2", "user", "Cron", subtype="cron"),
        row("3", "system", "", subtype="chat_compression", systemPayload=payload),
        row("4", "system", "", subtype="custom_title", systemPayload={"customTitle": "Mine"}),
    )
    assert found.said("s") == [("summary", "<state_snapshot>Much.")]
    assert found.conversations["s"].title == "Mine"


def test_a_session_is_reopened_by_its_id():
    assert reader_of("qwen").resume("s") == ("qwen", "--resume", "s")
