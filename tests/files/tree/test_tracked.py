"""The hidden files that git tracks, and the working trees below a root."""

from __future__ import annotations

import os
import subprocess

import pytest

from triseek.files.tree.tracked import hidden_files, worktrees_below


def git(root, *arguments):
    who = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path):
    root = tmp_path / "repo"
    for name in ("a.py", ".golangci.yml", ".github/ci.yml", "sub/.hidden/b.py", ".env", "x.y/c"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    git(root, "init", "-q")
    git(root, "add", "--", "a.py", ".golangci.yml", ".github", "sub", "x.y")
    git(root, "commit", "-qm", "one")
    return root


TRACKED = {b".golangci.yml", b".github/ci.yml", b"sub/.hidden/b.py"}


def test_hidden_files_that_git_tracks(repo):
    assert hidden_files(str(repo)) == TRACKED
    assert hidden_files(str(repo / "sub")) == {b".hidden/b.py"}


def test_outside_of_git_nothing_is_known(tmp_path):
    assert hidden_files(str(tmp_path)) is None
    assert worktrees_below(str(tmp_path)) == []


def test_a_change_of_gits_index_is_seen(repo):
    hidden_files(str(repo))
    git(repo, "add", "-f", ".env")
    assert hidden_files(str(repo)) == {*TRACKED, b".env"}
    git(repo, "rm", "-q", "--cached", ".env")
    assert hidden_files(str(repo)) == TRACKED


def test_a_repository_that_git_refuses_is_as_none(repo):
    (repo / ".git" / "index").write_bytes(b"no index")
    assert hidden_files(str(repo)) is None


def test_worktrees_below_a_root(repo, tmp_path):
    git(repo, "worktree", "add", "-q", ".claude/worktrees/feat", "-b", "feat")
    git(repo, "worktree", "add", "-q", str(tmp_path / "elsewhere"), "-b", "other")
    inner = os.fsencode(os.path.realpath(repo / ".claude/worktrees/feat"))

    assert worktrees_below(str(repo)) == [b".claude/worktrees/feat"]
    assert worktrees_below(str(repo / ".claude")) == [b"worktrees/feat"]
    assert worktrees_below(os.fsdecode(inner)) == []
    assert hidden_files(os.fsdecode(inner)) == TRACKED
    git(repo, "worktree", "remove", "--force", ".claude/worktrees/feat")
    assert worktrees_below(str(repo)) == []
