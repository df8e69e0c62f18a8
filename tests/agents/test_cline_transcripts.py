"""What Cline 3.0.65 wrote is read, message for message; and tasks of its extension."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import transcripts
from tests.agents.places import place
from tests.agents.transcripts import RECORDED, TRACE, folded, read, said, uses
from triseek.agents.cline_transcripts import ClineTranscripts
from triseek.model.conversation import Conversation, Edit

if TYPE_CHECKING:
    from pathlib import Path

READER = ClineTranscripts()
SESSION = "1795738892010_wkx3v"
AGENT = "agent_1795738893861_r922sv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The recorded session, where Cline keeps it."""
    sessions = tmp_path / "home/.cline/data/sessions" / SESSION
    shutil.copytree(RECORDED / "cline", sessions)
    return sessions


def test_a_session(folder: Path):
    conversation, *records = folded(read(READER, folder / f"{SESSION}.messages.json"))[SESSION]
    assert conversation == Conversation(
        id=SESSION, cwd="/work/repo", branch="main", title="Do as told. [[p1]]", model="gpt-5",
        started_ms=1_795_738_892_019,
    )  # fmt: skip
    patched = "Successfully applied patch to the following files:\\na.py\\nnotes.md"
    agent = (
        '"iterations":2,"finishReason":"completed","usage":{"inputTokens":200,"outputTokens":20}'
    )
    missing = "ENOENT: no such file or directory, statx '/work/repo/gone.py'"
    assert said(records) == [
        ("user", "Do as told. [[p1]]"),
        ("read_files", f"1 | def add(a, b):\n2 |     return a - b\nError reading file: {missing}"),
        ("run_commands", f"[Command exited with code 1]\n\n[stderr]\n{TRACE}"),
        ("apply_patch", f'{{"query":"apply_patch","result":"{patched}","success":true}}'),
        ("run_commands", "fine\n"),
        ("spawn_agent", f'{{"text":"It adds now.",{agent}}}'),
        ("assistant", "add() subtracted; fixed."),
    ]


def test_uses_of_tools(folder: Path):
    files, failing, patch, passing, _ = uses(
        folded(read(READER, folder / f"{SESSION}.messages.json"))[SESSION]
    ).values()
    assert files.reads == ("/work/repo/a.py", "/work/repo/gone.py")
    assert files.failed is True
    assert (failing.command, failing.exit_status, failing.failed) == ("python3 test_a.py", 1, True)
    before, after = "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n"
    assert patch.edits == (
        Edit(path="/work/repo/a.py", before=before, after=after),
        Edit(path="/work/repo/notes.md", after="# Notes\n"),
    )
    assert passing.command == "python3 test_a.py\necho fine"
    assert (passing.exit_status, passing.failed) == (0, False)
    assert (passing.time_ms, passing.ended_ms) == (1_795_738_893_672, 1_795_738_893_761)


def test_a_sub_agent(folder: Path):
    (records,) = folded(read(READER, folder / f"{AGENT}.messages.json")).values()
    assert records[0] == Conversation(
        id=f"{SESSION}__{AGENT}", parent=SESSION, is_sub_agent=True, cwd="/work/repo", model="gpt-5"
    )
    assert said(records[1:]) == [
        ("user", "Do as told. [[sub]]"),
        ("read_files", "1 | def add(a, b):\n2 |     return a + b"),
        ("assistant", "It adds now."),
    ]


def test_an_error_that_is_only_displayed_is_left_out(folder: Path):
    path = folder / f"{SESSION}.messages.json"
    whole = json.loads(path.read_text())
    error = {"id": "e", "role": "assistant", "content": [{"type": "text", "text": "Empty"}],
             "metadata": {"displayOnly": True, "displayRole": "error"}}  # fmt: skip
    path.write_text(json.dumps({**whole, "messages": [*whole["messages"], error]}))
    assert said(folded(read(READER, path))[SESSION])[-1][1] == "add() subtracted; fixed."


def test_a_task_of_the_extension(tmp_path: Path):
    details = "<environment_details>\n# Open files\n</environment_details>"
    path = _task(
        tmp_path,
        [
            _says("user", f"<task>\nFix the sum\n</task>\n\n{details}", details),
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "execute_command",
                 "input": {"command": "make"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "done"},
                {"type": "text", "text": details},
            ]},
            _says("user", "[read_file for 'a.py'] Result:\ndef add"),
            _says("user", "<feedback>\nMore</feedback>"),
        ],
    )  # fmt: skip
    state = tmp_path / "state/taskHistory.json"
    state.parent.mkdir()
    state.write_text(
        json.dumps([{"id": "1750000000000", "task": "Fix", "cwdOnTaskInitialization": "/w"}])
    )
    (records,) = folded(read(READER, path)).values()
    assert records[0] == Conversation(
        id="1750000000000", cwd="/w", title="Fix", started_ms=1_750_000_000_000
    )
    assert said(records) == [
        ("user", "Fix the sum"), ("assistant", "I look."), ("execute_command", "done"),
        ("user", "More"),
    ]  # fmt: skip
    assert uses(records)["t1"].command == "make"
    assert READER.resume("1750000000000") == ()


def test_reading_again_yields_the_same(folder: Path):
    path = folder / f"{SESSION}.messages.json"
    assert read(READER, path) == read(READER, path)


@pytest.mark.parametrize("content", ["", "[", "[]", "7", '{"messages":{}}', "[" * 100_000])
def test_what_is_no_conversation(folder: Path, content: str):
    path = folder / f"{SESSION}.messages.json"
    path.write_text(content)
    transcripts.check(read(READER, path))
    assert not said(read(READER, path))


def test_hostile_content(folder: Path, tmp_path: Path):
    names = (f"{SESSION}.messages.json", f"{SESSION}.json")
    whole = {name: json.loads((folder / name).read_text()) for name in names}
    for seed in range(150):
        for name in names:
            (folder / name).write_text(json.dumps(transcripts.spoiled(whole[name], seed, 8)))
        transcripts.check(read(READER, folder / names[0]))
        messages = transcripts.spoiled(whole[names[0]], seed, 8).get("messages")
        transcripts.check(read(READER, _task(tmp_path, messages)))


def test_sources(folder: Path, tmp_path: Path):
    here = place(tmp_path / "x", CLINE_DIR=str(tmp_path / "home/.cline")).here
    task = tmp_path / "x/home/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1"
    task.mkdir(parents=True)
    for name in ("api_conversation_history.json", "ui_messages.json"):
        (task / name).touch()
    assert list(READER.sources(here)) == [
        str(folder / f"{SESSION}.messages.json"),
        str(folder / f"{AGENT}.messages.json"),
        str(task / "api_conversation_history.json"),
    ]
    assert READER.resume(SESSION) == ("cline", "--id", SESSION)


def _task(folder: Path, messages: Any) -> Path:
    path = folder / "tasks/1750000000000/api_conversation_history.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(messages))
    return path


def _says(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts]}
