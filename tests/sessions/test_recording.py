"""What is done where a session is open becomes an entry of its log, and nothing else does."""

from __future__ import annotations

import json
import os
import time

import pytest

from tests.app.worked import FILES, Worked, sha
from triseek.sessions import recording
from triseek.sessions.recording import Action


@pytest.fixture
def worked(tmp_path):
    return Worked(tmp_path)


@pytest.fixture
def opened(worked):
    worked.ask("session_open", goal="mend a", session_id="mine")
    return worked


def only(worked):
    [(kind, payload)] = worked.entries("mine")
    return kind, payload


def test_where_no_session_is_open_nothing_is_kept(worked):
    worked.read("src/a.py")
    worked.ask("session_open", session_id="mine")
    worked.ask("session_close", session_id="mine", status="abandoned")
    worked.read("src/a.py")
    assert worked.ask("session_note", notes=[{"kind": "x", "payload": {}}]) == {"recorded": 0}
    assert worked.entries("mine") == []


def test_a_hooks_read_has_its_path_below_the_root_its_hash_and_its_lines(opened):
    opened.read("src/a.py", offset=3, limit=5)
    kind, payload = only(opened)
    assert kind == "read"
    call = payload.pop("call")
    assert call
    assert payload == {
        "harness": "opencode", "path": "src/a.py", "sha": sha(FILES["src/a.py"]),
        "line_start": 3, "line_end": 7, "conversation": "session/s/",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        ({"lines": [1, None]}, None),
        ({"lines": [1, 40]}, None),
        ({"lines": [1, 4_000]}, None),
        ({"lines": [11, None]}, (11, 40)),
        ({"lines": [11, 4_000]}, (11, 40)),
        ({"lines": [2, 4]}, (2, 4)),
        ({"tail": 10}, (31, 40)),
        ({"tail": 4_000}, None),
        ({"lines": [90, 99]}, None),
        ({"lines": ["x", 3]}, None),
        ({"line_start": 5, "line_end": 6}, (5, 6)),
        ({}, None),
    ],
)
def test_lines_are_told_unless_they_are_all(opened, told, lines):
    opened.act("read", path="src/a.py", **told)
    _, payload = only(opened)
    found = payload.get("line_start"), payload.get("line_end")
    assert found == (lines or (None, None))


def test_an_edit_has_the_hash_of_what_was_written(opened):
    (opened.path / "src/b.py").write_text("new\n")
    path = os.path.join(opened.root, "src/b.py")
    opened.tool("edit", {"filePath": path, "oldString": "a", "newString": "b"}, "done")
    kind, payload = only(opened)
    assert (kind, payload["path"], payload["sha"]) == ("edit", "src/b.py", sha("new\n"))


def test_of_a_file_outside_only_that_there_was_one_is_kept(opened, tmp_path):
    (tmp_path / "secret").write_text("x")
    (opened.path / "link").symlink_to(tmp_path / "secret")
    opened.act("read", path=str(tmp_path / "secret"))
    opened.act("read", path="../secret")
    opened.act("read", path="a\0b")
    assert [payload for _, payload in opened.entries("mine")] == [{"outside": True}] * 3
    assert str(tmp_path / "secret") not in str(opened.entries("mine"))


def test_a_repository_reached_by_a_link_is_the_same(opened, tmp_path):
    (tmp_path / "other").symlink_to(opened.path)
    opened.act("read", path=str(tmp_path / "other" / "src" / "b.py"))
    assert only(opened)[1]["path"] == "src/b.py"


def test_a_file_that_is_gone_has_no_hash(opened):
    opened.act("edit", path="never.py")
    assert only(opened)[1] == {"path": "never.py", "sha": ""}


def test_a_prompt_and_a_compaction_are_entries(opened):
    opened.hook("UserPromptSubmit", prompt="go on")
    opened.hook("PreCompact", trigger="auto")
    kinds = [(kind, payload.get("prompt")) for kind, payload in opened.entries("mine")]
    assert kinds == [("prompt", "go on"), ("compact", None)]
    opened.keeping.close()


@pytest.mark.parametrize(
    ("output", "count"), [("", 0), ("No matches found.", 0), ("src/a.py:1: x", None)]
)
def test_a_search_that_shows_nothing_has_found_nothing(opened, output, count):
    opened.tool("grep", {"pattern": "needle"}, output)
    kind, payload = only(opened)
    assert (kind, payload["query"], payload.get("files_with_matches")) == (
        "search",
        "needle",
        count,
    )


