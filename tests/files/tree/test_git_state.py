"""What git says of a working tree, read field by field."""

from __future__ import annotations

import os
import subprocess

import pytest

from triseek.files.tree.git_state import dirty, identity, is_same


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
