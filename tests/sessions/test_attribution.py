"""Every conversation is a session of its own."""

from __future__ import annotations

import json

import pytest

from tests.app.asked import Asked
from tests.app.worked import Worked
from triseek.app.dispatch import Local
from triseek.app.registry import TOOLS
from triseek.model.call import Call


@pytest.fixture
def worked(tmp_path):
    return Worked(tmp_path)


def goals(worked):
    return {one["goal"]: one["session_id"] for one in worked.ask("session_list")["sessions"]}


def say(worked, prompt, conversation="s", **more):
    worked.hook("UserPromptSubmit", prompt=prompt, session_id=conversation, **more)


def read(worked, name, conversation="s", **more):
    worked.hook(
        "PostToolUse", tool_name="read", tool_use_id=f"c{name}{conversation}", tool_response="1: x",
        tool_input={"filePath": f"{worked.root}/{name}"}, session_id=conversation, **more,
    )  # fmt: skip


def entries(worked, session_id):
    return [
        payload.get("path") or payload.get("prompt") for _, payload in worked.entries(session_id)
    ]


def test_two_conversations_are_two_sessions(worked):
    say(worked, "Mend the parser", "one")
    say(worked, "Write the release note", "two")
    read(worked, "src/a.py", "one")
    read(worked, "src/b.py", "two")
    say(worked, "And the lexer", "one")
    found = goals(worked)
    assert set(found) == {"Mend the parser", "Write the release note"}
    assert entries(worked, found["Mend the parser"]) == [
        "Mend the parser", "src/a.py", "And the lexer",
    ]  # fmt: skip
    assert entries(worked, found["Write the release note"]) == [
        "Write the release note",
        "src/b.py",
    ]


def test_a_conversation_that_goes_on_another_day_goes_on_in_its_session(worked):
    say(worked, "Mend the parser", "one")
    say(worked, "Write the release note", "two")
    worked.keeping.close()
    worked.begin()
    say(worked, "Go on with the parser", "one")
    found = goals(worked)
    assert len(found) == 2
    assert entries(worked, found["Mend the parser"])[-1] == "Go on with the parser"


def test_a_greeting_gives_no_goal(worked):
    say(worked, "hi")
    assert list(goals(worked)) == [""]
    say(worked, "Mend the parser\nplease")
    say(worked, "Then the lexer")
    assert list(goals(worked)) == ["Mend the parser"]


def test_a_session_of_the_command_line_is_shared(worked):
    say(worked, "Mend the parser", "one")
    worked.ask("session_open", session_id="mine", goal="All of it")
    read(worked, "src/a.py", "one")
    say(worked, "Write the release note", "two")
    assert entries(worked, "mine") == ["src/a.py", "Write the release note"]
    worked.ask("session_close", session_id="mine", status="resolved")
    read(worked, "src/b.py", "one")
    assert entries(worked, goals(worked)["Mend the parser"]) == ["Mend the parser", "src/b.py"]


def test_a_sub_agents_conversation_is_its_agents(worked):
    say(worked, "Mend the parser", "one")
    say(worked, "Look at a.py", "sub", parent_session_id="one")
    read(worked, "src/a.py", "sub", parent_session_id="one")
    read(worked, "src/b.py", "subsub", parent_session_id="sub")
    found = goals(worked)
    assert list(found) == ["Mend the parser"]
    assert entries(worked, found["Mend the parser"]) == ["Mend the parser", "src/a.py", "src/b.py"]


def test_after_a_hand_off_the_next_prompt_begins_another(worked):
    say(worked, "Mend the parser")
    worked.ask("session_handoff")
    read(worked, "src/a.py")
    say(worked, "Write the release note")
    found = goals(worked)
    assert entries(worked, found["Mend the parser"])[0] == "Mend the parser"
    assert entries(worked, found["Write the release note"]) == ["Write the release note"]


def test_the_latest_session_of_an_agent_is_found(worked):
    say(worked, "Mend the parser", "one")
    payload = {
        "session_id": "t", "hook_event_name": "UserPromptSubmit", "turn_id": "1",
        "cwd": worked.root, "prompt": "Write the release note",
    }  # fmt: skip
    worked.hook_handler.hook(json.dumps(payload).encode(), "", "codex", "/")
    for name, goal in (("opencode", "Mend the parser"), ("codex", "Write the release note")):
        assert worked.ask("session_status", harness=name)["session"]["goal"] == goal
    with pytest.raises(Exception, match="nothing of gemini is recorded"):
        worked.ask("session_status", harness="gemini")


