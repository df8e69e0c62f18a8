"""What Pi 1.5.2 wrote is read, message for message."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.agents import transcripts
from tests.agents.places import place
from tests.agents.transcripts import RECORDED, TRACE, folded, read, read_marked, said, uses
from triseek.agents.pi_transcripts import PiTranscripts
from triseek.model.conversation import Conversation, Edit, Mark, Message, ToolEvent, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

READER = PiTranscripts()
SESSION, FORK, NEW = sorted((RECORDED / "pi").glob("*.jsonl"))
MAIN = "01a21a5f-40f0-74cc-8b34-a592f799de8e"


def test_a_session():
    conversation, *records = folded(read(READER, SESSION))[MAIN]
    assert conversation == Conversation(
        id=MAIN, cwd="/work/repo", title="Fix the sum", model="scripted",
        started_ms=1_795_738_779_889,
    )  # fmt: skip
    summary = (
        "<summary>Some files were read. Nothing else is known.</summary>\n\n<read-files>\n"
        "/work/repo/gone.py\n</read-files>\n\n<modified-files>\n/work/repo/a.py\n"
        "/work/repo/notes.md\n</modified-files>"
    )
    assert said(records) == [
        ("user", "Do as told. [[p1]]"),
        ("read", "def add(a, b):\n    return a - b\n"),
        ("bash", f"{TRACE}\n\nCommand exited with code 1"),
        ("edit", "Successfully replaced 1 block(s) in /work/repo/a.py."),
        ("write", "Successfully wrote to /work/repo/notes.md"),
        ("bash", "fine\n"),
        ("read", "ENOENT: no such file or directory, access '/work/repo/gone.py'"),
        ("grep", "Tool grep not found"),
        ("assistant", "add() subtracted; fixed."),
        ("user", "Do as told. [[p2]]"),
        ("assistant", "Second answer."),
        ("bash", " M a.py\n?? __pycache__/\n?? notes.md\n"),
        ("summary", summary),
        ("user", "Do as told. [[p3]]"),
        ("assistant", "After the compaction."),
    ]


def test_uses_of_tools():
    events = uses(folded(read(READER, SESSION))[MAIN])
    first, failing, edit, write, passing, missing, unknown = list(events.values())[:7]
    assert first.reads == ("/work/repo/a.py",)
    assert (first.time_ms, first.ended_ms) == (1_795_738_779_983, 1_795_738_780_063)
    assert (failing.command, failing.exit_status, failing.failed) == ("python3 test_a.py", 1, True)
    assert failing.input == '{"command":"python3 test_a.py"}'
    assert edit.edits == (Edit(path="/work/repo/a.py", before="a - b", after="a + b"),)
    assert write.edits == (Edit(path="/work/repo/notes.md", after="# Notes\n"),)
    assert (passing.exit_status, passing.failed) == (0, False)
    assert (missing.failed, unknown.failed) == (True, True)
    typed = events["f8f3fdb8"]
    assert (typed.command, typed.exit_status) == ("git status --short", 0)


def test_each_record_names_the_one_before_it_on_its_branch():
    records = folded(read(READER, SESSION))[MAIN][1:]
    ids = [one.id for one in records if isinstance(one, (Message, ToolEvent))]
    parents = [one.parent for one in records if isinstance(one, (Message, ToolEvent))]
    assert parents == ["", *ids[:-1]]


def test_going_back_starts_a_branch(tmp_path: Path):
    lines = transcripts.rows(SESSION)
    second = next(line for line in lines if line.get("id") == "34d54916")
    other = {**second, "id": "bbbbbbbb"}
    path = transcripts.write_rows(tmp_path / "s.jsonl", [*lines, other])
    records, mark = read_marked(READER, transcripts.write_rows(tmp_path / "t.jsonl", lines))
    del records
    (message,) = [one for one in read(READER, path, mark) if isinstance(one, Message)]
    assert (message.id, message.parent) == ("bbbbbbbb", "a4428fc1")


def test_a_fork_names_its_parent_and_repeats_ids():
    (records,) = folded(read(READER, FORK)).values()
    assert isinstance(records[0], Conversation)
    assert records[0].parent == MAIN
    assert not records[0].is_sub_agent
    assert said(records)[-2:] == [("user", "Do as told. [[p4]]"), ("assistant", "In the fork.")]
    before = {one.id for one in read(READER, SESSION) if isinstance(one, Message)}
    assert len([one for one in records if isinstance(one, Message) and one.id in before]) == 2


@pytest.mark.parametrize("path", [SESSION, FORK, NEW])
def test_line_by_line_is_the_same_as_at_once(path: Path, tmp_path: Path):
    lines = path.read_bytes().splitlines(keepends=True)
    copy = tmp_path / path.name
    records, mark = [], Mark()
    for number in range(len(lines)):
        torn = lines[number + 1][:20] if number + 1 < len(lines) else b""
        copy.write_bytes(b"".join(lines[: number + 1]) + torn)
        new, mark = read_marked(READER, copy, Mark(offset=mark.offset, state=dict(mark.state)))
        records += new
    assert folded(records) == folded(read(READER, path))


def test_hostile_content(tmp_path: Path):
    lines = transcripts.rows(SESSION)
    for seed in range(150):
        path = transcripts.write_rows(tmp_path / "s.jsonl", transcripts.spoiled(lines, seed))
        transcripts.check(read(READER, path))


def test_damaged_lines_are_named_and_the_rest_is_read(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(SESSION.read_bytes().replace(b'"Second answer."', b'"Second answer.', 1))
    records = read(READER, path)
    (bad,) = [one for one in records if isinstance(one, Unreadable)]
    assert bad.reason
    assert ("user", "Do as told. [[p3]]") in said(records)


def test_sources(tmp_path: Path):
    here = place(tmp_path, PI_CODING_AGENT_SESSION_DIR="/other").here
    here = replace(here, environ={"PI_CODING_AGENT_SESSION_DIR": str(tmp_path / "more")})
    folder = tmp_path / "home/.pi/agent/sessions/--work--"
    for path in (folder / "a.jsonl", tmp_path / "more/b.jsonl"):
        path.parent.mkdir(parents=True)
        path.touch()
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.jsonl").symlink_to(folder / "a.jsonl")
    assert list(READER.sources(here)) == [str(folder / "a.jsonl"), str(tmp_path / "more/b.jsonl")]
    assert READER.resume(MAIN) == ("pi", "--session", MAIN)
