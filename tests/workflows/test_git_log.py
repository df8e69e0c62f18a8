"""Commits of hostile repositories as scripts get them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from triseek.workflows.runtime import git_log

if TYPE_CHECKING:
    from pathlib import Path


def commit(root: Path, author: str, subject: str) -> None:
    who = ["-c", f"user.name={author}", "-c", "user.email=x@localhost"]
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / "a").write_text("needle")
    subprocess.run(["git", *who, "add", "a"], cwd=root, check=True)
    words = ["git", *who, "commit", "-q", "--cleanup=verbatim", "-F", "-"]
    subprocess.run(words, cwd=root, check=True, input=subject.encode())


def test_line_ends_of_other_kinds_hide_no_commit(tmp_path: Path) -> None:
    commit(tmp_path, "an\u2028na\x85b", "one\u2028two\x0bthree")

    [found] = git_log.log(str(tmp_path), "needle", "", 3)

    assert found["author"] == "an\u2028na\x85b"
    assert found["subject"] == "one\u2028two\x0bthree"


def test_a_huge_subject_is_cut(tmp_path: Path) -> None:
    commit(tmp_path, "anna", "x" * (4 << 20))

    [found] = git_log.log(str(tmp_path), "needle", "a", 3)

    assert found["subject"] == "x" * 498 + ".."
    assert found["author"] == "anna"
