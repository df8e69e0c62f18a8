"""Whatever the umask, nobody else may read what work leaves in the state folder."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.conftest import plant
from tests.e2e.hooking import Hooks
from tests.e2e.living import Living

pytestmark = pytest.mark.long

OTHERS = stat.S_IRWXG | stat.S_IRWXO


@pytest.fixture
def living(tmp_path):
    before = os.umask(0)
    try:
        with Living(tmp_path / "state") as living:
            yield living
    finally:
        os.umask(before)


def test_what_work_leaves_is_its_owners_alone(living, tmp_path):
    root = tmp_path / "repo"
    plant(root, {f"src/f{number}.py": f"needle = {number}\n" for number in range(20)})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)

    run(living, root, "build")
    run(living, root, "-n", "needle")
    living.start()
    living.wait_watched(root)
    run(living, root, "session", "open", "look", "around")
    run(living, root, "-n", "needle")
    Hooks(Path(living.home), root, "mine").read("src/f1.py")
    run(living, root, "frecency-select", "src/f2.py")
    plant(root, {"src/new.py": "needle\n"})
    run(living, root, "update")
    run(living, root, "-n", "needle")
    run(living, root, "snapshot", "create")
    run(living, root, "handoff", "claude-code")
    check(living)
    run(living, root, "daemon", "stop")

    names = check(living)
    assert {"CURRENT", "files.arrow", "frecency.json", "journal.json", "daemon.log"} <= names
    assert {"action_log.jsonl", "manifest.json"} <= names


def run(living, root, *words):
    said = living.run(*words, cwd=root)
    assert said.status == 0, said


def check(living):
    """Names of all that is there; only its owner has a right to any of it."""
    names, wrong = set(), []
    for path in (Path(living.home), *Path(living.home).rglob("*")):
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:  # a daemon makes and removes files meanwhile
            continue
        names.add(path.name)
        if mode & OTHERS and not stat.S_ISLNK(mode):
            wrong.append((str(path), stat.filemode(mode)))
    assert wrong == []
    return names
