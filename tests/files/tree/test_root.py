"""Every spelling of a folder is one root, with one key."""

import os
import re

import pytest

from triseek.errors import RepoNotDetected
from triseek.files.tree.root import git_root, key, resolve


def test_relative_dotted_and_linked_spellings_are_one_root(tmp_path, monkeypatch):
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    os.symlink("repo", tmp_path / "link")
    monkeypatch.chdir(tmp_path)
    root = resolve(tmp_path / "repo")
    assert root.path == str(tmp_path / "repo")
    assert {resolve(name) for name in ("repo", "./repo/", "repo/sub/..", "link")} == {root}
    assert resolve("repo/sub").key != root.key


@pytest.mark.parametrize(
    ("path", "slug"),
    [
        (b"/x/My Repo_2!", "my-repo-2"),
        (b"/x/--a--", "a"),
        ("/x/é".encode(), ""),
        (b"/", "root"),
        (b"/x/\xff", ""),
    ],
)
def test_a_key_is_a_slug_and_sixteen_hex_digits(path, slug):
    assert re.fullmatch(re.escape(slug) + "-[0-9a-f]{16}", key(path))


def test_keys_are_told_apart_by_the_whole_path():
    assert key(b"/a/x") != key(b"/b/x")
    # The hash of the path's bytes, so that every process and version agrees.
    assert key(b"/a/x") == "x-43dcbd4c8b4393c6"


def test_a_name_that_is_not_utf8_works(tmp_path):
    raw = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(raw)
    root = resolve(raw)
    assert os.fsencode(root.path) == raw
    assert resolve(root.path) == root


def test_what_is_no_folder_is_named(tmp_path):
    (tmp_path / "file").touch()
    for name in ("gone", "file", "bad\0name"):
        with pytest.raises(RepoNotDetected, match=name[:3]):
            resolve(f"{tmp_path}/{name}")


def test_the_git_root_is_the_nearest_folder_with_git(tmp_path):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / ".git").mkdir()
    (tmp_path / "a" / "b" / ".git").touch()  # a worktree or submodule
    assert git_root(tmp_path / "a" / "b" / "c") == str(tmp_path / "a" / "b")
    assert git_root(tmp_path / "a") == str(tmp_path / "a")
    assert git_root("/") is None
