"""Every command of the guide can be run as it is written, in order."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import triseek

if TYPE_CHECKING:
    from collections.abc import Iterator

GUIDE = Path(__file__).parents[3] / "docs/guides/memory.md"
SERVERS = ("triseek memory serve", "triseek ui", "triseek mcp serve", "curl")
"""Beginnings of commands that wait for a client: tests of their own run them."""
NAMED = "0f9c2d1a-0000-4000-8000-000000000001"
"""The drawer of which the guide speaks."""
NOTHING = {"triseek memory kg query checkout --as-of 2026-10-01"}
"""Commands that find nothing in a new memory."""


def commands() -> Iterator[str]:
    for block in re.findall(r"```console\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ ") and not line[2:].startswith(SERVERS):
                yield re.sub(r"\s+#\s.*", "", line[2:])


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a commit, whose palace has the drawer of which the guide speaks."""
    folder = tmp_path / "shop"
    for words in (
        ["init", "-q", str(folder)],
        ["-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q",
         "--allow-empty", "-m", "Charge in euros"],
    ):  # fmt: skip
        subprocess.run(["git", *words], check=True, capture_output=True)
    drawer = {"kind": "drawer", "drawer_id": NAMED, "content": "Staging is slow", "tags": ["ops"]}
    lines = [
        {"format": "triseek-memory", "version": 1},
        {"kind": "palace", "name": "shop", "root": str(folder)}, drawer,
    ]  # fmt: skip
    export = tmp_path / "named.jsonl"
    export.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert triseek(["memory", "import", str(export)], folder).status == 0
    return folder


def test_every_command_of_the_guide_runs(shop: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / "triseek"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m triseek "$@"\n')
    program.chmod(0o755)
    environ = {
        **os.environ, "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }  # fmt: skip
    count = 0
    for command in commands():
        if "|" in command:  # a shell runs it
            if "jq" in command and shutil.which("jq") is None:
                continue
            done = subprocess.run(
                ["sh", "-c", command], cwd=shop, env=environ, capture_output=True, check=False
            )
            status, err = done.returncode, done.stderr.decode()
        else:
            outcome = triseek(shlex.split(command)[1:], shop)
            status, err = outcome.status, outcome.err
        assert (status, err) == (int(command in NOTHING), ""), command
        count += 1
    assert count > 30


def test_the_guide_shows_every_command() -> None:
    done = triseek(["memory", "--help"], Path.cwd()).out.decode()
    verbs = re.findall(r"^  ([a-z]+)  ", done.partition("Commands:")[2], re.MULTILINE)
    text = GUIDE.read_text(encoding="utf-8")
    assert verbs
    assert [verb for verb in verbs if f"triseek memory {verb}" not in text] == []
