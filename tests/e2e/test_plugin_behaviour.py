"""What the plugins do when triseek is slow, gone or mad, and which outputs they say are in view."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.mcp_clients import Unreachable, installed
from tests.programs import PYTHON
from triseek.agents.install.own_files import plugin

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.slow

HOST = Path(__file__).with_name("plugin_host.mjs")
PATIENCE_S = 120
TOLD = """\
import json, os, sys, time
told = json.load(sys.stdin)
time.sleep(float(os.environ.get("SLEEP", "0")))
with open(os.environ["LOG"], "a") as log:
    log.write(json.dumps(told) + "\\n")
if sys.argv[2] == "PreToolUse":
    print(os.environ.get("SAYS", ""))
if sys.argv[2] == "SessionStart":
    print(os.environ.get("OPENS", ""))
"""
OPENING = json.dumps({"hookSpecificOutput": {"additionalContext": "It was decided."}})
DENIAL = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "It is above.",
            "additionalContext": "1-3 of a.txt",
        }
    }
)


class Agent:
    """A plugin in a host, and the program that it runs."""

    def __init__(self, folder: Path, node: Path, harness: str) -> None:
        self.harness, self._folder, self._node = harness, folder, node
        self.program = folder / "triseek"
        self.program.write_text(PYTHON + TOLD)
        self.program.chmod(0o755)

    def play(self, script: Sequence[dict[str, Any]], **environ: str) -> list[dict[str, Any]]:
        path = self._folder / f"{self.harness}.ts"
        path.write_text(plugin(self.harness, str(self.program)))
        done = subprocess.run(
            [self._node / "node", HOST, self.harness, path],
            input=json.dumps(list(script)), cwd=self._folder, capture_output=True, text=True,
            env={**os.environ, "LOG": str(self._folder / "log"), **environ},
            timeout=PATIENCE_S, check=True,
        )  # fmt: skip
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    def told(self) -> list[dict[str, Any]]:
        log = self._folder / "log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def before(self, call: str, tool: str = "read") -> dict[str, Any]:
        """A tool is about to be used."""
        if self.harness == "opencode":
            use = {"tool": tool, "sessionID": "s1", "callID": call}
            return {"hook": "tool.execute.before", "input": use, "output": {"args": {}}}
        return {
            "hook": "tool_call", "input": {"toolName": tool, "toolCallId": call, "input": {}}
        }  # fmt: skip

    def after(self, call: str, text: str) -> list[dict[str, Any]]:
        """It was used."""
        if self.harness == "opencode":
            use = {"tool": "read", "sessionID": "s1", "callID": call, "args": {}}
            return [{"hook": "tool.execute.after", "input": use, "output": {"output": text}}]
        use = {"toolName": "read", "toolCallId": call}
        content = {"content": [{"type": "text", "text": text}]}
        return [
            {"hook": "tool_result", "input": {**use, **content, "input": {}}},
            {"hook": "tool_execution_end", "input": {**use, "result": content}},
        ]

    def request(self, **shown: str) -> dict[str, Any]:
        """The model is asked, with these outputs of calls."""
        if self.harness == "opencode":
            parts: list[dict[str, Any]] = [
                {
                    "type": "tool",
                    "callID": call,
                    "state": {"status": "completed", "time": {}, "output": text},
                }
                for call, text in shown.items()
            ]
            messages = [{"info": {"sessionID": "s1"}, "parts": parts}]
            hook = "experimental.chat.messages.transform"
            return {"hook": hook, "input": {}, "output": {"messages": messages}}
        messages = [
            {"role": "toolResult", "toolCallId": call, "content": [{"type": "text", "text": text}]}
            for call, text in shown.items()
        ]
        return {"hook": "context_with_system", "input": {"messages": messages}}

    def started(self, **more: str) -> dict[str, Any]:
        """A session begins."""
        if self.harness == "opencode":
            properties = {"info": {"id": "s1", **more}}
            event = {"type": "session.created", "properties": properties}
            return {"hook": "event", "input": {"event": event}}
        return {"hook": "session_start", "input": {"reason": "startup"}}

    def prompted(self) -> dict[str, Any]:
        """The person says something."""
        if self.harness == "opencode":
            part = {"id": "prt_1", "messageID": "m1", "sessionID": "s1", "type": "text"}
            parts = [{**part, "text": "Fix it"}]
            return {
                "hook": "chat.message",
                "input": {"sessionID": "s1"},
                "output": {"parts": parts},
            }
        return {"hook": "before_agent_start", "input": {"prompt": "Fix it"}}

    def opened(self, result: dict[str, Any]) -> list[str]:
        """What the model is shown beside the prompt."""
        assert "error" not in result
        if self.harness == "opencode":
            _, *others = result["output"]["parts"]
            assert all(part["synthetic"] and part["id"].startswith("prt_1") for part in others)
            assert all(part["messageID"] == "m1" for part in others)
            return [part["text"] for part in others]
        message = (result.get("value") or {}).get("message")
        assert message is None or message["display"] is False
        return [message["content"]] if message else []

    def compacted(self) -> dict[str, Any]:
        if self.harness == "opencode":
            event = {"type": "session.compacted", "properties": {"sessionID": "s1"}}
            return {"hook": "event", "input": {"event": event}}
        return {"hook": "session_compact", "input": {"reason": "manual"}}

    def refused(self, result: dict[str, Any]) -> str | None:
        """Why a use was refused; None if it was not."""
        if self.harness == "opencode":
            return result.get("error")
        assert "error" not in result
        return (result.get("value") or {}).get("reason")


@pytest.fixture(scope="module")
def node() -> Path:
    try:
        return installed()
    except Unreachable as error:
        pytest.skip(str(error))


@pytest.fixture(params=["opencode", "pi"])
def agent(request: pytest.FixtureRequest, tmp_path: Path, node: Path) -> Agent:
    return Agent(tmp_path, node, request.param)


def in_view(agent: Agent) -> list[list[str]]:
    return [told["in_view"] for told in agent.told() if told["hook_event_name"] == "PreToolUse"]


def test_a_denial_refuses_the_use_and_says_why(agent: Agent) -> None:
    [result] = agent.play([agent.before("c1")], SAYS=DENIAL)

    assert agent.refused(result) == "It is above.\n1-3 of a.txt"


@pytest.mark.parametrize(
    "said", ["", "null", "[]", "{", '{"hookSpecificOutput": 1}', DENIAL.replace('"deny"', '"ask"')]
)
def test_anything_else_lets_it_pass(agent: Agent, said: str) -> None:
    [result] = agent.play([agent.before("c1")], SAYS=said)

    assert agent.refused(result) is None


def test_the_history_comes_with_the_first_prompt(agent: Agent) -> None:
    script = [agent.started(), agent.prompted(), agent.prompted()]
    _, first, second = agent.play(script, OPENS=OPENING)

    assert agent.opened(first) == ["It was decided."]
    assert agent.opened(second) == []
    told = [one["prompt"] for one in agent.told() if one["hook_event_name"] == "UserPromptSubmit"]
    assert told == ["Fix it", "Fix it"]


@pytest.mark.parametrize(
    "said", ["", "null", "[]", "{", '{"hookSpecificOutput": {"additionalContext": 1}}']
)
def test_any_other_answer_shows_nothing(agent: Agent, said: str) -> None:
    _, result = agent.play([agent.started(), agent.prompted()], OPENS=said)

    assert agent.opened(result) == []


def test_a_session_that_goes_on_is_not_shown_the_history(agent: Agent) -> None:
    before = [agent.prompted()] if agent.harness == "opencode" else [agent.started()]
    *_, result = agent.play(
        [*before, agent.prompted()], OPENS=OPENING, ENTRIES='[{"type": "message"}]'
    )

    assert agent.opened(result) == []


def test_a_sub_agent_is_not_shown_the_history(tmp_path: Path, node: Path) -> None:
    agent = Agent(tmp_path, node, "opencode")
    _, result = agent.play([agent.started(parentID="s0"), agent.prompted()], OPENS=OPENING)

    assert agent.opened(result) == []


def test_a_history_that_hangs_holds_the_first_prompt_up_for_seconds(agent: Agent) -> None:
    script = [agent.started(), agent.prompted(), agent.prompted()]
    _, first, second = agent.play(script, SLEEP="60", OPENS=OPENING)

    assert agent.opened(first) == agent.opened(second) == []
    assert first["ms"] < 5_000
    assert second["ms"] < 1_000


def test_only_what_may_be_a_mere_reading_is_asked_about(agent: Agent) -> None:
    tools = ["edit", "write", "grep", "task", "codemode", "triseek_reindex", "x_search_content"]
    asked = [
        "read",
        "bash",
        "triseek_memo_check",
        "mcp__triseek__memo_status",
        "mcp__fs__read_file",
        "triseek_search_content",
        "mcp__triseek__find_files",
    ]

    agent.play([agent.before(f"c{n}", tool) for n, tool in enumerate([*tools, *asked])])

    before = [told for told in agent.told() if told["hook_event_name"] == "PreToolUse"]
    assert [told["tool_name"] for told in before] == asked


@pytest.mark.parametrize("tool", ["triseek_search_content", "mcp__triseek__find_files"])
def test_a_search_says_which_call_it_is(agent: Agent, tool: str) -> None:
    [result] = agent.play([agent.before("c1", tool)])

    assert result["arguments"] == {"triseek/toolUseId": "c1"}
    assert [told["tool_input"] for told in agent.told() if "tool_input" in told] == [{}]


@pytest.mark.parametrize("tool", ["read", "triseek_memo_check", "edit", "x_search_content"])
def test_the_arguments_of_other_tools_are_left_as_they_are(agent: Agent, tool: str) -> None:
    [result] = agent.play([agent.before("c1", tool)])

    assert result["arguments"] == {}


def test_a_search_of_a_script_does_not(tmp_path: Path, node: Path) -> None:
    """What it is answered does not reach the model, so it gets the answer itself."""
    agent = Agent(tmp_path, node, "opencode")

    [result] = agent.play([agent.before("c1/1", "triseek_search_content")])

    assert result["arguments"] == {}


def test_opencodes_model_is_not_shown_which_call_it_was(tmp_path: Path, node: Path) -> None:
    agent = Agent(tmp_path, node, "opencode")
    named = {"query": "x", "triseek/toolUseId": "c1"}
    [done] = agent.after("c1", "text")
    done["input"]["args"] = dict(named)
    sent = agent.request(c2="failed")
    [part] = sent["output"]["messages"][0]["parts"]
    part["state"] = {"status": "error", "input": dict(named)}

    results = agent.play([done, sent])

    assert results[0]["arguments"] == {"query": "x"}
    [part] = results[1]["output"]["messages"][0]["parts"]
    assert part["state"]["input"] == {"query": "x"}


def test_an_id_of_two_outputs_stands_for_neither(agent: Agent) -> None:
    shown = [*agent.after("c1", "one"), *agent.after("c2", "two"), *agent.after("c1", "other")]
    agent.play([*shown, agent.request(c1="other", c2="two"), agent.before("c3")])

    assert in_view(agent) == [["c2"]]


def test_what_was_shown_arrives_before_the_next_question(agent: Agent) -> None:
    script = [step for n in range(5) for step in agent.after(f"c{n}", f"text {n}")]

    agent.play([*script, agent.before("c9")], SLEEP="0.1")

    told = [one["tool_use_id"] for one in agent.told() if "tool_use_id" in one]
    assert told == ["c0", "c1", "c2", "c3", "c4", "c9"]


def test_telling_does_not_hold_the_agent_up(agent: Agent) -> None:
    results = agent.play(agent.after("c1", "text"), SLEEP="2")

    assert max(result["ms"] for result in results) < 1000


def test_a_triseek_that_hangs_holds_it_up_for_seconds_and_no_more(agent: Agent) -> None:
    results = agent.play([*agent.after("c1", "text"), agent.before("c2")], SLEEP="60", SAYS=DENIAL)

    assert agent.refused(results[-1]) is None
    assert results[-1]["ms"] < 15_000


def test_a_triseek_that_is_gone_is_not_missed(agent: Agent) -> None:
    agent.program.unlink()

    results = agent.play([*agent.after("c1", "text"), agent.before("c2"), agent.compacted()])

    assert [result for result in results if "error" in result or result.get("value")] == []


def test_in_view_is_what_is_sent_word_for_word(agent: Agent) -> None:
    shown = [*agent.after("c1", "one"), *agent.after("c2", "two"), *agent.after("c3", "three")]

    agent.play([*shown, agent.request(c1="one", c2="[cut]", c4="one"), agent.before("c5")])

    assert in_view(agent) == [["c1"]]


def test_nothing_is_in_view_before_a_request_and_after_a_compaction(agent: Agent) -> None:
    shown = agent.after("c1", "one")

    agent.play([
        *shown, agent.before("c2"), agent.request(c1="one"), agent.before("c3"),
        agent.compacted(), agent.before("c4"), agent.request(c1="one"), agent.before("c5"),
    ])  # fmt: skip

    assert in_view(agent) == [[], ["c1"], [], []]


def test_what_opencode_clears_or_leaves_out_is_not_in_view(tmp_path: Path, node: Path) -> None:
    agent = Agent(tmp_path, node, "opencode")
    asked = agent.request(c1="one", c2="two")
    asked["output"]["messages"][0]["parts"][0]["state"]["time"]["compacted"] = 1
    failed = agent.request(c3="three")["output"]["messages"][0]
    failed["info"]["error"] = {"name": "Aborted"}
    asked["output"]["messages"].append(failed)
    shown = [*agent.after("c1", "one"), *agent.after("c2", "two"), *agent.after("c3", "three")]

    agent.play([*shown, asked, agent.before("c4")])

    assert in_view(agent) == [["c2"]]


def test_what_a_script_of_pis_reads_is_told_without_its_text(tmp_path: Path, node: Path) -> None:
    agent = Agent(tmp_path, node, "pi")
    steps = [agent.before("c1/1"), *agent.after("c1/1", "text")]
    for step in steps:
        step["input"]["parentToolCallId"] = "c1"

    results = agent.play(steps, SAYS=DENIAL)

    assert agent.refused(results[0]) is None
    [told] = [one for one in agent.told() if "tool_use_id" in one]
    assert told["hook_event_name"] == "PostToolUse"
    assert "tool_response" not in told
