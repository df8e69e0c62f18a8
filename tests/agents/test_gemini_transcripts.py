"""What Gemini CLI 0.61.0 wrote is read message for message, and what its source says it writes."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.agents.transcript_reads import FIXTURES, Read, place, read, reader_of
from triseek.model.conversation import Edit, Mark

if TYPE_CHECKING:
    from pathlib import Path

HEAD = {"sessionId": "s", "projectHash": "h", "startTime": "2026-07-01T10:00:00Z", "kind": "main"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Read:
    """The recorded session."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(FIXTURES / "gemini", home / ".gemini")
    [path] = reader_of("gemini").sources(place(home))
    return read("gemini", path)


def message(name: str, text: object, kind: str = "user", **more: object) -> dict[str, object]:
    return {"id": name, "timestamp": "2026-07-01T10:00:01Z", "type": kind, "content": text, **more}


def chats(folder: Path, root: str = "/w") -> Path:
    path = folder / ".gemini/tmp/w/chats"
    path.mkdir(parents=True)
    (path.parent / ".project_root").write_text(root)
    return path


def of_rows(folder: Path, *rows: object, mark: Mark | None = None) -> Read:
    path = chats(folder) / "session-1.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return read("gemini", path, *([mark] if mark else []))


def test_a_session_is_read_message_for_message(whole):
    [session] = whole.conversations

    assert whole.said(session) == [
        ("user", "Do as told. [[first]]"),
        ("assistant", "All was done."),
        ("user", "Do as told. [[second]]"),
        ("assistant", "Back."),
    ]
    conversation = whole.conversations[session]
    assert (conversation.cwd, conversation.model) == ("/work/repo", "gemini-2.5-pro")
    parents = [one.parent for one in whole.messages.values()]
    last_use = whole.used(session)[-1].id
    first, done, second, _ = (one.id for one in whole.messages.values())
    assert parents == ["", last_use, done, second]
    assert whole.used(session)[0].parent == first


def test_a_session_is_read_tool_for_tool(whole):
    [session] = whole.conversations
    a, b = "/work/repo/src/a.py", "/work/repo/b.py"
    assert [
        (one.name, one.command, one.exit_status, one.failed, one.reads)
        for one in whole.used(session)
    ] == [
        ("read_file", "", None, False, (a,)),
        ("read_file", "", None, True, ("/work/repo/none.py",)),
        ("run_shell_command", "cat b.py", 0, False, ()),
        ("run_shell_command", "echo no >&2; exit 3", 3, True, ()),
        ("replace", "", None, False, ()),
        ("write_file", "", None, False, ()),
        ("read_file", "", None, False, (b,)),
        ("glob", "", None, False, ()),
    ]
    uses = whole.used(session)
    assert uses[1].output == "File not found: /work/repo/none.py"
    assert uses[4].edits == (Edit(path=a, before="a_3 = 3", after="a_3 = 33"),)
    assert uses[5].edits == (Edit(path=b, before="b_1 = 1\nb_2 = 2\nb_3 = 3\n", after="b = 1\n"),)
    assert all(one.time_ms <= one.ended_ms for one in uses)


def test_a_rewind_goes_back_to_before_a_message(tmp_path):
    rows = [
        HEAD,
        message("1", "One"),
        message("2", "First", "gemini"),
        message("3", "Two"),
        message("4", "Second", "gemini"),
        {"$rewindTo": "3"},
        message("5", "Other"),
    ]
    found = of_rows(tmp_path, *rows)
    parents = {one.text: one.parent for one in found.messages.values()}
    assert parents == {"One": "", "First": "1", "Two": "2", "Second": "3", "Other": "2"}


def test_a_rewind_to_what_is_not_known_goes_back_to_the_start(tmp_path):
    found = of_rows(tmp_path, HEAD, message("1", "One"), {"$rewindTo": "?"}, message("2", "Two"))
    assert found.messages["s", "2"].parent == ""


def test_a_checkpoint_adds_the_summary_and_repeats_nothing(tmp_path):
    later = {**message("1", "One"), "timestamp": "2026-07-02T10:00:00Z"}
    summary = message("9", "<state_snapshot>Much.</state_snapshot>")
    found = of_rows(
        tmp_path, HEAD, message("1", "One"), {"$set": {"messages": [later, summary]}},
        {"$set": {"summary": "Doing one"}},
    )  # fmt: skip
    assert found.said("s") == [
        ("user", "One"),
        ("summary", "<state_snapshot>Much.</state_snapshot>"),
    ]
    assert found.messages["s", "1"].time_ms == 1782900001000
    assert found.conversations["s"].title == "Doing one"


