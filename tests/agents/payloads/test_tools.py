"""Uses of tools, by name and input."""

from __future__ import annotations

import pytest

from triseek.agents.payloads import tools
from triseek.agents.payloads.fields import Fields
from triseek.model.hook_event import FileRead, ToolUse


def lines(path: str, first: int = 1, last: int | None = None) -> FileRead:
    return FileRead(path=path, first=first, last=last)


def test_a_read_is_counted_or_between_two_lines():
    given = Fields({"file_path": "a.py", "offset": "3", "limit": 4})

    assert tools.counted(given, "/r") == lines("/r/a.py", 3, 6)
    assert tools.counted(Fields({"path": "/a"}), "/r", usual=10) == lines("/a", 1, 10)
    assert tools.counted(given, "/r", most=2) == lines("/r/a.py", 3, 4)
    assert tools.between(Fields({"path": "a", "start_line": 2, "endLine": 5}), "/r") == lines(
        "/r/a", 2, 5
    )


def test_a_read_of_no_file_or_no_lines_is_none():
    assert tools.native_read("read", lines("")) == ToolUse(name="read")
    assert tools.native_read("read", lines("/a", 5, 4)) == ToolUse(name="read")
    use = tools.native_read("read", lines("/a", 5, 6))
    assert use.reads == (FileRead(path="/a", first=5, last=6),)
    assert use.only_reads


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n", ("/r/a.py", "/r/b.py")),
        ("--- a/x.py\n+++ b/x.py\n", ("/r/x.py",)),
        ("--- /dev/null\n+++ b/new.py\n", ("/r/new.py",)),
        ("nonsense", ()),
    ],
)
def test_a_patch_names_its_files(text, edits):
    use = tools.patch("apply_patch", text, "/r")

    assert (use.edits, use.edits_unknown) == (edits, not edits)


def test_numbers_before_lines_are_taken_off():
    assert tools.unnumbered("     1\tone\n    12→two") == "one\ntwo"
    assert tools.numbered("3: a\n4: b\nend", 3, ": ") == "a\nb"


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("ls", "ls"), (["bash", "-lc", "ls"], "ls"), (["ls", "-l"], ["ls", "-l"]),
        (["bash", "-x", "ls"], None), ([1], None), (None, None),
    ],
)  # fmt: skip
def test_a_shells_script_is_unpacked(command, script):
    assert tools.script(command) == script


def test_our_own_tools_are_known_in_any_form():
    assert tools.is_ours("mcp__triseek__read_file")
    assert tools.is_mcp("triseek_search_content")
    assert not tools.is_mcp("read")
    assert tools.mcp("mcp__other__do", Fields(), "/r").edits_unknown
    assert not tools.mcp("mcp__triseek__search", Fields(), "/r").edits_unknown
