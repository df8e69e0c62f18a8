"""Which repositories there are, and what they are called."""

from __future__ import annotations

import os

import pytest

from triseek import paths
from triseek.engine.repositories.roots import indexed_roots, inner_folders, named


def test_all_indexed_roots_are_listed_and_removed_ones_are_not(tree, tmp_path):
    one, two = tree("one", {"a": "x"}), tree("two", {"a": "x"})
    tree("three", {"a": "x"}, indexed=False)
    assert [(root.name, root.folder) for root in indexed_roots().roots] == [
        ("one", one), ("two", two),
    ]  # fmt: skip
    os.rename(two, tmp_path / "elsewhere")
    assert [root.name for root in indexed_roots().roots] == ["one"]


def test_an_index_that_does_not_tell_its_root_is_named(tree):
    tree("one", {"a": "x"})
    (name,) = os.listdir(paths.indexes())
    with open(os.path.join(paths.index_of(name), "CURRENT"), "wb") as file:
        file.write(b"garbage")
    indexed = indexed_roots()
    assert indexed.roots == ()
    assert name in indexed.broken[0]


def test_no_index_at_all(tmp_path):
    assert indexed_roots() == ((), ())


@pytest.mark.parametrize(
    ("remote", "name", "url"),
    [
        ("https://github.com/org/repo.git", "github.com/org/repo", "https://github.com/org/repo"),
        ("git@github.com:org/repo.git", "github.com/org/repo", "https://github.com/org/repo"),
        ("ssh://git@host.example:22/a/b", "host.example/a/b", "https://host.example/a/b"),
        (
            "https://user:secret@host.example/a/b.git",
            "host.example/a/b",
            "https://host.example/a/b",
        ),
        ("/srv/git/repo.git", "folder", ""),
        ("file:///srv/git/repo.git", "folder", ""),
        ("https://[broken/a", "folder", ""),
        ("https://host/" + "x" * 5000, "folder", ""),
        ("https://host/a\x1b[31m", "host/a?[31m", "https://host/a?[31m"),
    ],
)
def test_the_remote_names_a_repository(tree, remote, name, url):
    config = f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {remote}\n\tfetch = +refs/*\n'
    (root,) = named([tree("folder", {".git/config": config}, indexed=False)])
    assert (root.name, root.url) == (name, url)


def test_settings_of_zoekt_name_a_repository_and_set_its_flags(tree):
    config = '[Zoekt]\n name = "my/repo"\n archived = 1\n fork = 0\n[remote "o"]\n url = x\n'
    (root,) = named([tree("folder", {".git/config": config, ".git/HEAD": "0123"}, indexed=False)])
    assert (root.name, root.flags, root.branch) == ("my/repo", {"archived"}, "")


def test_equal_names_are_told_apart_and_stay_so(tree):
    folders = [tree(f"{parent}/app", {"a": "x"}, indexed=False) for parent in ("x", "y")]
    names = {root.folder: root.name for root in named(folders)}
    assert len(set(names.values())) == 2
    assert all(name.startswith("app~") for name in names.values())
    assert {root.folder: root.name for root in named(reversed(folders))} == names


def test_roots_inside_a_root_are_known_by_whole_folder_names(tree):
    folders = [tree(name, {"a": "x"}, indexed=False) for name in ("a", "a/b", "a/b/c", "ab", "a-b")]
    inner = inner_folders(named(folders))
    assert inner == {
        folders[0]: (b"b/", b"b/c/"), folders[1]: (b"c/",), **dict.fromkeys(folders[2:], ()),
    }  # fmt: skip


def test_a_configuration_that_is_a_pipe_does_not_block(tree):
    folder = tree("folder", {".git/x": ""}, indexed=False)
    os.mkfifo(f"{folder}/.git/config")
    assert named([folder])[0].name == "folder"
