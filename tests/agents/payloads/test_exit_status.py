"""How a command ended is what its agent says of it, and otherwise unknown."""

from __future__ import annotations

import json

import pytest

from triseek.agents.hooks import exit_statuses, read
from triseek.agents.payloads.exit_status import of_trailer

PLAIN = {"stdout": "x", "stderr": "", "interrupted": False}


def ended(harness, tool="Bash", event="PostToolUse", **fields):
    payload = {
        "session_id": "s", "hook_event_name": event, "cwd": "/w", "tool_name": tool,
        "tool_use_id": "c", "tool_input": {"command": "make all"}, **fields,
    }  # fmt: skip
    hook_event = read(json.dumps(payload).encode(), event="", harness=harness, cwd="/here")
    run = hook_event.use.command
    assert (run.text, run.cwd) == ("make all", "/w")
    return run.exit_status, run.failed


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"tool_response": PLAIN}, (0, False)),
        ({"tool_response": {**PLAIN, "interrupted": True}}, (None, None)),
        ({"tool_response": {**PLAIN, "backgroundTaskId": "b1"}}, (None, None)),
        ({"tool_response": {**PLAIN, "returnCodeInterpretation": "No matches"}}, (None, False)),
        ({"tool_response": "text"}, (None, None)),
        ({"event": "PostToolUseFailure", "error": "Exit code 2\nno rule"}, (2, True)),
        ({"event": "PostToolUseFailure", "error": "Command timed out"}, (None, True)),
        (
            {"event": "PostToolUseFailure", "error": "Exit code 137", "is_interrupt": True},
            (None, None),
        ),
        ({"event": "PostToolUseFailure", "error": "Exit code 99999999999999999999"}, (None, True)),
    ],
)
def test_claude_codes(fields, outcome):
    assert ended("claude-code", **fields) == outcome


def test_opencodes_is_passed_on_by_our_plugin():
    assert ended("opencode", "bash", tool_response="x", exit_status=2) == (2, True)
    assert ended("opencode", "bash", tool_response="x", exit_status=0) == (0, False)
    assert ended("opencode", "bash", tool_response="x") == (None, None)
    assert ended("opencode", "bash", tool_response="x", exit_status=True) == (None, None)


def test_pis_is_the_last_line_of_a_failure():
    failure = {"event": "PostToolUseFailure"}
    said = "no\n\n\nCommand exited with code 3"
    assert ended("pi", "bash", **failure, tool_response=said) == (3, True)
    assert ended("pi", "bash", **failure, tool_response="Command timed out") == (None, True)
    assert ended("pi", "bash", tool_response="Command exited with code 3") == (0, False)


def test_cursors_is_in_the_tools_result():
    output = json.dumps({"exitCode": 4, "stdout": "x"})
    assert ended("cursor", "Shell", "postToolUse", tool_output=output) == (4, True)
    assert ended("cursor", "Shell", "postToolUse", tool_output="text") == (None, None)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("<untrusted_context>\nOutput: no\nExit Code: 3\nSignal: \n</untrusted_context>", 3),
        ("Output: fine\nProcess Group PGID: 1", 0),
        ("Output: x\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 1", 0),
        ("Output: x\nSignal: 15\nProcess Group PGID: 1", None),
        ("Output: x\nBackground PIDs: 5\nProcess Group PGID: 1", None),
        ("The tests passed.", None),
        ("", None),
    ],
)  # fmt: skip
def test_geminis_is_in_the_lines_behind_the_output(text, status):
    assert of_trailer(text) == status


def test_what_a_program_prints_itself_is_not_taken_for_geminis_words():
    said = {
        "llmContent": "Output: Exit Code: 3\nProcess Group PGID: 1",
        "returnDisplay": "Exit Code: 3",
    }
    assert ended("gemini", "run_shell_command", "AfterTool", tool_response=said) == (None, None)


@pytest.mark.parametrize(
    ("item", "statuses"),
    [
        (
            {"type": "function_call_output", "output": "Exit code: 0\nWall time: 1 s\nOutput:\nx"},
            {"c1": 0},
        ),
        (
            {
                "type": "function_call_output",
                "output": "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\n"
                "Output:\nProcess exited with code 7\n",
            },
            {"c1": 1},
        ),
        ({"type": "function_call_output", "output": "Process exited with code 7\n"}, {}),
        (
            {
                "type": "function_call_output",
                "output": "Chunk ID: 1\nProcess running with session ID 4\nOutput:\n",
            },
            {},
        ),
        (
            {
                "type": "function_call_output",
                "output": json.dumps({"output": "x", "metadata": {"exit_code": 2}}),
            },
            {"c1": 2},
        ),
    ],
)
def test_codexs_is_in_its_transcript(tmp_path, item, statuses):
    assert ended("codex", tool_response="no\n") == (None, None)
    transcript = tmp_path / "rollout.jsonl"
    other = {"type": "response_item", "payload": {**item, "call_id": "other"}}
    mine = {"type": "response_item", "payload": {**item, "call_id": "c1"}}
    transcript.write_text(f"{json.dumps(other)}\n{json.dumps(mine)}\n")
    payload = {
        "session_id": "s", "hook_event_name": "Stop", "cwd": "/w",
        "transcript_path": str(transcript),
    }  # fmt: skip
    event = read(json.dumps(payload).encode(), event="", harness="codex", cwd="/")
    assert exit_statuses(event, ["c1"]) == statuses
