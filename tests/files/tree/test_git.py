"""What git says about a tree, and nothing when it cannot say."""

import os
import subprocess

import pytest

from triseek.files.tree.git import ask, changed_since, dirty, head, identity, is_same


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


@pytest.fixture
def tree(tmp_path):
    def git(*words):
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=tmp_path, capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout

    git("init", "-q", "-b", "work")
    return tmp_path, git


@pytest.fixture
def committed(tree):
    folder, git = tree
    for name in ("first.py", "b c.py", "sub/d.py", "old.py", "é\n.py"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("one\ntwo\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    return folder, git


def test_before_the_first_commit_there_is_none(tree):
    folder, _ = tree
    (folder / "new.py").write_text("x\n")

    found = dirty(folder)
    assert (found.commit, found.branch, dict(found.files)) == ("", "work", {b"new.py": "??"})
    assert identity(folder) == ""


def test_every_path_keeps_its_first_letter_and_its_blanks(committed):
    folder, git = committed
    (folder / "first.py").write_text("one\n")
    (folder / "b c.py").write_text("one\ntwo\nthree\n")
    os.rename(folder / "old.py", folder / "renamed.py")
    (folder / "é\n.py").unlink()
    git("add", "b c.py")

    found = dirty(folder)
    assert found.commit == git("rev-parse", "HEAD").decode().strip() == identity(folder)
    assert found.branch == "work"
    assert dict(found.files) == {
        b"first.py": ".M",
        b"b c.py": "M.",
        b"old.py": ".D",
        b"renamed.py": "??",
        "é\n.py".encode(): ".D",
    }
    assert found.lines[b"first.py"] == 1
    assert found.lines[b"b c.py"] == 1


def test_in_a_folder_of_a_repository_paths_count_from_there(committed):
    folder, _ = committed
    (folder / "sub" / "d.py").write_text("")
    (folder / "first.py").write_text("")

    assert dict(dirty(folder / "sub").files) == {b"d.py": ".M"}


def test_with_no_branch_checked_out_it_has_no_name(committed):
    folder, git = committed
    git("checkout", "-q", "--detach")
    assert dirty(folder).branch == ""


def test_where_there_is_no_repository_nothing_is_known(tmp_path):
    assert dirty(tmp_path) is None
    assert identity(tmp_path) == ""


def test_a_clone_is_recognised_and_a_shallow_one_is_not_taken_for_another(
    committed, tmp_path_factory
):
    folder, git = committed
    (folder / "first.py").write_text("later\n")
    git("commit", "-qam", "later")
    place = tmp_path_factory.mktemp("clones")
    git("clone", "-q", str(folder), str(place / "whole"))
    git("clone", "-q", "--depth", "1", f"file://{folder}", str(place / "shallow"))

    assert is_same(identity(place / "whole"), identity(folder)) is True
    assert identity(place / "shallow") == ""
    assert is_same(identity(place / "shallow"), identity(folder)) is None


def test_one_first_commit_in_common_makes_one_repository():
    assert is_same("a b", "b c") is True
    assert is_same("a", "b") is False


def program(folder, name):
    """A program that copies its input and leaves a file, and that file."""
    left = folder / f"{name}.ran"
    path = folder / name
    path.write_text(f"#!/bin/sh\ntouch '{left}'\nexec cat\n")
    path.chmod(0o755)
    return path, left


@pytest.mark.parametrize("key", ["clean", "process"])
def test_no_filter_of_a_repository_runs(key, repo, tmp_path):
    path, left = program(tmp_path, "filter")
    commit = git(repo, "rev-parse", "HEAD")
    (repo / ".gitattributes").write_text("a filter=hostile\n")
    git(repo, "config", "filter.hostile.required", "true")
    git(repo, "config", f"filter.hostile.{key}", str(path))
    (repo / "a").write_text("2")

    state, changed = dirty(repo), changed_since(repo, commit)

    assert state is not None
    assert state.files == {b"a": ".M", b".gitattributes": "??"}
    assert state.lines == {b"a": 2}
    assert changed == [b".gitattributes", b"a"]
    assert not left.exists()


def test_a_filter_of_the_user_runs(repo, tmp_path):
    home = tmp_path / "nobody"
    home.mkdir()
    path, left = program(tmp_path, "filter")
    (home / ".gitconfig").write_text(f'[filter "own"]\n\tclean = {path}\n')
    (repo / ".gitattributes").write_text("a filter=own\n")
    (repo / "a").write_text("2")

    assert dirty(repo).files == {b"a": ".M", b".gitattributes": "??"}
    assert left.exists()


def test_a_filter_that_cannot_be_turned_off_is_no_answer(repo, tmp_path):
    path, left = program(tmp_path, "filter")
    (repo / ".gitattributes").write_text("a filter=x=y\n")
    git(repo, "config", "filter.x=y.clean", str(path))
    (repo / "a").write_text("2")

    assert dirty(repo) is None
    assert not left.exists()


def test_a_partial_clone_does_not_fetch(repo, tmp_path):
    path, left = program(tmp_path, "transport")
    for setting in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git(repo, "config", setting, "true")
    git(
        tmp_path, "clone", "-q", "--no-local", "--no-checkout", "--filter=blob:none",
        repo.as_uri(), "partial",
    )  # fmt: skip
    clone = tmp_path / "partial"
    git(clone, "config", "remote.origin.url", "ssh://example.invalid/repo")
    git(clone, "config", "core.sshCommand", str(path))

    assert ask(clone, "log", "-S1", "--format=%H") is None
    assert dirty(clone).lines == {}
    assert not left.exists()
