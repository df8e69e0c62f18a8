"""Members and hooks in any JSON text: put in, taken out, and not a byte else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.json_texts import containers, gaps
from triseek.agents.base import Refused, Traces
from triseek.agents.install import jsonc
from triseek.agents.install.entries import JsonMember
from triseek.agents.install.hook_entries import HookItem, command

SERVER = {"command": "/x/triseek", "args": ["mcp", "serve"]}
MEMBER = JsonMember("/f", ("mcpServers", "triseek"), SERVER)
HOOKS = [
    HookItem("/f", ("hooks", event), {"hooks": [{"command": command("/x/triseek", event, "c")}]})
    for event in ("PreToolUse", "Stop")
]
EDITS = [MEMBER, *HOOKS]


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
