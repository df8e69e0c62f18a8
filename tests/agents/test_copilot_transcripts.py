"""What Copilot CLI 1.0.102 wrote is read, event for event."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.agents import transcripts
from tests.agents.places import place
from tests.agents.transcripts import RECORDED, TRACE, folded, read, read_marked, said, uses
from triseek.agents.copilot import CopilotTranscripts
from triseek.model.conversation import Conversation, Edit, Mark

if TYPE_CHECKING:
    from pathlib import Path

READER = CopilotTranscripts()
EVENTS = RECORDED / "copilot" / "events.jsonl"
MAIN, SUB = "143a32e8-fd73-4c7f-ab32-901046a460e3", "cde95850-0754-478b-abc0-cc8822712f5e"


def test_a_session():
    conversation, *records = folded(read(READER, EVENTS))[MAIN]
    assert conversation == Conversation(
        id=MAIN, cwd="/work/repo", branch="main", title="Do as told. [[p1]]", model="scripted",
        started_ms=1_795_738_940_334,
    )  # fmt: skip
    assert said(records) == [
        ("user", "Do as told. [[p1]]"),
        ("view", "def add(a, b):\n    return a - b\n"),
        ("bash", f"{TRACE}<shellId: 0 completed with exit code 1>"),
        ("edit", "File /work/repo/a.py updated with changes."),
        ("create", "Created file /work/repo/notes.md with 8 characters"),
        ("bash", "fine\n<shellId: 1 completed with exit code 0>"),
        ("view", "Path does not exist"),
        ("task", "It adds now."),
        ("assistant", "add() subtracted; fixed."),
        ("user", "Do as told. [[p2]]"),
        ("assistant", "Second answer."),
    ]


def test_a_sub_agent():
    conversation, *records = folded(read(READER, EVENTS))[SUB]
    assert conversation == Conversation(
        id=SUB, parent=MAIN, is_sub_agent=True, cwd="/work/repo", title="look", model="scripted",
        started_ms=1_795_738_941_018,
    )  # fmt: skip
    assert said(records) == [
        ("user", "Do as told. [[sub]]"),
        ("view", "def add(a, b):\n    return a + b\n"),
        ("assistant", "It adds now."),
    ]


def test_uses_of_tools():
    first, failing, edit, create, passing, missing, _ = uses(
        folded(read(READER, EVENTS))[MAIN]
    ).values()
    assert first.reads == ("/work/repo/a.py",)
    assert (first.time_ms, first.ended_ms) == (1_795_738_940_570, 1_795_738_940_573)
    assert (failing.command, failing.exit_status, failing.failed) == ("python3 test_a.py", 1, True)
    assert edit.edits == (Edit(path="/work/repo/a.py", before="a - b", after="a + b"),)
    assert create.edits == (Edit(path="/work/repo/notes.md", after="# Notes\n"),)
    assert (passing.exit_status, passing.failed) == (0, False)
    assert missing.failed is True


def test_an_exit_status_in_the_output(tmp_path: Path):
    lines = transcripts.rows(EVENTS)
    for line in lines:
        line["data"].pop("shellExecution", None)  # older versions do not have it
    path = transcripts.write_rows(tmp_path / "events.jsonl", lines)
    events = uses(folded(read(READER, path))[MAIN])
    assert [events[f"toolu_00000{one}00"].exit_status for one in (2, 5)] == [1, 0]


def test_line_by_line_is_the_same_as_at_once(tmp_path: Path):
    lines = EVENTS.read_bytes().splitlines(keepends=True)
    copy = tmp_path / "events.jsonl"
    shutil.copy(EVENTS.parent / "workspace.yaml", tmp_path)
    records, mark = [], Mark()
    for number in range(len(lines)):
        torn = lines[number + 1][:20] if number + 1 < len(lines) else b""
        copy.write_bytes(b"".join(lines[: number + 1]) + torn)
        new, mark = read_marked(READER, copy, mark)
        records += new
    assert folded(records) == folded(read(READER, EVENTS))


def test_a_compaction_and_what_is_injected(tmp_path: Path):
    lines = transcripts.rows(EVENTS)
    said_by = {"type": "user.message", "id": "x1", "data": {"content": "T", "source": "skill-a"}}
    data = {"success": True, "summaryContent": "What was done."}
    compaction = {"type": "session.compaction_complete", "id": "x2", "data": data}
    path = transcripts.write_rows(tmp_path / "events.jsonl", [*lines, said_by, compaction])
    assert said(folded(read(READER, path))[MAIN])[-2:] == [
        ("assistant", "Second answer."), ("summary", "What was done."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("name: Plain", "Plain"), ('name: "Say \\"hi\\""', 'Say "hi"'), ("name: 'It''s'", "It's"),
        ("name: |-", ""), ('name: "torn', ""), ("names: No", ""), ("", ""),
    ],
)  # fmt: skip
def test_titles(tmp_path: Path, line: str, title: str):
    shutil.copy(EVENTS, tmp_path)
    (tmp_path / "workspace.yaml").write_text(f"id: x\n{line}\n")
    conversation = folded(read(READER, tmp_path / "events.jsonl"))[MAIN][0]
    assert isinstance(conversation, Conversation)
    assert conversation.title == title


def test_hostile_content(tmp_path: Path):
    lines = transcripts.rows(EVENTS)
    for seed in range(150):
        spoiled = transcripts.spoiled(lines, seed, places=12)
        path = transcripts.write_rows(tmp_path / "events.jsonl", spoiled)
        transcripts.check(read(READER, path))


def test_sources(tmp_path: Path):
    folder = tmp_path / "home/.copilot/session-state"
    for path in (folder / MAIN / "events.jsonl", folder / MAIN / "checkpoints/other.jsonl"):
        path.parent.mkdir(parents=True)
        shutil.copy(EVENTS, path)
    assert list(READER.sources(place(tmp_path / "x").here)) == []
    here = place(tmp_path / "y", COPILOT_HOME=str(tmp_path / "home/.copilot")).here
    assert list(READER.sources(here)) == [str(folder / MAIN / "events.jsonl")]
    assert READER.resume(MAIN) == ("copilot", f"--resume={MAIN}")
