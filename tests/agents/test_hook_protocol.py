"""Recorded payloads of each agent, and what they are understood to be.

`tests/agents/fixtures` holds what the agents have told, or what their documentation says they
tell: each file names its source. What is made of them is in `tests/golden/hooks`, one file an
agent; `make golden` writes these anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.agents.hooks import PAYLOAD_MAX, in_view, read, refusal

FIXTURES = Path(__file__).parent / "fixtures"
GOLDEN = Path(__file__).parents[1] / "golden" / "hooks"
UPDATE = os.environ.get("TRISEEK_GOLDEN") == "update"
CLIENTS = sorted(path.name for path in FIXTURES.iterdir() if path.name != "transcripts")
AGENTS = ["claude-code", "codex", "opencode", "pi", "cursor", "gemini", "", "nobody"]


def _golden(client):
    return GOLDEN / f"{client}.txt"


def recorded(client):
    return [
        (path.stem, json.loads(path.read_text())) for path in sorted((FIXTURES / client).iterdir())
    ]


def _summary(name, event):
    """One paragraph: only what is not as usual."""
    who = " ".join(part for part in (event.context.session[-4:], event.context.agent[-4:]) if part)
    lines = [f"{name}: {event.moment} {event.source} in {event.cwd} for {who}".replace("  ", " ")]
    if event.prompt:
        lines.append(f"  prompt {event.prompt!r}")
    if event.in_view is not None:
        last = max(event.in_view, default="none")[-6:]
        lines.append(f"  in view {len(event.in_view)} uses, the last {last}")
    use = event.use
    if use is not None:
        flags = [name for name in ("only_reads", "edits_unknown", "failed") if getattr(use, name)]
        lines.append(f"  {use.name} {use.call[-6:]} {' '.join(flags)}".rstrip())
        for each in use.reads:
            span = f"last {each.tail}" if each.tail else f"{each.first}-{each.last or ''}"
            lines.append(f"  reads {each.path} {span}")
        lines += [f"  edits {path}" for path in use.edits]
        if use.search:
            lines.append(f"  searches {use.search!r}")
        if use.command is not None and event.moment == "after":
            ended = {None: "unknown", True: "failed", False: "ok"}[use.command.failed]
            lines.append(f"  ran {use.command.text!r}: {ended} {use.command.exit_status}")
        if use.output is not None:
            lines.append(f"  shows {_short(use.output)}")
    return "\n".join(lines) + "\n"


def _short(text):
    return repr(text if len(text) <= 60 else f"{text[:30]}…{text[-20:]}")


@pytest.mark.parametrize("client", [name for name in CLIENTS if UPDATE or _golden(name).exists()])
def test_what_was_recorded_is_understood_as_written_down(client):
    found = ""
    for name, told in recorded(client):
        event = read(
            json.dumps(told["payload"]).encode(), event=told["event"], harness=client, cwd="/here"
        )
        assert event is not None
        assert event.context.harness == client
        found += _summary(name, event)
    path = _golden(client)
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(found)
    assert found == path.read_text()


@pytest.mark.parametrize("client", CLIENTS)
def test_each_says_where_it_is_from(client):
    assert {told["source"] for _, told in recorded(client)} <= {"recorded", "documentation"}


@pytest.mark.parametrize("client", [name for name in CLIENTS if name not in ("opencode", "pi")])
def test_whose_a_payload_is_can_be_told(client):
    for name, told in recorded(client):
        payload = json.dumps(told["payload"]).encode()
        event = read(payload, event=told["event"], harness="", cwd="/here")
        assert event is not None, name
        if event.use is not None:
            assert event.context.harness == client, name


@pytest.mark.parametrize("harness", AGENTS)
@pytest.mark.parametrize(
    "payload",
    [b"", b"null", b"7", b"[]", b"{", b"\xff", b'"x"', b"[" * 100_000, b"{}" + b" " * PAYLOAD_MAX],
)
def test_what_is_no_payload_is_none(payload, harness):
    assert read(payload, event="PreToolUse", harness=harness, cwd="/here") is None


_WORDS = [
    "file_path", "path", "command", "offset", "limit", "content", "file", "type", "text",
    "stdout", "startLine", "numLines", "totalLines", "pages", "workdir",
]  # fmt: skip
_NAMES = [
    "session_id", "agent_id", "cwd", "hook_event_name", "tool_name", "tool_input",
    "tool_use_id", "tool_response", "tool_output", "transcript_path", "in_view", "source",
    "prompt", "turn_id", "prompt_id", "workspace_roots", "conversation_id", "file_path",
    "command", "output",
]  # fmt: skip
_TOOLS = [
    "Read", "Bash", "Edit", "apply_patch", "read", "bash", "Shell", "read_file",
    "run_shell_command", "mcp__x__read_file", "mcp__triseek__memo_check", "NotebookEdit",
]  # fmt: skip
_EVENTS = ["PreToolUse", "PostToolUse", "beforeReadFile", "AfterTool", "SessionStart", "x"]
_ODD = ["/a", "a\0b", "Read", "cat x && sed -n 1,2p y", "\ud800", "-1", "9" * 20, "", 7, -1, 1e300]
_JSON = st.recursive(
    st.sampled_from([*_ODD, None, True]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=3)
    ),
    max_leaves=4,
)


@settings(derandomize=True, max_examples=80, deadline=None)
@given(
    told=st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=6),
    tool=st.sampled_from(_TOOLS),
    event=st.sampled_from(_EVENTS),
    given_=st.dictionaries(
        st.sampled_from(["file_path", "path", "command", "offset", "limit"]), _JSON
    ),
)
def test_nothing_that_is_told_makes_it_fail(told, tool, event, given_):
    payload = {"hook_event_name": event, "tool_name": tool, "tool_input": given_, **told}
    for agent in AGENTS[:-1]:
        found = read(json.dumps(payload).encode(), event=event, harness=agent, cwd="/here")
        assert found is not None
        in_view(found)
        if found.use is not None:
            paths = [each.path for each in found.use.reads] + list(found.use.edits)
            assert all(path.startswith("/") and "\0" not in path for path in paths)
            assert all(each.first >= 1 for each in found.use.reads)


@pytest.mark.parametrize("harness", ["claude-code", "codex", "opencode", "pi"])
def test_a_refusal_is_claude_codes(harness):
    told = json.loads(refusal(harness, "PreToolUse", "You have it.", "Read 3 s ago."))

    assert told == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "You have it.",
            "additionalContext": "Read 3 s ago.",
        }
    }


def test_other_agents_have_their_own_refusal():
    cursor = json.loads(refusal("cursor", "preToolUse", "You have it.", "Read 3 s ago."))
    gemini = json.loads(refusal("gemini", "BeforeTool", "You have it.", ""))

    assert cursor["permission"] == "deny"
    assert cursor["agent_message"] == "You have it. Read 3 s ago."
    assert gemini == {"decision": "deny", "reason": "You have it."}


@pytest.mark.parametrize(("harness", "event"), [("codex", "PostToolUse"), ("nobody", "PreToolUse")])
def test_nobody_else_can_be_told(harness, event):
    assert refusal(harness, event, "x", "") == ""


@pytest.mark.parametrize(
    ("tool", "given_", "reads", "whole"),
    [
        ("mcp__fs__read_file", {"path": "/a"}, ["/a"], True),
        ("mcp__fs__read_file", {"path": "a"}, ["/here/a"], False),
        ("mcp__fs__read_file", {"path": "a", "head": 3}, ["/here/a"], False),
        ("mcp_fs_read_file", {"file_path": "/a"}, ["/a"], True),
        ("mcp__fs__read_files", {"path": "a"}, [], False),
        ("mcp__fs__list_view", {"path": "a"}, [], False),
        ("mcp__fs__view", {}, [], False),
        ("mcp__triseek__memo_check", {"path": "a"}, [], False),
    ],
)
@pytest.mark.parametrize("harness", ["claude-code", "codex", "gemini"])
def test_a_servers_read_is_known_by_its_name(harness, tool, given_, reads, whole):
    payload = json.dumps({"tool_name": tool, "tool_input": given_}).encode()
    use = read(payload, event="PreToolUse", harness=harness, cwd="/here").use

    assert [each.path for each in use.reads] == reads
    assert use.only_reads == whole
