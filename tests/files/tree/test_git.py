"""What git says about a tree, and nothing when it cannot say."""

import os
import subprocess

import pytest

from triseek.files.tree.git import changed_since, head


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "trunk")
    (root / ".gitignore").write_text("*.o\n")
    (root / "a").write_text("1")
    (root / "sub").mkdir()
    (root / "sub" / "b").write_text("1")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    return root


def git(root, *arguments):
    who = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
    done = subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)
    return done.stdout.decode().strip()


def test_the_head_is_the_commit_and_its_branch(repo):
    commit = git(repo, "rev-parse", "HEAD")
    assert head(repo) == (commit, "trunk")
    git(repo, "checkout", "-q", "--detach")
    assert head(repo) == (commit, "")


def test_a_repository_without_commits_has_a_branch_only(tmp_path, repo):
    git(tmp_path, "init", "-q", "-b", "empty", "new")
    assert head(tmp_path / "new") == ("", "empty")


def test_changed_paths_are_edits_deletions_and_new_files_but_not_ignored_ones(repo):
    commit = git(repo, "rev-parse", "HEAD")
    assert changed_since(repo, commit) == []
    (repo / "a").write_text("22")
    (repo / "sub" / "b").unlink()
    (repo / "sub" / "new é").write_text("")
    (repo / "x.o").write_text("")
    assert changed_since(repo, commit) == [b"a", b"sub/b", "sub/new é".encode()]
    assert changed_since(repo / "sub", commit) == [b"b", "new é".encode()]
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "two")
    assert changed_since(repo, commit) == [b"a", b"sub/b", "sub/new é".encode()]


@pytest.mark.parametrize("commit", ["", "HEAD", "--output=x", "0" * 40])
def test_an_unknown_commit_is_no_answer(commit, repo):
    assert changed_since(repo, commit) is None
    assert not (repo / "x").exists()


def test_outside_of_repositories_and_without_git_there_is_no_answer(tmp_path, repo, monkeypatch):
    (tmp_path / "plain").mkdir()
    assert head(tmp_path / "plain") is None
    assert head(tmp_path / "gone") is None
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert head(repo) is None
    assert changed_since(repo, "0" * 40) is None


def test_nothing_a_repository_configures_is_run(repo, tmp_path):
    commit = git(repo, "rev-parse", "HEAD")
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(script))
    git(repo, "config", "diff.external", str(script))
    (repo / "a").write_text("33")
    assert changed_since(repo, commit) == [b"a"]
    assert head(repo) is not None
    assert not (tmp_path / "ran").exists()
