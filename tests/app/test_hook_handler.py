"""What hooks tell reaches the memo, the scores, the searches' epoch and the log of actions."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.app.contexts import indexed
from tests.e2e.hooking import shown
from triseek.app.hook_handler import PROMPT_MAX, HookHandler
from triseek.engine.roots import project
from triseek.engine.service import Service
from triseek.memo.memo import Asked, Memo
from triseek.model.hook_event import PROBE

TEXT = "".join(f"line {number} of a file that is worth it\n" for number in range(60))
SHOWN = shown(TEXT.splitlines(keepends=True))


class Told:
    """An observer of one agent; `actions` is what went to the sink."""

    def __init__(self, root, *, refuse=True):
        self.root = root
        self.actions = []
        self.memo = Memo(None)
        self.service = Service()
        self.hook_handler = HookHandler(self.service, self.memo, self.actions.append, refuse=refuse)
        self.calls = 0
        self.in_view = []

    def tell(self, event, *, harness="opencode", cwd=None, **more):
        told = {"session_id": "s", "hook_event_name": event, "cwd": cwd or self.root, **more}
        return self.hook_handler.hook(json.dumps(told).encode(), "", harness, "/")

    def tool(self, event, tool, given, **more):
        return self.tell(
            event, tool_name=tool, tool_input=given, tool_use_id=f"c{self.calls}",
            in_view=self.in_view, **more,
        )  # fmt: skip

    def read(self, path):
        self.calls += 1
        given = {"filePath": path}
        if self.tool("PreToolUse", "read", given):
            return False
        self.tool("PostToolUse", "read", given, tool_response=SHOWN)
        self.in_view.append(f"c{self.calls}")
        return True

    def kinds(self):
        return [action.kind for action in self.actions]


@pytest.fixture
def told(tmp_path):
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "a.py").write_text(TEXT)
    told = Told(os.path.realpath(root))
    with told.service:
        yield told


def test_a_reading_is_noted_and_a_second_is_refused(told):
    assert [told.read(f"{told.root}/a.py") for _ in range(3)] == [True, False, True]

    read, denied, again = told.actions
    assert (read.kind, denied.kind, again.kind) == ("read", "read_denied", "read")
    assert read.conversation == denied.conversation == "session/s/"
    assert read.payload == {
        "harness": "opencode", "root": told.root, "path": f"{told.root}/a.py", "call": "c1",
        "lines": [1, 2000],
    }  # fmt: skip
    assert denied.payload["tokens"] == -(-len(TEXT) * 2 // 7)


def test_of_several_files_each_is_noted_with_its_own_tokens(told):
    Path(told.root, "b.py").write_text(TEXT)
    told.read(f"{told.root}/a.py")
    told.read(f"{told.root}/b.py")
    told.tool("PreToolUse", "bash", {"command": "cat a.py b.py"})

    *_, one, two = told.actions
    assert (one.kind, two.kind) == ("read_denied", "read_denied")
    assert one.payload["tokens"] == two.payload["tokens"] == -(-len(TEXT) * 2 // 7)


def test_refusing_can_be_switched_off(told):
    mild = Told(told.root, refuse=False)

    assert all(mild.read(f"{told.root}/a.py") for _ in range(3))
    assert mild.kinds() == ["read"] * 3


def test_what_an_agent_does_is_noted_by_its_kind(told):
    told.tool("PostToolUse", "edit", {"filePath": "a.py"}, tool_response="done")
    told.tool("PostToolUse", "grep", {"pattern": "needle"}, tool_response="a.py:1: needle")
    told.tell("UserPromptSubmit", prompt="p" * 20_000)
    told.tell("PreCompact", trigger="auto")

    assert told.kinds() == ["edit", "search", "prompt", "compact"]
    edit, search, prompt, _ = told.actions
    assert edit.payload["path"] == f"{told.root}/a.py"
    assert search.payload["query"] == "needle"
    assert len(prompt.payload["prompt"]) == PROMPT_MAX


def test_one_compaction_is_one_action(told):
    told.tell("PreCompact", trigger="auto")
    told.tell("PostCompact")
    told.tell("SessionStart", source="compact")

    assert told.kinds() == ["compact"]
    assert told.memo.session(told.root, Asked(session="s"))["compaction_count"] == 1


def test_what_failed_was_not_done(told):
    told.tool("PostToolUseFailure", "edit", {"filePath": "a.py"}, error="no such text")

    assert told.kinds() == []


def test_who_cannot_be_refused_is_not_counted_as_if(told):
    told.read(f"{told.root}/a.py")
    told.tool("BeforeTool", "read", {"filePath": f"{told.root}/a.py"}, harness="zed")

    assert "read_denied" not in told.kinds()


BEFORE = '{"hook_event_name": "PreToolUse", "tool_name": '
AFTER = '{"hook_event_name": "PostToolUse", "tool_name": '


@pytest.mark.parametrize(
    "payload",
    [
        "", "null", "[]", "{", "\udcff", "{}" * 9, '{"hook_event_name": 7}', "[" * 100_000,
        BEFORE + '["Read"], "tool_input": "x"}',
        BEFORE + '"Read", "tool_input": {"file_path": "\\u0000"}}',
        BEFORE + '"Read", "cwd": "\\u0000"}',
        AFTER + '"Read", "tool_input": {"file_path": "\\ud800"}}',
        '{"hook_event_name": "UserPromptSubmit", "prompt": "\\ud800"}',
    ],
    ids=range(13),
)  # fmt: skip
@pytest.mark.parametrize("harness", ["", "claude-code", "codex", "opencode", "gemini", "nobody"])
def test_whatever_it_is_told_it_says_nothing(told, payload, harness):
    assert told.hook_handler.hook(os.fsencode(payload), "PreToolUse", harness, told.root) == ""


def test_a_sub_agent_that_has_just_begun_is_one_of_those_who_may_ask(told):
    told.read(f"{told.root}/a.py")
    who = Asked(session="s", harness="opencode")
    assert told.memo.check(told.root, f"{told.root}/a.py", who)["status"] == "fresh"

    told.tell("SubagentStart", agent_id="helper")
    assert told.memo.check(told.root, f"{told.root}/a.py", who)["status"] == "unknown"

    told.tell("SubagentStop", agent_id="helper")
    assert told.memo.check(told.root, f"{told.root}/a.py", who)["status"] == "fresh"


def test_no_root_is_opened_that_has_no_index(told):
    told.read(f"{told.root}/a.py")
    told.tool("PostToolUse", "edit", {"filePath": "/etc/hosts"}, tool_response="done")
    told.tell("PreCompact")

    assert told.service.engines() == []


def test_files_of_an_indexed_root_are_counted(repo):
    root = indexed(repo, {"a.py": TEXT, "b.py": TEXT})
    told = Told(root)
    with told.service:
        frecency = told.service.engine(root).frecency
        frecency.own()
        told.read(f"{root}/a.py")
        told.tool("PostToolUse", "edit", {"filePath": f"{root}/b.py"}, tool_response="done")

        assert set(frecency.snapshot()) == {b"a.py", b"b.py"}


def test_work_in_a_folder_is_about_its_repository_or_the_indexed_one_above(repo, tmp_path):
    root = indexed(repo, {"a/b/c.py": ""})
    (tmp_path / "other" / ".git").mkdir(parents=True)
    (tmp_path / "other" / "deep").mkdir()

    assert project(f"{root}/a/b") == root
    assert project(str(tmp_path / "other" / "deep")) == os.path.realpath(tmp_path / "other")
    assert project("/nowhere/at/all") == "/nowhere/at/all"


def test_a_probe_of_the_doctor_is_refused_a_read_and_leaves_no_trace(told, monkeypatch):
    monkeypatch.setattr(
        told.service, "engine", lambda *_, **__: pytest.fail("no file's use is counted")
    )
    path = str(Path(told.root, "a.py"))
    tell = told.tell
    told.tell = lambda event, **more: tell(event, **{**more, "session_id": f"{PROBE}-7"})

    assert [told.read(path), told.read(path)] == [True, False]
    told.tell("UserPromptSubmit", prompt="mend the needle")
    told.tell("SessionEnd")

    assert told.actions == []
    assert not told.memo._table
