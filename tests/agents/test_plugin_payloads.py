"""What our plugins for OpenCode and Pi tell, around those agents' own tools."""

from __future__ import annotations

import json

import pytest

from triseek.agents.hooks import read
from triseek.model.hook_event import FileRead

OPENCODE = (
    "<path>/w/b.py</path>\n<type>file</type>\n<content>\n2: b = 2\n3: \n4: 4: d\n\n"
    "(Showing lines 2-4 of 10. Use offset=5 to continue.)\n</content>"
)


def told(harness, tool, given, response=None, **fields):
    payload = {
        "session_id": "s", "hook_event_name": "PreToolUse" if response is None else "PostToolUse",
        "cwd": "/w", "tool_name": tool, "tool_use_id": "c", "tool_input": given, **fields,
    }  # fmt: skip
    if response is not None:
        payload["tool_response"] = response
    found = read(json.dumps(payload).encode(), event="", harness=harness, cwd="/here")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("harness", "given", "first", "last"),
    [
        ("opencode", {"filePath": "/w/b.py"}, 1, 2000),
        ("opencode", {"filePath": "/w/b.py", "offset": 2, "limit": 3}, 2, 4),
        ("opencode", {"filePath": "/w/b.py", "limit": 5000}, 1, 5000),
        ("pi", {"path": "b.py"}, 1, 2000),
        ("pi", {"path": "b.py", "offset": 11}, 11, 2010),
        ("pi", {"path": "b.py", "limit": 5000}, 1, 2000),
    ],
)
def test_a_read_shows_as_many_lines_as_its_agent_allows(harness, given, first, last):
    use = told(harness, "read", given).use

    assert use.reads == (FileRead(path="/w/b.py", first=first, last=last),)
    assert use.only_reads


@pytest.mark.parametrize(
    ("harness", "tool", "given", "room"),
    [
        ("claude-code", "Read", {"file_path": "/w/b.py"}, 60_000),
        ("claude-code", "Bash", {"command": "cat b.py"}, 28_000),
        ("codex", "Bash", {"command": "cat b.py"}, 28_000),
        ("opencode", "read", {"filePath": "/w/b.py"}, 50_000),
        ("opencode", "bash", {"command": "cat b.py"}, 50_000),
        ("pi", "read", {"path": "b.py"}, 50_000),
        ("pi", "bash", {"command": "cat b.py"}, 50_000),
    ],
)
def test_each_tool_has_room_for_so_many_bytes(harness, tool, given, room):
    use = told(harness, tool, given).use

    assert [read.path for read in use.reads] == ["/w/b.py"]
    assert use.room.bytes == room


@pytest.mark.parametrize("harness", ["opencode", "pi"])
def test_a_read_of_no_lines_is_none(harness):
    assert told(harness, "read", {"path": "b.py", "limit": 0}).use.reads == ()


def test_opencodes_lines_stand_after_their_numbers():
    shown = told("opencode", "read", {"filePath": "b.py", "offset": 2, "limit": 3}, OPENCODE).use

    assert shown.output == "b = 2\n\n4: d"
    assert (
        told("opencode", "read", {"filePath": "b.py"}, "Image read successfully").use.output is None
    )


def test_pis_lines_stand_as_they_are():
    text = "b = 2\n\n[7 more lines in file. Use offset=5 to continue.]"
    shown = told("pi", "read", {"path": "b.py"}, [{"type": "text", "text": text}])

    assert shown.use.output == text
    assert (
        told("pi", "read", {"path": "b.py"}, [{"type": "image", "data": "eA=="}]).use.output is None
    )


def test_a_use_whose_output_the_model_did_not_see_shows_nothing():
    found = told("pi", "read", {"path": "b.py"}, hook_event_name="PostToolUse")

    assert (found.moment, found.use.output) == ("after", None)


@pytest.mark.parametrize("harness", ["opencode", "pi"])
def test_what_is_in_view_is_told(harness):
    assert told(harness, "read", {"path": "b.py"}, in_view=["a", "b"]).in_view == {"a", "b"}
    assert told(harness, "read", {"path": "b.py"}, in_view=["a", 7]).in_view is None
    assert told(harness, "read", {"path": "b.py"}).in_view is None


@pytest.mark.parametrize(
    ("harness", "tool", "given", "edits"),
    [
        ("opencode", "edit", {"filePath": "b.py"}, ("/w/b.py",)),
        ("opencode", "write", {"filePath": "/x/b.py"}, ("/x/b.py",)),
        ("opencode", "apply_patch",
         {"patchText": "*** Begin Patch\n*** Update File: b.py\n*** Move to: c.py\n*** End Patch"},
         ("/w/b.py", "/w/c.py")),
        ("opencode", "bash", {"command": "echo x > d.py", "workdir": "sub"}, ("/w/sub/d.py",)),
        ("pi", "edit", {"path": "b.py", "edits": []}, ("/w/b.py",)),
        ("pi", "write", {"path": "b.py", "content": ""}, ("/w/b.py",)),
        ("pi", "bash", {"command": "echo x > d.py"}, ("/w/d.py",)),
    ],
)  # fmt: skip
def test_edits_are_told(harness, tool, given, edits):
    assert told(harness, tool, given, "done").use.edits == edits


@pytest.mark.parametrize(("harness", "query"), [("opencode", "pattern"), ("pi", "pattern")])
def test_searches_are_told(harness, query):
    use = told(harness, "grep", {query: "x+"}, "a:1:xx").use

    assert (use.search, use.edits_unknown) == ("x+", False)


@pytest.mark.parametrize(
    ("harness", "tool"), [("opencode", "triseek_memo_check"), ("pi", "mcp__triseek__memo_check")]
)
def test_our_own_tools_write_nothing(harness, tool):
    use = told(harness, tool, {"path": "b.py"}).use

    assert (use.name, use.call, use.reads, use.edits_unknown) == (tool, "c", (), False)


def test_a_conversation_that_lost_messages_has_changed():
    assert told("opencode", "", {}, hook_event_name="ContextChanged").moment == "changed"


def test_a_patch_may_be_a_unified_diff():
    patch = "--- a/b.py\t2026\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/new.py\n"

    assert told("opencode", "patch", {"patch": patch}).use.edits == ("/w/b.py", "/w/new.py")
