"""What an agent means is taken; what cannot be told is refused by name."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.app import arguments
from triseek.app.arguments import ITEMS_MAX, TEXT_MAX
from triseek.app.registry import TOOLS
from triseek.errors import InvalidQuery
from triseek.sessions.requests import PinnedLines

VERB = {verb.name: verb for verb in TOOLS}


def read(given_arguments, tool="search_content"):
    return arguments.read(VERB[tool], given_arguments)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ({"limit": 20.0}, {"limit": 20}),
        ({"limit": "7"}, {"limit": 7}),
        ({"limit": " 7 "}, {"limit": 7}),
        ({"limit": "20.0"}, {"limit": 20}),
        ({"limit": -3}, {"limit": -3}),
        ({"max_results": 5}, {"limit": 5}),
        ({"head_limit": 5, "limit": 5}, {"limit": 5}),
        ({"limit": None}, {"limit": 20}),
        ({"-C": 2}, {"context": 2}),
        ({"-A": 1, "-B": 3}, {"context": 3}),
        ({"-n": True}, {}),
        ({"-i": True}, {"case": "insensitive"}),
        ({"case_sensitive": "false"}, {"case": "insensitive"}),
        ({"case": "ignore"}, {"case": "insensitive"}),
        ({"-w": "true"}, {"word": True}),
        ({"force_refresh": "false"}, {"force_refresh": False}),
        ({"regex": True}, {"mode": "regex"}),
        ({"regex": "true"}, {"mode": "regex"}),
        ({"regex": False}, {"mode": "literal"}),
        ({"output_mode": "files_with_matches"}, {"output_mode": "files"}),
        ({"include": "*.py"}, {"glob": "*.py"}),
        ({"glob": ["*.py", "*.c"]}, {"glob": "*.py *.c"}),
        ({"glob": '["*.py", "*.c"]'}, {"glob": "*.py *.c"}),
        ({"glob": "[ab]*.py"}, {"glob": "[ab]*.py"}),
        ({"type": ["py", "rust"]}, {"type": "py rust"}),
        ({"patterns": ["b", "c"]}, {"patterns": ("b", "c")}),
        ({"patterns": '["b", "c"]'}, {"patterns": ("b", "c")}),
        ({"patterns": '["b'}, {"patterns": ('["b',)}),
        ({"patterns": "b"}, {"patterns": ("b",)}),
    ],
    ids=str,
)
def test_what_is_meant_beyond_doubt_is_taken(asked, meant):
    assert read({"query": "a", **asked}) == read({"query": "a", **meant})


@pytest.mark.parametrize(
    ("tool", "asked", "meant"),
    [
        ("search_content", {"pattern": "a"}, {"query": "a"}),
        ("search_content", {"regex": "a.b"}, {"query": "a.b", "mode": "regex"}),
        ("search_content", {"patterns": ["a", "b"]}, {"query": "a", "patterns": ["b"]}),
        ("search_content", {"query": ["a", "b"]}, {"query": "a", "patterns": ["b"]}),
        ("search_path_and_content", {"glob": "*.c", "query": "a"},
         {"path_query": "*.c", "content_query": "a"}),
        ("search_path_and_content", {"include": ["*.c", "*.h"], "regex": "a|b"},
         {"path_query": "*.c *.h", "content_query": "a|b", "mode": "regex"}),
        ("find_files", {"pattern": "*.rs"}, {"query": "*.rs"}),
        ("find_files", {"query": ["router", "auth"]}, {"query": "router auth"}),
        ("index_status", None, {}),
    ],
    ids=str,
)  # fmt: skip
def test_other_tools_names_are_known(tool, asked, meant):
    assert read(asked, tool) == read(meant, tool)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "query: Field required"),
        ({"query": None}, "query: Field required"),
        ({"query": 5}, "query: "),
        ({"query": {"a": 1}}, "query: "),
        ({"query": "a", "limit": 20.5}, "limit: "),
        ({"query": "a", "limit": True}, "limit: "),
        ({"query": "a", "limit": "--5"}, "limit: "),
        ({"query": "a", "limit": "²"}, "limit: "),
        ({"query": "a", "limit": "9" * 5_000}, "limit: "),
        ({"query": "a", "limit": [1]}, "limit: "),
        ({"query": "a", "limit": float("nan")}, "limit: "),
        ({"query": "a", "mode": "fuzzy"}, "mode: "),
        ({"query": "a", "force_refresh": "maybe"}, "force_refresh: "),
        ({"query": "a", "patterns": [1]}, "patterns.0: "),
        ({"query": "a", "patterns": {"a": 1}}, "patterns: "),
        ({"query": "a", "limt": 5}, "did you mean 'limit'?"),
        ({"query": "a", "x" * 500: 5}, "no argument 'xxx"),
        ({"query": "a", "__class__": 5}, "no argument '__class__'"),
        ({"query": "a", "limit": 1, "max_results": 2}, "limit and max_results are both limit"),
        ({"query": "a", "regex": "b"}, "query and regex are both query"),
        ({"query": "a", "-i": True, "case": "sensitive"}, "both case"),
        ({"query": "\ud800"}, "query holds half of a surrogate pair"),
        ({"query": "a", "patterns": ["\udfff"]}, "patterns holds half"),
        ({"query": "a" * (TEXT_MAX + 1)}, "65,537 characters"),
        ({"query": "a" * (1 << 20)}, "1,048,576 characters"),
        ({"query": "a", "patterns": ["a" * TEXT_MAX, "b"]}, "65,537 characters"),
        ({"query": "a", "patterns": ["a"] * (ITEMS_MAX + 1)}, "1,001 items"),
        ({"query": "a", "patterns": "[" * TEXT_MAX + "]"}, "65,537 characters"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_cannot_be_told_is_refused_by_name(asked, said):
    with pytest.raises(InvalidQuery) as error:
        read(asked)

    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_a_tool_without_arguments_says_so():
    with pytest.raises(InvalidQuery, match="it has none"):
        read({"repo": "/"}, "index_status")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["query", "limit", "patterns", "glob", "case", "regex", "-A", "-i", "path", "type", "context"]
) | st.text(max_size=12)


@pytest.mark.parametrize("tool", VERB)
@given(asked=st.dictionaries(NAMES, JSON, max_size=5))
def test_whatever_is_passed_there_is_a_request_or_one_clear_error(tool, asked):
    try:
        meant = read(asked, tool)
    except InvalidQuery as error:
        meant = error

    assert isinstance(meant, (VERB[tool].request, InvalidQuery))
    assert hash(meant)
    assert "\n" not in str(meant) or not isinstance(meant, InvalidQuery)


@pytest.mark.parametrize(
    ("tool", "asked", "meant"),
    [
        ("session_open", {"task": "mend"}, {"goal": "mend"}),
        ("session_open", {"sessionId": "a", "objective": "b"}, {"session_id": "a", "goal": "b"}),
        ("session_status", {"id": "a"}, {"session_id": "a"}),
        ("session_list", {"status": None}, {"status": "all"}),
        ("session_list", {"state": "active"}, {"status": "open"}),
        ("session_close", {"status": "done"}, {"status": "resolved"}),
        ("session_close", {"status": "abandon", "session": "a"},
         {"status": "abandoned", "session_id": "a"}),
        ("session_snapshot", {"harness": "codex", "model": "m"},
         {"source_harness": "codex", "source_model": "m"}),
        ("session_handoff", {"pack": "a.tcp"}, {"output": "a.tcp"}),
        ("session_snapshot_get", {"id": "s"}, {"snapshot_id": "s"}),
        ("session_snapshot_get", {"snapshot": "s"}, {"snapshot_id": "s"}),
        ("session_snapshot_diff", {"from": "a", "to": "b"}, {"snapshot_a": "a", "snapshot_b": "b"}),
        ("session_resume", {"snapshotId": "s", "max_tokens": "500"},
         {"snapshot_id": "s", "budget_tokens": 500}),
    ],
    ids=str,
)  # fmt: skip
def test_what_agents_call_the_arguments_of_sessions(tool, asked, meant):
    assert read(asked, tool) == read(meant, tool)


@pytest.mark.parametrize(
    "pin",
    [
        {"path": "src/a.rs", "line_start": 4, "line_end": 8},
        {"path": "src/a.rs", "line_start": "4", "line_end": 8.0},
        {"file": "src/a.rs", "start": 4, "end": 8},
        {"file_path": "src/a.rs", "startLine": 4, "endLine": 8},
        {"path": "src/a.rs", "start_line": 4, "end_line": 8},
        "src/a.rs:4-8",
        "src/a.rs#L4-L8",
    ],
    ids=str,
)
def test_lines_to_pin_are_taken_however_they_are_told(pin):
    meant = PinnedLines(path="src/a.rs", line_start=4, line_end=8)

    for given_pins in ([pin], json.dumps([pin]), pin):
        asked = read({"pins": given_pins}, "session_snapshot")
        assert asked.pinned_snippet_paths == (meant,)


def test_one_line_is_pinned_by_its_number():
    [pin] = read({"pins": ["a:b.rs:7"]}, "session_snapshot").pinned_snippet_paths

    assert pin == PinnedLines(path="a:b.rs", line_start=7, line_end=7)


@pytest.mark.parametrize(
    ("tool", "asked", "said"),
    [
        ("session_close", {}, "status"),
        ("session_close", {"status": "closed"}, "status"),
        ("session_list", {"status": "closed"}, "status"),
        ("session_resume", {}, "snapshot_id"),
        ("session_resume", {"session_id": "s"}, "session_id"),
        ("session_resume", {"snapshot_id": "s", "budget_tokens": "all"}, "budget_tokens"),
        ("session_snapshot_diff", {"a": "x"}, "snapshot_b"),
        ("session_snapshot", {"pins": ["src/a.rs"]}, "pinned_snippet_paths.0"),
        ("session_snapshot", {"pins": [{"path": "a"}]}, "line_start"),
        ("session_snapshot", {"pins": [{"path": "a", "file": "b", "start": 1, "end": 2}]}, "file"),
        ("session_snapshot", {"pins": [{"path": "a", "line_start": 1, "line_end": 2, "x": 1}]},
         "x"),
        ("session_snapshot", {"pins": 5}, "pinned_snippet_paths"),
        ("session_snapshot", {"pins": [[[1]]]}, "pinned_snippet_paths.0"),
        ("session_snapshot", {"pins": [{"path": "\ud800", "start": 1, "end": 2}]}, "surrogate"),
        ("session_snapshot", {"pins": [{"path": "x" * TEXT_MAX, "\ud800": 1}]}, "characters"),
        ("session_snapshot", {"pins": ["a:1"] * (ITEMS_MAX + 1)}, "items"),
        ("session_open", {"goal": "x" * (TEXT_MAX + 1)}, "characters"),
        ("session_status", {"id": "a", "session_id": "b"}, "both"),
        ("session_list", {"id": "a"}, "no argument 'id'"),
    ],
    ids=lambda case: str(case)[:60],
)  # fmt: skip
def test_what_a_session_tool_cannot_take_is_refused_by_name(tool, asked, said):
    with pytest.raises(InvalidQuery, match=re.escape(said)):
        read(asked, tool)


@pytest.mark.parametrize("args", ['{"names": ["a"]}', {"names": ["a"]}])
def test_an_object_may_come_as_text(args):
    tool = next(tool for tool in TOOLS if tool.name == "run_custom_workflow_code")

    assert arguments.read(tool, {"code": "x", "args": args}).args == {"names": ["a"]}
    for wrong in ("[1]", "{", 1, None):
        read = {"code": "x", "args": wrong}
        if wrong is None:
            assert arguments.read(tool, read).args == {}
        else:
            with pytest.raises(InvalidQuery, match="args: "):
                arguments.read(tool, read)
