"""Codex's payloads, where they are not as Claude Code's."""

from __future__ import annotations

import json
import subprocess

import pytest

from triseek.agents.base import InstallPlace
from triseek.agents.codex import AGENT
from triseek.agents.hooks import read

PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch\n"
)


def use(tool, given, response=None, call="call_1"):
    payload = {"session_id": "s", "turn_id": "t", "cwd": "/w", "tool_name": tool,
               "tool_use_id": call, "tool_input": given}  # fmt: skip
    if response is not None:
        payload["tool_response"] = response
    event = "PreToolUse" if response is None else "PostToolUse"
    found = read(json.dumps(payload).encode(), event=event, harness="codex", cwd="/here")
    assert found is not None
    return found.use


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("apply_patch", {"command": PATCH}),
        ("Bash", {"command": f"apply_patch <<'EOF'\n{PATCH}EOF"}),
        ("Bash", {"command": f"cd /w && apply_patch <<'EOF'\n{PATCH}EOF"}),
        ("Bash", {"command": ["apply_patch", PATCH]}),
        ("Bash", {"command": ["bash", "-lc", f"apply_patch '{PATCH}'"]}),
    ],
)
def test_a_patch_names_its_files_wherever_it_stands(tool, given):
    assert use(tool, given).edits == ("/w/a.py", "/w/b.py")


@pytest.mark.parametrize(
    "command",
    ["sed -n 2,3p a.py", ["sed", "-n", "2,3p", "a.py"], ["bash", "-lc", "sed -n 2,3p a.py"],
     ["/bin/zsh", "-lc", "sed -n 2,3p a.py"]],
)  # fmt: skip
def test_a_command_may_be_a_list_of_words(command):
    found = use("Bash", {"command": command})

    assert [(each.path, each.first, each.last) for each in found.reads] == [("/w/a.py", 2, 3)]
    assert found.only_reads


@pytest.mark.parametrize(
    "command", [["bash", "-x", "cat a"], [], [7], 7, None, {}, ["bash", "-c", "cat"]]
)
def test_a_command_that_is_not_understood_reads_nothing(command):
    found = use("Bash", {"command": command})

    assert (found.reads, found.only_reads, found.edits_unknown) == (
        (),
        False,
        command != ["bash", "-c", "cat"],
    )


@pytest.mark.parametrize(
    "head",
    [
        "",
        "Exit code: 0\nWall time: 0 seconds\nOutput:\n",
        (
            "Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 0\n"
            "Original token count: 2\nOutput:\n"
        ),
        "Command: /bin/zsh -lc ls\nChunk ID: 1a\nProcess exited with code 0\nOutput:\n",
        "Warning: truncated output (original token count: 9)\nTotal output lines: 2\n\n",
    ],
)
def test_what_stands_above_an_output_is_not_of_the_file(head):
    assert use("Bash", {"command": "cat a.py"}, f"{head}x\nOutput:\n").output == "x\nOutput:\n"


def test_a_use_by_a_program_shows_nothing_and_is_not_refused():
    found = use("Bash", {"command": "cat a.py"}, "x\n", call="exec-1")

    assert (found.output, found.only_reads, len(found.reads)) == (None, False, 1)


@pytest.mark.parametrize(
    ("named", "level", "is_read"),
    [
        ("main", "trusted", True), ("main", "untrusted", False), ("linked", "trusted", True),
        ("elsewhere", "trusted", False),
    ],
)  # fmt: skip
def test_a_project_is_read_where_its_folder_or_main_tree_is_trusted(
    tmp_path, named, level, is_read
):
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    for words in (
        ("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "one"),
        ("worktree", "add", "-q", str(linked)),
    ):  # fmt: skip
        author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *author, *words], cwd=main, check=True)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text(
        f"[projects.{json.dumps(str(tmp_path / named))}]\ntrust_level = {json.dumps(level)}\n"
    )

    distrust = AGENT.distrusts(InstallPlace("/t", str(tmp_path), str(linked), {}))

    assert (distrust is None) is is_read
    assert distrust is None or distrust.reason.endswith(f"does not trust {main}")


@pytest.mark.parametrize("text", ["", "projects = 1", "[projects", '[projects."/x"]'])
def test_settings_that_say_nothing_of_trust_are_no_trust(tmp_path, text):
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text(text)

    assert AGENT.distrusts(InstallPlace("/t", str(tmp_path), str(tmp_path), {}))
