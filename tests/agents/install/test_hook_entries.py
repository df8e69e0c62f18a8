"""Lists of hooks: ours are known by what they run."""

from __future__ import annotations

import json

import pytest

from triseek.agents.base import Traces
from triseek.agents.install.hook_entries import HookItem, command, hook_items, is_ours

HOOKS = [
    HookItem("/f", ("hooks", event), {"hooks": [{"command": command("/x/triseek", event, "c")}]})
    for event in ("PreToolUse", "Stop")
]


def test_a_hook_that_somebody_put_beside_ours_stays():
    ours, mine = HOOKS[0].item["hooks"][0], {"command": "mine"}
    text = json.dumps({"hooks": {"PreToolUse": [{"hooks": [ours, mine]}, {"hooks": [mine]}]}})

    left = json.loads(HOOKS[0].remove(text, Traces()))

    assert left == {"hooks": {"PreToolUse": [{"hooks": [mine]}, {"hooks": [mine]}]}}


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


def test_each_event_gets_a_group_with_a_pattern_or_for_all_tools():
    timeouts = {"Stop": 3, "PreToolUse": 5}
    stop, before = hook_items(
        "/f", "json", "/t", "pi", timeouts, {"Stop": "", "PreToolUse": "Read"}
    )

    hook = {"type": "command", "command": command("/t", "Stop", "pi"), "timeout": 3}
    assert stop == HookItem("/f", ("hooks", "Stop"), {"hooks": [hook]}, "json")
    assert list(before.item) == ["matcher", "hooks"]
    assert before.item["hooks"][0]["timeout"] == 5
    [named] = hook_items("/f", "json", "/t", "pi", timeouts, {"Stop": ""}, name="n")
    assert list(named.item["hooks"][0]) == ["type", "name", "command", "timeout"]
