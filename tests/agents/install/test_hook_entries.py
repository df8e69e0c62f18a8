"""Lists of hooks: ours are known by what they run."""

from __future__ import annotations

import json
import shutil
import subprocess

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
        ("'/y/triseek' hook Stop --harness codex", True),  # as it was written before
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


SHELLS = [name for name in ("sh", "bash", "zsh", "fish", "ksh") if shutil.which(name)]


def run(shell, line, stdin=b"payload"):
    return subprocess.run([shell, "-c", line], input=stdin, capture_output=True, check=False)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("folder", ["plain", "it's here"])
def test_where_triseek_is_gone_a_hook_is_silent_and_succeeds(tmp_path, shell, folder):
    place = tmp_path / folder
    place.mkdir()
    link = place / "triseek"
    line = command(str(link), "PreToolUse", "codex")

    done = [run(shell, line, b"x" * 1_000_000)]  # an agent may mind an input that is not read
    link.symlink_to(place / "removed")
    done.append(run(shell, line))

    assert [(each.returncode, each.stdout, each.stderr) for each in done] == [(0, b"", b"")] * 2


@pytest.mark.parametrize("shell", SHELLS)
def test_where_it_is_there_it_takes_the_place_of_the_shell(tmp_path, shell):
    program = tmp_path / "triseek"
    program.write_text('#!/bin/sh\necho "$$ $@"; cat; exit 3\n')
    program.chmod(0o755)

    own_pid = "$fish_pid" if shell == "fish" else "$$"
    done = run(shell, f"echo {own_pid}; {command(str(program), 'PreToolUse', 'codex')}")

    pid, said, payload = done.stdout.decode().split("\n")
    assert (done.returncode, done.stderr, payload) == (3, b"", "payload")
    assert said == f"{pid} hook PreToolUse --harness codex"


def test_a_hook_as_it_was_written_before_is_replaced_and_removed_without_a_trace():
    text = '{\n  "hooks": {\n    "Stop": [{"hooks": [{"command": "mine"}]}]\n  }\n}\n'
    before = HookItem(
        "/f", ("hooks", "Stop"), {"hooks": [{"command": "'/x/triseek' hook Stop --harness c"}]}
    )
    traces = Traces()
    old = before.apply(text, traces)
    assert not HOOKS[1].stands(old)

    new = HOOKS[1].apply(old, traces)

    assert [each["hooks"] for each in json.loads(new)["hooks"]["Stop"]] == [
        [{"command": "mine"}],
        HOOKS[1].item["hooks"],
    ]
    assert HOOKS[1].remove(new, traces) == text == HOOKS[1].remove(old, traces)