class TestTools:
    """Calls over MCP: a client that names no conversation is known by its connection."""

    @pytest.fixture
    def asked(self, tmp_path):
        return Asked(tmp_path)

    @pytest.fixture
    def ask(self, asked):
        local = Local(asked.context)
        by_name = {tool.name: tool for tool in TOOLS}

        def call(tool, *, connection="stdio", harness="claude-code", use="", **arguments):
            who = {"harness": harness, **({"call": use} if use else {})}
            told = Call(connection=connection, who=who)
            answered = local(by_name[tool], arguments, told)
            assert "error" not in answered.envelope, answered.envelope
            return answered.envelope

        return call

    def hook(self, asked, event, conversation="one", **more):
        payload = {"session_id": conversation, "hook_event_name": event, "cwd": asked.root, **more}
        handler = asked.worked.hook_handler
        handler.hook(json.dumps(payload).encode(), "", "claude-code", "/")

    def used(self, asked, tool, use, conversation="one"):
        """A hook reports that one of our tools was called."""
        name = f"mcp__triseek__{tool}"
        self.hook(
            asked, "PostToolUse", conversation, tool_name=name, tool_input={}, tool_use_id=use,
            tool_response="x",
        )  # fmt: skip

    def test_pins_of_a_snapshot_are_in_the_hand_off(self, ask):
        ask("session_open", goal="mend a")
        pin = {"path": "src/a.py", "line_start": 2, "line_end": 3}
        ask("session_snapshot", pinned_snippet_paths=[pin])
        handed = ask("session_handoff")
        shown = ask("session_snapshot_get", snapshot_id=handed["snapshot_id"])
        [kept] = shown["snapshot"]["pinned_snippets"]
        assert (kept["path"], kept["line_start"], kept["line_end"]) == ("src/a.py", 2, 3)

    def test_who_opens_a_session_works_in_it_and_others_do_not(self, asked, ask):
        self.hook(asked, "UserPromptSubmit", "one", prompt="Mend the parser")
        self.hook(asked, "UserPromptSubmit", "two", prompt="Write the note")
        ask("session_open", session_id="mine", goal="Ship it", use="toolu_1")
        self.used(asked, "session_open", "toolu_1", "one")
        self.hook(asked, "UserPromptSubmit", "one", prompt="Now the lexer")
        self.hook(asked, "UserPromptSubmit", "two", prompt="And its date")
        assert entries(asked.worked, "mine") == ["Now the lexer"]
        assert entries(asked.worked, goals(asked.worked)["Write the note"])[-1] == "And its date"

    def test_a_search_belongs_to_the_conversation_whose_hook_reports_its_connection(
        self, asked, ask
    ):
        self.hook(asked, "UserPromptSubmit", "one", prompt="Mend the parser")
        self.hook(asked, "UserPromptSubmit", "two", prompt="Write the note")
        ask("search_content", query="line 1", use="toolu_1")
        self.used(asked, "search_content", "toolu_1", "one")
        ask("search_content", query="line 2", use="toolu_2")
        found = goals(asked.worked)
        kinds = [kind for kind, _ in asked.worked.entries(found["Mend the parser"])]
        assert kinds == ["prompt", "search"]

    def test_two_connections_without_hooks_are_two_conversations(self, asked, ask):
        ask("session_open", connection="a", harness="script", goal="one")
        ask("session_open", connection="b", harness="script", goal="two")
        ask("search_content", connection="a", harness="script", query="line 1")
        assert ask("session_status", connection="a")["session"]["goal"] == "one"
        found = goals(asked.worked)
        assert len(asked.worked.entries(found["one"])) == 2  # the search, and session_status
        assert asked.worked.entries(found["two"]) == []

    def test_an_agents_own_hand_off_is_of_its_own_conversation(self, asked, ask):
        self.hook(asked, "UserPromptSubmit", "one", prompt="Mend the parser")
        ask("search_content", query="line 1", use="toolu_1")
        self.used(asked, "search_content", "toolu_1", "one")
        self.hook(asked, "UserPromptSubmit", "two", prompt="Write the note")
        assert ask("session_handoff")["session"]["goal"] == "Mend the parser"

    def test_who_resumes_a_session_goes_on_in_it(self, asked, ask):
        self.hook(asked, "UserPromptSubmit", "one", prompt="Mend the parser")
        handed = ask("session_handoff")
        self.hook(asked, "UserPromptSubmit", "two", prompt="hello")
        ask("session_resume", snapshot_id=handed["snapshot_id"], use="toolu_2")
        self.used(asked, "session_resume", "toolu_2", "two")
        self.hook(asked, "UserPromptSubmit", "two", prompt="Now the lexer")
        found = goals(asked.worked)["Mend the parser"]
        assert entries(asked.worked, found)[-1] == "Now the lexer"

    def test_a_shared_session_that_agents_open_too_stays_shared(self, asked, ask):
        asked.worked.ask("session_open", session_id="mine", goal="All of it")
        ask("session_open", connection="a", session_id="mine")
        ask("session_open", connection="b", harness="codex", session_id="mine")
        self.hook(asked, "UserPromptSubmit", "one", prompt="Mend the parser")
        say(asked.worked, "Write the note", "other")
        assert entries(asked.worked, "mine") == ["Mend the parser", "Write the note"]

    def test_a_session_opened_by_an_agent_awaits_the_first_hook_of_that_agent(self, asked, ask):
        ask("session_open", connection="a", session_id="mine")
        say(asked.worked, "Write the note", "other")
        self.hook(asked, "UserPromptSubmit", "one", prompt="Mend the parser")
        self.hook(asked, "UserPromptSubmit", "two", prompt="Look around")
        assert entries(asked.worked, "mine") == ["Mend the parser"]
        assert set(goals(asked.worked)) == {"", "Write the note", "Look around"}
