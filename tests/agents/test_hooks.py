"""Whose a payload is, and which folder it counts from."""

from __future__ import annotations

import json

import pytest

from triseek.agents.hooks import PAYLOAD_MAX, read


def told(harness="", event="PreToolUse", **fields):
    given = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}, **fields}
    return read(json.dumps(given).encode(), event=event, harness=harness, cwd="/here")


@pytest.mark.parametrize(
    ("fields", "harness"),
    [
        ({}, "claude-code"),
        ({"turn_id": "t"}, "codex"),
        ({"conversation_id": "c"}, "cursor"),
        ({"hook_event_name": "BeforeTool"}, "gemini"),
    ],
)
def test_whose_it_is_shows_in_its_fields(fields, harness):
    assert told(**fields).context.harness == harness


def test_who_registered_the_hook_is_believed():
    assert told("pi", turn_id="t").context.harness == "pi"
    assert told("nobody") is None


def test_a_relative_path_counts_from_the_payloads_folder_or_from_where_the_hook_ran():
    assert told().use.reads[0].path == "/here/a.py"
    assert told(cwd="/work").use.reads[0].path == "/work/a.py"
    assert told(cwd="up/..").use.reads[0].path == "/here/a.py"
    assert told(cwd="/a\0b").use.reads[0].path == "/here/a.py"


@pytest.mark.parametrize(
    ("event", "moment"),
    [("PreToolUse", "before"), ("pre-tool-use", "before"), (" POST_TOOL_USE ", "after"),
     ("session-start", "start"), ("", "other"), ("read", "after")],
)  # fmt: skip
def test_the_events_name_may_be_spelled_in_any_way(event, moment):
    assert told(event=event).moment == moment


def test_what_is_too_long_to_be_read_is_not():
    assert told(x="y" * PAYLOAD_MAX) is None
    assert told(x="y" * (PAYLOAD_MAX // 2)) is not None
