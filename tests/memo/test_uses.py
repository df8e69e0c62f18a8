"""What the oracle takes for the truth is what a real shell prints."""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.memo.tree import Tree
from tests.memo.uses import Reader, shown

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = 200
pytestmark = pytest.mark.skipif(not shutil.which("sed"), reason="there is no sed here")


def test_commands_show_what_a_shell_shows(tmp_path: Path) -> None:
    rng = random.Random(3)
    tree = Tree(tmp_path / "tree", rng)
    reader = Reader(tree, rng)
    plain = 0
    while plain < COMMANDS:
        tree.happens()
        cwd = rng.choice((tree.root, tree.path("src")))
        use = reader.shell(tree.path(rng.choice(tree.names())), cwd)
        if not use.is_plain:
            continue
        plain += 1
        command = ["bash", "-c", use.command]
        done = subprocess.run(command, check=False, cwd=cwd, capture_output=True)
        expected = shown(use, tree)
        if use.style == "heads":  # which spell the names as the command does
            headless = [line for line in done.stdout.split(b"\n") if not line.startswith(b"==>")]
            for line in expected.lines:
                assert any(line.text.encode() in other for other in headless) or "�" in line.text
        elif use.command.startswith("nl "):  # which ends the last line
            assert done.stdout.removesuffix(b"\n") == expected.text.removesuffix(b"\n")
        else:
            assert done.stdout == expected.text, use.command
        if "|" not in use.command and ";" not in use.command:
            assert (done.returncode != 0) == expected.failed, use.command
