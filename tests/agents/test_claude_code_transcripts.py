"""What Claude Code 2.1.330 wrote is read message for message, and rows in its form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.agents.transcript_reads import FIXTURES, Read, place, read, reader_of
from triseek.model.conversation import Edit

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE = "claude-code"
HOME = FIXTURES / CLAUDE


@pytest.fixture(scope="module")
def whole() -> Read:
    """All recorded sessions."""
    found = Read()
    for path in reader_of(CLAUDE).sources(place(HOME, CLAUDE_CONFIG_DIR=str(HOME))):
        again = read(CLAUDE, path)
        found.add([*again.conversations.values(), *again.messages.values(), *again.events.values()])
    return found


@pytest.fixture
def session(whole):
    """The first session's id."""
    return next(
        one.conversation for one in whole.messages.values() if one.text == "Do as told. [[first]]"
    )


def row(uuid: str, parent: str = "", kind: str = "user", **more: object) -> dict[str, object]:
    named = {"uuid": uuid, "parentUuid": parent or None, "type": kind, "sessionId": "s"}
    return {**named, "cwd": "/w", "timestamp": "2026-07-01T10:00:00Z", **more}


def prompt(uuid: str, text: object, parent: str = "", **more: object) -> dict[str, object]:
    return row(uuid, parent, message={"role": "user", "content": text}, **more)


def part(uuid: str, block: object, parent: str = "", name: str = "m") -> dict[str, object]:
    message = {"id": name, "role": "assistant", "model": "opus", "content": [block]}
    return row(uuid, parent, "assistant", message=message)


def result(uuid: str, content: object, told: object = None, **block: object) -> dict[str, object]:
    one = {"type": "tool_result", "tool_use_id": "t", "content": content, **block}
    return {**prompt(uuid, [one]), "toolUseResult": told}


def said(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def of_rows(folder: Path, *rows: object) -> Read:
    path = folder / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return read(CLAUDE, path)


def test_a_session_is_read_message_for_message(whole, session):
    texts = whole.said(session)

    assert [role for role, _ in texts][2] == "summary"
    del texts[2]
    assert texts == [
        ("user", "Do as told. [[first]]"),
        ("assistant", "All was done."),
        ("user", "Do as told. [[second]]"),
        ("assistant", "Again."),
        ("user", "/tell [[third]]"),
        ("assistant", "Done."),
        ("user", "Do as told. [[branch]]"),
        ("assistant", "Another way."),
    ]
    conversation = whole.conversations[session]
    assert (conversation.cwd, conversation.branch) == ("/work/repo", "main")
    assert (conversation.model, conversation.parent) == ("claude-scripted", "")


def test_a_session_is_read_tool_for_tool(whole, session):
    uses = [
        (one.name, one.command, one.exit_status, one.failed, one.reads)
        for one in whole.used(session)
    ]
    a, b = "/work/repo/src/a.py", "/work/repo/b.py"
    assert uses == [
        ("Read", "", None, False, (a,)),
        ("Read", "", None, True, ("/work/repo/none.py",)),
        ("Bash", "cat b.py", 0, False, ()),
        ("Bash", "echo no >&2; exit 3", 3, True, ()),
        ("Bash", "grep nothing b.py", None, False, ()),
        ("Edit", "", None, False, ()),
        ("Write", "", None, False, ()),
        ("Read", "", None, False, (b,)),
        ("Bash", "true", 0, False, ()),
        ("Agent", "", None, False, ()),
        ("Read", "", None, False, (b,)),
    ]
    events = whole.used(session)
    assert events[2].output == "b_1 = 1\nb_2 = 2\nb_3 = 3"
    assert events[3].output == "Exit code 3\nno"
    assert events[5].edits == (Edit(path=a, before="a_3 = 3", after="a_3 = 33"),)
    assert events[6].edits == (Edit(path="/work/repo/c.py", after="c = 1\n"),)
    assert all(one.time_ms < one.ended_ms for one in events)
    assert events[1].input == '{"file_path":"/work/repo/none.py"}'


def test_parents_lead_along_the_branch(whole, session):
    by_text = {one.text: one for one in whole.messages.values() if one.conversation == session}
    again = by_text["Again."].id
    assert by_text["/tell [[third]]"].parent == again
    assert by_text["Do as told. [[branch]]"].parent == again
    [first, second, *_] = whole.used(session)
    assert first.parent == by_text["Do as told. [[first]]"].id
    assert second.parent == first.id


def test_a_sub_agent_is_a_conversation_of_its_own(whole, session):
    [sub] = [one for one in whole.conversations.values() if one.is_sub_agent]

    assert (sub.parent, sub.title) == (session, "Look")
    assert whole.said(sub.id) == [("user", "Look. [[sub]]"), ("assistant", "Seen.")]
    assert [one.reads for one in whole.used(sub.id)] == [("/work/repo/b.py",)]


def test_a_fork_is_a_conversation_that_repeats_what_it_keeps(whole, session):
    [fork] = [
        one.conversation for one in whole.messages.values() if one.text == "Do as told. [[fork]]"
    ]
    assert fork != session
    assert whole.said(fork)[-4:] == [
        ("user", "Do as told. [[branch]]"),
        ("assistant", "Another way."),
        ("user", "Do as told. [[fork]]"),
        ("assistant", "Forked."),
    ]


def test_the_parts_of_an_answer_are_one_message(tmp_path):
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    found = of_rows(
        tmp_path,
        prompt("1", "Go"),
        part("2", {"type": "thinking", "thinking": "Hm."}, "1"),
        part("3", said("First."), "2"),
        part("4", use, "3"),
        result("5", "a"),
        part("6", said("Then."), "5"),
        part("7", said("Other."), "6", "n"),
    )
    assert found.said("s") == [
        ("user", "Go"),
        ("assistant", "First.\nThen."),
        ("assistant", "Other."),
    ]
    assert found.events["s", "t"].parent == "m"


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
        "<local-command-stdout>Compacted</local-command-stdout>",
        "<local-command-caveat>The command below",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
        "<system-reminder>\nNo.\n</system-reminder>",
        "<task-notification>done</task-notification>",
        "[Request interrupted by user for tool use]",
        "",
        [said("<system-reminder>No.</system-reminder>")],
        [{"type": "image", "source": {}}],
        {"type": "text", "text": "no list"},
    ],
)
def test_what_nobody_said_is_left_out(tmp_path, text):
    assert of_rows(tmp_path, prompt("1", text)).messages == {}