def ran(worked, command, *, status=0, **more):
    worked.hook(
        "PostToolUse", tool_name="bash", tool_input={"command": command}, tool_response="x",
        tool_use_id=f"c{time.monotonic_ns()}", exit_status=status, **more,
    )  # fmt: skip


def test_a_command_is_an_entry_with_its_exit_status(opened):
    ran(opened, "pytest -q", status=1)
    kind, payload = only(opened)
    assert kind == "command"
    assert payload.pop("call")
    assert payload == {
        "harness": "opencode", "command": "pytest -q", "exit_status": 1, "failed": True,
        "conversation": "session/s/",
    }  # fmt: skip


def test_a_command_has_its_folder_below_the_root(opened):
    ran(opened, "make", cwd=os.path.join(opened.root, "src"))
    assert only(opened)[1]["folder"] == "src"


def test_a_long_command_is_cut_and_a_secret_in_it_is_removed(opened):
    ran(opened, "curl -H 'Authorization: Bearer ghp_" + "a1B2" * 9 + "' x; " + "echo " * 900)
    command = only(opened)[1]["command"]
    assert "a1B2" not in command
    assert len(command) <= 1_000


def test_a_command_that_only_reads_or_searches_is_recorded_as_that(opened):
    ran(opened, "cat src/a.py")
    ran(opened, "grep -rn needle src", status=1)
    assert [kind for kind, _ in opened.entries("mine")] == ["read", "search"]


def test_how_a_command_ended_that_its_hook_does_not_say_is_unknown(opened):
    ran(opened, "make", status=None)
    payload = only(opened)[1]
    assert "exit_status" not in payload
    assert "failed" not in payload


def test_an_exit_status_that_only_the_agents_record_has_follows_its_command(opened, tmp_path):
    transcript = tmp_path / "rollout.jsonl"
    transcript.write_text("")
    told = {"session_id": "s", "cwd": opened.root, "transcript_path": str(transcript)}

    def hook(event, **more):
        payload = json.dumps({"hook_event_name": event, "turn_id": "t", **told, **more})
        opened.hook_handler.hook(payload.encode(), "", "codex", "/")

    use = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "call_1"}
    hook("PostToolUse", tool_response="no\n", **use)
    output = "Chunk ID: 1\nWall time: 1 s\nProcess exited with code 2\nOutput:\nno"
    item = {"type": "function_call_output", "call_id": "call_1", "output": output}
    transcript.write_text(json.dumps({"type": "response_item", "payload": item}) + "\n")
    hook("UserPromptSubmit", prompt="And now?")
    hook("UserPromptSubmit", prompt="And then?")
    kinds = [kind for kind, _ in opened.entries("mine")]
    assert kinds == ["command", "command_status", "prompt", "prompt"]
    ended = opened.entries("mine")[1][1]
    assert (ended["call"], ended["exit_status"], ended["failed"]) == ("call_1", 2, True)


def test_our_own_tools_are_told_of_by_their_server_and_not_twice(opened):
    opened.tool("triseek_search_content", {"query": "needle"}, "{}")
    assert opened.entries("mine") == []
    note = {"kind": "search", "payload": {"tool": "search_content", "arguments": {"query": "x"}}}
    assert opened.ask("session_note", notes=[note, note]) == {"recorded": 2}
    assert len(opened.entries("mine")) == 2


def test_paths_of_a_server_on_a_folder_below_count_from_the_repository(opened):
    payload = {"tool": "search_content", "result_paths": ["a.py"], "path": "b.py"}
    notes = [{"kind": kind, "payload": payload} for kind in ("search", "memo_check")]
    opened.ask("session_note", target_root=os.path.join(opened.root, "src"), notes=notes)
    [(_, search), (_, check)] = opened.entries("mine")
    assert search["result_paths"] == ["src/a.py"]
    assert (check["path"], check["sha"]) == ("src/b.py", sha(FILES["src/b.py"]))