@pytest.mark.parametrize(
    "text",
    [
        "/clear", "? help", "<session_context>\nThis is", "<hook_context>x", "", None,
        [{"functionResponse": {"id": "c", "response": {"output": "x"}}}],
    ],
)  # fmt: skip
def test_what_nobody_said_is_left_out(tmp_path, text):
    assert of_rows(tmp_path, HEAD, message("1", text)).messages == {}


def test_what_a_hook_put_before_a_prompt_is_not_part_of_it(tmp_path):
    found = of_rows(
        tmp_path,
        HEAD,
        message("1", "<hook_context>Of a hook.\n\nMore.</hook_context>\n\nFix it"),
        message("2", [{"text": "Go on"}, {"text": "<hook_context>x</hook_context>"}],
                displayContent=[{"text": "Go on"}]),
    )  # fmt: skip
    assert found.said("s") == [("user", "Fix it"), ("user", "Go on")]


def test_thoughts_and_remarks_of_the_program_are_left_out(tmp_path):
    found = of_rows(
        tmp_path,
        HEAD,
        message("1", [{"text": "Hm.", "thought": True}, {"text": "So."}], "gemini"),
        message("2", "Request cancelled.", "info"),
        message("3", "Went wrong.", "error"),
        message("4", [{"text": "@a.py\n--- content"}], displayContent=[{"text": "See @a.py"}]),
    )
    assert found.said("s") == [("assistant", "So."), ("user", "See @a.py")]


def test_a_sub_agent_is_a_conversation_of_its_own(tmp_path):
    folder = chats(tmp_path) / "parent"
    folder.mkdir()
    path = folder / "sub.jsonl"
    head = {**HEAD, "sessionId": "sub", "kind": "subagent", "directories": ["/w"]}
    path.write_text(json.dumps(head) + "\n" + json.dumps(message("1", "Look")) + "\n")

    assert [*reader_of("gemini").sources(place(tmp_path))] == [str(path)]
    [sub] = read("gemini", path).conversations.values()
    assert (sub.id, sub.parent, sub.is_sub_agent, sub.cwd) == ("sub", "parent", True, "/w")


def test_a_session_of_an_older_version_is_one_document(tmp_path):
    path = chats(tmp_path) / "session-2.json"
    call = {
        "id": "c", "name": "read_file", "args": {"file_path": "a"}, "status": "success",
        "result": [{"functionResponse": {"response": {"output": "x"}}}],
    }  # fmt: skip
    answer = message("2", "So.", "gemini", toolCalls=[call])
    path.write_text(json.dumps({**HEAD, "messages": [message("1", "Go"), answer]}))

    found = read("gemini", path)
    assert found.said("s") == [("user", "Go"), ("assistant", "So.")]
    [event] = found.events.values()
    assert (event.reads, event.output, event.parent) == (("/w/a",), "x", "2")
    assert read("gemini", path, found.marks[-1]).records() == found.records()

    path.write_text("[" * 100_000)
    assert [one.reason for one in read("gemini", path).unreadable] == ["JSON nested too deeply"]


@pytest.mark.parametrize("root", ["relative", "", "/" + "a" * 5000, "a\0b"])
def test_a_project_whose_folder_is_not_known_has_none(tmp_path, root):
    path = chats(tmp_path, root) / "session-1.jsonl"
    path.write_text(json.dumps(HEAD) + "\n")
    [conversation] = read("gemini", path).conversations.values()
    assert conversation.cwd in ("", root[:4096])


@pytest.mark.parametrize(
    ("output", "status", "failed"),
    [
        ("Output: a\nProcess Group PGID: 7", 0, False),
        ("Output: a\nExit Code: 2\nProcess Group PGID: 7", 2, True),
        ("Somebody's summary", None, None),
    ],
)
def test_how_a_command_ended(tmp_path, output, status, failed):
    response = {"functionResponse": {"response": {"output": output}}}
    call = {"id": "c", "name": "run_shell_command", "status": "success", "result": [response]}
    [event] = of_rows(tmp_path, HEAD, message("1", "", "gemini", toolCalls=[call])).events.values()
    assert (event.exit_status, event.failed) == (status, failed)


def test_a_session_is_reopened_by_its_id():
    assert reader_of("gemini").resume("s") == ("gemini", "--resume", "s")