def test_what_was_said_is_kept_without_reminders(tmp_path):
    found = of_rows(
        tmp_path,
        prompt("1", "Why <b>this</b>?\n<system-reminder>No.</system-reminder>"),
        prompt("0", "<ide_opened_file>The user opened a.py.</ide_opened_file>\nAnd this?"),
        prompt("2", [said("<system-reminder>No.</system-reminder>"), said("One."), said("Two.")]),
        prompt("3", "Meta.", isMeta=True),
        row("4", kind="attachment", attachment={"type": "queued_command", "prompt": "Wait."}),
        row(
            "5", kind="attachment",
            attachment={
                "type": "queued_command", "prompt": "No.", "commandMode": "task-notification",
            },
        ),
        row("6", kind="assistant", isApiErrorMessage=True, message={"content": [said("Down.")]}),
    )  # fmt: skip
    assert [text for _, text in found.said("s")] == [
        "Why <b>this</b>?", "And this?", "One.\nTwo.", "Wait.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "told", "is_error", "status", "failed"),
    [
        ("a", {"stdout": "a", "stderr": ""}, False, 0, False),
        ("", {"stdout": "", "returnCodeInterpretation": "No matches"}, False, None, False),
        ("Exit code 127\nno", "Error: Exit code 127\nno", True, 127, True),
        ("a", {"stdout": "a", "interrupted": True}, False, None, None),
        ("Running", {"stdout": "", "backgroundTaskId": "b1"}, False, None, None),
        ([said("one"), said("two")], None, False, None, False),
        ("The user refused", "Error: The user refused", True, None, True),
    ],
)
def test_how_a_use_ended(tmp_path, content, told, is_error, status, failed):
    found = of_rows(tmp_path, result("1", content, told, is_error=is_error))

    [event] = found.events.values()
    assert (event.exit_status, event.failed) == (status, failed)


def test_a_file_that_is_overwritten_has_the_text_before(tmp_path):
    told = {"type": "update", "filePath": "/w/a", "content": "new", "originalFile": "old"}
    [event] = of_rows(tmp_path, result("1", "Updated", told)).events.values()
    assert event.edits == (Edit(path="/w/a", before="old", after="new"),)


def test_several_edits_of_a_file(tmp_path):
    changes = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]
    values = {"file_path": "x.py", "edits": changes}
    use = {"type": "tool_use", "id": "t", "name": "MultiEdit", "input": values}
    [event] = of_rows(tmp_path, part("1", use)).events.values()
    assert event.edits == (
        Edit(path="/w/x.py", before="a", after="b"),
        Edit(path="/w/x.py", before="c"),
    )


def test_titles_and_forks_are_named(tmp_path):
    origin = {"sessionId": "other", "messageUuid": "0"}
    found = of_rows(
        tmp_path,
        prompt("1", "Go", forkedFrom=origin),
        {"type": "ai-title", "aiTitle": "Going", "sessionId": "s"},
        {"type": "custom-title", "customTitle": "Gone", "sessionId": "s"},
    )
    assert found.conversations["s"].title == "Gone"
    assert found.conversations["s"].parent == "other"


def test_a_session_is_reopened_by_its_id():
    assert reader_of(CLAUDE).resume("s") == ("claude", "--resume", "s")
