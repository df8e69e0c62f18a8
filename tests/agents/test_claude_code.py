"""Claude Code's payloads."""

from __future__ import annotations

import json

import pytest

from triseek.agents.hooks import read
from triseek.model.hook_event import Context, FileRead


def event(**fields):
    given = {
        "session_id": "s", "transcript_path": "/t/s.jsonl", "cwd": "/w", "prompt_id": "p",
        "tool_use_id": "toolu_1", **fields,
    }  # fmt: skip
    found = read(json.dumps(given).encode(), event="", harness="claude-code", cwd="/here")
    assert found is not None
    return found


def before(tool, **given):
    return event(hook_event_name="PreToolUse", tool_name=tool, tool_input=given)


def after(tool, response, **given):
    return event(
        hook_event_name="PostToolUse", tool_name=tool, tool_input=given, tool_response=response
    )


def shown(content, first=1, total=100):
    lines = content.count("\n") + 1
    return {
        "type": "text",
        "file": {"filePath": "/w/a.py", "content": content, "startLine": first,
                 "numLines": lines, "totalLines": total},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        ({}, 1, None),
        ({"offset": 10}, 10, None),
        ({"offset": 0, "limit": 5}, 1, 5),
        ({"offset": 10, "limit": 5}, 10, 14),
        ({"offset": "10", "limit": "5"}, 10, 14),
    ],
)
def test_a_read_asks_for_lines_from_offset_on(given, first, last):
    found = before("Read", file_path="/w/a.py", **given)

    assert found.moment == "before"
    assert found.context == Context(harness="claude-code", session="s")
    assert found.use.reads == (FileRead(path="/w/a.py", first=first, last=last),)
    assert found.use.only_reads
    assert (found.use.call, found.prompt_id, found.transcript) == ("toolu_1", "p", "/t/s.jsonl")
    assert found.use.output is None


def test_what_was_shown_counts_not_what_was_asked_for():
    found = after("Read", shown("x\ny", first=7), file_path="/w/a.py", offset=7, limit=50)

    assert found.use.reads == (FileRead(path="/w/a.py", first=7, last=8),)
    assert found.use.output == "x\ny"


@pytest.mark.parametrize(
    "response",
    [
        {"type": "file_unchanged", "file": {"filePath": "/w/a.py"}},
        {"type": "image", "file": {"base64": "eA=="}},
        {"type": "text", "file": {"content": "", "startLine": 1, "numLines": 0, "totalLines": 0}},
    ],
)
def test_a_read_that_shows_no_lines_claims_none(response):
    assert after("Read", response, file_path="/w/a.py").use.reads == ()


@pytest.mark.parametrize(
    "given", [{"pages": "1-3"}, {"file_path": "/w/a.ipynb"}, {"file_path": ""}]
)
def test_what_is_not_lines_is_no_read(given):
    found = before("Read", **{"file_path": "/w/a.pdf", **given})

    assert (found.use.reads, found.use.only_reads) == ((), False)


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit"])
def test_an_edit_names_its_file(tool):
    assert before(tool, file_path="a.py").use.edits == ("/w/a.py",)


def test_a_shell_commands_output_comes_without_its_numbers():
    result = {"stdout": "     1\tx\n     2\t", "stderr": "", "interrupted": False}
    found = after("Bash", result, command="nl -ba a.py")

    assert found.use.reads == (FileRead(path="/w/a.py"),)
    assert found.use.output == "x\n"


@pytest.mark.parametrize(
    "hidden", [{"persistedOutputPath": "/x"}, {"backgroundTaskId": "b"}, {"isImage": True}]
)
def test_output_that_went_elsewhere_was_not_shown(hidden):
    result = {"stdout": "x", "stderr": "", "interrupted": False, **hidden}

    assert after("Bash", result, command="cat a.py").use.output is None


def test_a_folder_that_the_shell_has_gone_to_is_not_gone_to_again():
    found = after("Bash", {"stdout": "x", "stderr": ""}, command="cd .. && cat a.py")
    back = {"stdout": "x", "stderr": "Shell cwd was reset to /w"}

    assert found.use.reads[0].path == "/w/a.py"
    assert after("Bash", back, command="cd /far && cat a.py").use.reads[0].path == "/far/a.py"
    assert after("Bash", back, command="cd .. && cat a.py").use.reads[0].path == "/a.py"


def test_a_command_after_which_the_shell_is_elsewhere_is_not_nothing():
    gone = before("Bash", command="cd sub && cat a.py")
    back = before("Bash", command="cd sub && cat a.py && cd ..")

    assert (gone.use.reads, gone.use.only_reads) == (back.use.reads, False)
    assert back.use.only_reads
    assert event(
        hook_event_name="PreToolUse",
        tool_name="Bash",
        agent_id="a",
        tool_input={"command": "cd sub && cat a.py"},
    ).use.only_reads  # a sub-agent's shell begins anew each time


def test_the_line_after_the_last_newline_is_none():
    result = shown("x\ny\n", total=3)

    assert after("Read", result, file_path="/w/a.py").use.reads[0].last == 2


def test_blank_lines_around_a_commands_output_are_not_shown():
    result = {"stdout": "\n  \n  x\n\ny  \n\n", "stderr": " late\n"}

    assert after("Bash", result, command="cat a.py").use.output == "  x\n\ny\nlate"


def test_a_command_in_the_background_reads_nothing_now():
    found = before("Bash", command="cat a.py", run_in_background=True)

    assert (found.use.reads, found.use.only_reads) == ((), False)


@pytest.mark.parametrize(("tool", "word"), [("Read", "file_path"), ("Bash", "command")])
def test_a_use_on_another_machine_reads_nothing_here(tool, word):
    found = before(tool, **{word: "cat a.py", "machine": "far"})

    assert (found.use.reads, found.use.only_reads) == ((), False)


def test_a_sub_agent_is_another_context():
    found = event(
        hook_event_name="PreToolUse", tool_name="Read", tool_input={"file_path": "a"}, agent_id="x1"
    )

    assert found.context == Context(harness="claude-code", session="s", agent="x1")


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("SessionStart", "start"), ("SessionEnd", "end"), ("PreCompact", "compact"),
        ("PostCompact", "compact"), ("UserPromptSubmit", "prompt"), ("SubagentStop", "subagent"),
        ("Stop", "other"), ("PostToolUseFailure", "after"), ("pre-tool-use", "before"),
    ],
)  # fmt: skip
def test_events_are_moments(name, moment):
    assert event(hook_event_name=name).moment == moment


def test_a_start_tells_why():
    assert event(hook_event_name="SessionStart", source="clear").source == "clear"
    assert event(hook_event_name="PreCompact", trigger="auto").source == "auto"


def test_the_registration_counts_where_the_payload_is_silent():
    found = read(b'{"tool_name": "Read", "tool_input": {"file_path": "a"}}', event="pre-tool-use",
                 harness="claude-code", cwd="/here")  # fmt: skip

    assert found is not None
    assert found.moment == "before"
    assert found.use is not None
    assert found.use.reads[0].path == "/here/a"


@pytest.mark.parametrize(
    ("name", "reads", "edits"), [("read", 1, 0), ("edit", 0, 1), ("write", 0, 1)]
)
def test_a_script_may_tell_a_use_itself(name, reads, edits):
    given = json.dumps({"path": "a.py", "content": "x", "tokens": 1}).encode()
    found = read(given, event=name, harness="", cwd="/w")

    assert (found.moment, len(found.use.reads), len(found.use.edits)) == ("after", reads, edits)
    assert [*(each.path for each in found.use.reads), *found.use.edits] == ["/w/a.py"]