def test_a_note_goes_to_the_session_it_names_if_that_is_open_there(opened):
    opened.ask("session_open", session_id="other")
    note = [{"kind": "search", "payload": {}}]
    opened.ask("session_note", session_id="mine", notes=note)
    opened.ask("session_note", notes=note)
    opened.ask("session_note", session_id="never", notes=note)
    assert len(opened.entries("mine")) == 1
    assert len(opened.entries("other")) == 2
    opened.ask("session_close", session_id="mine", status="resolved")
    opened.ask("session_note", session_id="mine", notes=note)
    assert len(opened.entries("mine")) == 1


class TestByItself:
    """Nobody knows beforehand when work has to be handed over."""

    def test_a_prompt_begins_a_session_where_none_is_open(self, worked):
        worked.hook("UserPromptSubmit", prompt="\n  Mend the parser\nplease")
        worked.read("src/a.py")
        [session] = worked.ask("session_list")["sessions"]
        assert (session["goal"], session["status"]) == ("Mend the parser", "open")
        assert session["by_itself"] is True
        kinds = [kind for kind, _ in worked.entries(session["session_id"])]
        assert kinds == ["prompt", "read"]

    def test_where_one_is_open_it_does_not(self, opened):
        opened.hook("UserPromptSubmit", prompt="Mend the parser")
        [session] = opened.ask("session_list")["sessions"]
        assert session["session_id"] == "mine"
        assert "by_itself" not in session

    @pytest.mark.parametrize("prompt", ["", "/clear", "<system-reminder>", "!ls"])
    def test_what_is_said_to_the_agents_program_does_not(self, worked, prompt):
        worked.hook("UserPromptSubmit", prompt=prompt)
        assert worked.ask("session_list")["sessions"] == []

    def test_outside_of_a_repository_it_does_not(self, worked, tmp_path):
        worked.hook("UserPromptSubmit", prompt="Tidy my home", cwd=str(tmp_path))
        assert worked.ask("session_list", target_root=str(tmp_path))["sessions"] == []

    def test_who_opens_a_session_goes_on_with_that_one_and_keeps_it(self, worked):
        worked.hook("UserPromptSubmit", prompt="Mend the parser")
        [begun] = worked.ask("session_list")["sessions"]
        opened = worked.ask("session_open", goal="Mend the parser's errors")["session"]
        assert opened["session_id"] == begun["session_id"]
        assert opened["goal"] == "Mend the parser's errors"
        assert "by_itself" not in opened
        other = worked.ask("session_open", goal="Another")["session"]
        assert other["session_id"] != begun["session_id"]

    def test_after_a_night_a_prompt_begins_another(self, worked):
        worked.hook("UserPromptSubmit", prompt="Mend the parser")
        [first] = worked.ask("session_list")["sessions"]
        later = Action(
            at_s=time.time() + recording.IDLE_S + 60, kind="prompt", conversation=None,
            payload={"prompt": "Go on with the lexer"},
        )  # fmt: skip
        worked.keeping.recorder.record(worked.root, "", later)
        sessions = worked.ask("session_list")["sessions"]
        assert {one["goal"]: one["status"] for one in sessions} == {
            "Mend the parser": "abandoned", "Go on with the lexer": "open",
        }  # fmt: skip
        assert first["session_id"] in [one["session_id"] for one in sessions]

    def test_it_can_be_switched_off(self, tmp_path):
        worked = Worked(tmp_path, auto_open=False)
        worked.hook("UserPromptSubmit", prompt="Mend the parser")
        assert worked.ask("session_list")["sessions"] == []

    def test_unused_ones_are_deleted_and_those_asked_for_are_not(self, worked):
        worked.hook("UserPromptSubmit", prompt="Mend the parser")
        [begun] = worked.ask("session_list")["sessions"]
        worked.ask("session_open", session_id="mine")
        sessions = worked.keeping.sessions
        folder = sessions.log(begun["session_id"]).path.parent
        assert sessions.prune(3_600) == 0
        assert sessions.prune(-3_600) == 1
        assert not folder.exists()
        assert [one["session_id"] for one in worked.ask("session_list")["sessions"]] == ["mine"]
        worked.keeping.close()
        worked.begin()
        assert [one["session_id"] for one in worked.ask("session_list")["sessions"]] == ["mine"]


def test_a_log_that_cannot_be_written_disturbs_nobody(opened, caplog):
    log = opened.keeping.sessions.log("mine").path
    log.unlink()
    log.mkdir()
    assert opened.act("search", query="x") is None
    assert "entry not kept" in caplog.text
