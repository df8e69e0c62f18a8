"""Members and hooks in any JSON text: put in, taken out, and not a byte else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.harness import jsonc
from triseek.harness.base import Refused, Traces
from triseek.harness.entries import JsonDefault, JsonMember, runs_triseek
from triseek.harness.hook_entries import HookItem, command, is_ours

SERVER = {"command": "/x/triseek", "args": ["mcp", "serve"]}
MEMBER = JsonMember("/f", ("mcpServers", "triseek"), SERVER)
HOOKS = [
    HookItem("/f", ("hooks", event), {"hooks": [{"command": command("/x/triseek", event, "c")}]})
    for event in ("PreToolUse", "Stop")
]
EDITS = [MEMBER, *HOOKS]

gaps = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", " /* c */ ", " // l\n", "\n// [{,\n  "])
scalars = st.sampled_from(["1", "-2.5e3", "true", "null", '"x"', '"a\\"//b"', '"é\\u00e9"'])


@st.composite
def texts(draw: st.DrawFn, depth: int = 3) -> str:
    """A value as text, with white space and comments anywhere, and trailing commas."""
    kind = draw(st.sampled_from(["scalar", "object", "array"])) if depth else "scalar"
    if kind == "scalar":
        return draw(scalars)
    return draw(containers(kind, depth))


@st.composite
def containers(draw: st.DrawFn, kind: str, depth: int) -> str:
    parts = []
    names = ("a", "b b", "mcpServers", "hooks") if depth == 3 else ("a", "é", "other")
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    for name in chosen:
        lead = ""
        value = draw(texts(depth - 1)) if name[0] in "abéo" else draw(containers("object", 1))
        if kind == "object":
            lead = json.dumps(name) + draw(gaps) + ":" + draw(gaps)
        parts.append(draw(gaps) + lead + value + draw(gaps))
    trailing = "," + draw(gaps) if parts and draw(st.booleans()) else ""
    inner = ",".join(parts) + trailing if parts else draw(gaps)
    return f"{{{inner}}}" if kind == "object" else f"[{inner}]"


@settings(derandomize=True, max_examples=100)
@given(st.sampled_from(["", "\ufeff"]), gaps, containers("object", 3), gaps)
def test_what_is_put_in_is_there_and_nothing_else_changes(bom, before, text, after):
    text = bom + before + text + after
    old = jsonc.parse(text)
    traces, new = Traces(), text
    for edit in EDITS:
        new = edit.apply(new, traces)
        assert edit.stands(new)

    told = json.loads(json.dumps(jsonc.parse(new).value))
    assert told["mcpServers"].pop("triseek") == SERVER
    for hook in HOOKS:
        assert told["hooks"][hook.keys[1]].pop() == hook.item
        if not told["hooks"][hook.keys[1]]:
            del told["hooks"][hook.keys[1]]
    for name in ("mcpServers", "hooks"):
        if name not in old.value:
            assert told.pop(name) == {}
    assert told == old.value
    for comment in ("/* c */", "// l", "// [{,"):
        assert new.count(comment) == text.count(comment)

    for edit in reversed(EDITS):
        new = edit.remove(new, traces)
    assert jsonc.parse(new).value == old.value
    if "/*" not in text and "//" not in text:
        assert new == text


@settings(derandomize=True, max_examples=100)
@given(st.text(alphabet='{}[]",:/*\n 1a\\\ufeff', max_size=25))
def test_anything_is_read_or_refused(text):
    try:
        new = MEMBER.apply(text, Traces())
    except Refused:
        return
    assert MEMBER.stands(new)


@settings(derandomize=True, max_examples=100)
@given(containers("object", 3))
def test_what_is_read_is_what_other_parsers_read(text):
    try:
        told = json.loads(text)
    except ValueError:
        return
    assert jsonc.parse(text).value == told


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "k": 1\n}'),
        ('{"a":1}', '{"a":1, "k": 1}'),
        ('{\n    "a": 1\n}', '{\n    "a": 1,\n    "k": 1\n}'),
        ('{\n\t"a": 1, // x\n}\n', '{\n\t"a": 1, // x\n\t"k": 1,\n}\n'),
        ('{\n  "a": 1 // x\n}\n', '{\n  "a": 1, // x\n  "k": 1\n}\n'),
        ('{"a": 1 // x\n}', '{"a": 1, "k": 1 // x\n}'),
        ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "k": 1\r\n}\r\n'),
        ("{ // none\n}", '{ // none\n  "k": 1\n}'),
        ("", '{\n  "k": 1\n}\n'),
    ],
)
def test_a_member_is_written_as_those_around_it(before, after):
    assert JsonMember("/f", ("k",), 1).apply(before, Traces()) == after


def test_a_hook_that_somebody_put_beside_ours_stays():
    ours, mine = HOOKS[0].item["hooks"][0], {"command": "mine"}
    text = json.dumps({"hooks": {"PreToolUse": [{"hooks": [ours, mine]}, {"hooks": [mine]}]}})

    left = json.loads(HOOKS[0].remove(text, Traces()))

    assert left == {"hooks": {"PreToolUse": [{"hooks": [mine]}, {"hooks": [mine]}]}}


def test_an_entry_of_ours_that_somebody_has_changed_is_still_ours():
    text = MEMBER.apply('{"n": 1}', Traces())
    changed = text.replace('"serve"', '"serve", "--repo", "/r"')

    assert json.loads(MEMBER.remove(changed, Traces())) == {"n": 1, "mcpServers": {}}


def test_an_entry_that_somebody_has_made_theirs_is_theirs():
    text = json.dumps({"mcpServers": {"triseek": {"command": "mine"}}})

    assert MEMBER.remove(text, Traces()) == text


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        ({"command": "triseek", "args": ["mcp", "serve"]}, True),
        ({"command": "C:\\py\\triseek.exe", "args": ["mcp", "serve"]}, True),
        ({"command": ["uvx", "triseek", "mcp", "serve"]}, True),
        ({"command": {"path": "/x/triseek", "args": ["mcp", "serve"]}}, True),
        ({"command": "python", "args": ["-m", "triseek", "mcp", "serve"]}, True),
        ({"command": "triseek-server", "args": ["mcp", "serve"]}, False),
        ({"command": "triseek", "args": ["search"]}, False),
        ({"url": "http://triseek/mcp"}, False),
        ({"command": 7, "args": "mcp serve"}, False),
        ([], False),
    ],
)
def test_an_entry_is_ours_by_what_it_starts(value, ours):
    assert runs_triseek(value) is ours


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        (command("/x/triseek", "Stop", "codex"), True),
        (command("/it's here/triseek", "Stop", "codex"), True),
        ("triseek memo-observe --event pre-tool-use", True),
        ('"C:\\x\\triseek.exe" hook Stop --harness pi', True),
        ("triseek hook Stop --harness", True),
        ("notify 'triseek hook is done'", False),
        ("triseek update", False),
        ("/x/not-a-seek hook Stop --harness pi", False),
    ],
)
def test_a_hook_is_ours_by_what_it_runs(said, ours):
    assert is_ours({"command": said}) is ours


def test_a_default_stays_with_those_who_need_it():
    default = JsonDefault("/f", ("version",), 1)
    ours, theirs = Traces(), Traces()
    made = default.apply(None, ours)
    added = default.apply('{"hooks": {}}', theirs)

    assert default.remove(made, ours) is None
    assert json.loads(default.remove('{"version": 1, "hooks": {"a": []}}', ours))["version"] == 1
    assert default.remove(added, theirs) == '{"hooks": {}}'
    assert default.apply('{"version": 2}', Traces()) == '{"version": 2}'
