"""What a payload means, and that nothing hostile means anything."""

import json

import pytest

from triseek.harness.hooks import PAYLOAD_MAX, Action, action


def payload(**fields):
    return json.dumps({"session_id": "s", "cwd": "/work", **fields}).encode()


@pytest.mark.parametrize(
    ("tool", "field", "use"),
    [("Read", "file_path", "read"), ("Edit", "file_path", "edit"), ("Write", "file_path", "edit"),
     ("MultiEdit", "file_path", "edit"), ("NotebookEdit", "notebook_path", "edit")],
)  # fmt: skip
def test_a_file_that_was_read_or_edited_is_told(tool, field, use):
    given = payload(tool_name=tool, tool_input={field: "/work/a.py"})

    assert action(given, "/elsewhere") == Action(use, "/work/a.py")


def test_a_relative_path_counts_from_the_payloads_folder_or_from_where_the_hook_ran():
    given = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}}

    assert action(payload(**given), "/here").path == "/work/a.py"
    assert action(json.dumps(given).encode(), "/here").path == "/here/a.py"
    assert action(payload(**{**given, "cwd": "up/.."}), "/here").path == "/here/a.py"


@pytest.mark.parametrize(
    "given",
    [b"", b"{", b"[]", b"null", b"7", b"\xff\xfe", b"[" * 200_000, payload(),
     payload(tool_name="Bash", tool_input={"command": "ls"}), payload(tool_name="Read"),
     payload(tool_name="Read", tool_input=[]), payload(tool_name="Read", tool_input={}),
     payload(tool_name=["Read"], tool_input={"file_path": "a"}),
     payload(tool_name="Read", tool_input={"file_path": 7}),
     payload(tool_name="Read", tool_input={"file_path": "a\0b"}),
     payload(tool_name="Read", tool_input={"file_path": "a"}, x="y" * PAYLOAD_MAX)],
)  # fmt: skip
def test_what_is_not_understood_means_nothing(given):
    assert action(given, "/here") is None
