"""The tree's tables tell what may have changed without a walk."""

import os

import pytest

from tests.engine import answers
from triseek.index import build, tree
from triseek.index.reader import IndexReader
from triseek.kernels import fetch


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def built(tmp_path):
    """A root and the reader of its index."""
    root = tmp_path / "root"
    (root / ".git" / "info").mkdir(parents=True)
    answers.write(root, {"a": "x\n", "sub/b": "y\n", ".gitignore": "*.o\n", "c.o": "", ".hid": ""})
    build.build(str(root), tmp_path / "index")
    return root, IndexReader.open(tmp_path / "index")


def test_folders_and_what_was_left_out_are_stored(built):
    root, reader = built
    assert reader.directories.names("path").all() == [b"", b"sub"]
    mtimes = [os.stat(root / name).st_mtime_ns for name in ("", "sub")]
    assert reader.directories.numbers("mtime_ns").tolist() == mtimes
    excluded = reader.excluded
    rows = zip(
        excluded.names("path").all(),
        excluded.numbers("is_dir").tolist(),
        excluded.numbers("hidden").tolist(),
        strict=True,
    )
    assert list(rows) == [
        (b".git", True, True),
        (b".hid", False, True),
        (b"c.o", False, False),
    ]


@pytest.mark.parametrize(
    "path", [".gitignore", ".ignore", ".git/info/exclude", "../.rgignore", "../home/.gitconfig"]
)
def test_an_ignore_file_that_comes_or_changes_changes_the_rules(built, path):
    root, reader = built
    assert tree.changed_rules(reader.watched)[0] is False
    before = tree.rule_times(os.fsencode(root / path))
    (root / path).write_text("*.txt\n*.o\n")
    assert tree.rule_times(os.fsencode(root / path)) != before
    # A new ignore file inside the tree changes its folder's times instead.
    assert tree.changed_rules(reader.watched)[0] is (path != ".ignore")


def test_the_times_of_a_git_folder_do_not_matter_but_its_going_does(built):
    root, reader = built
    os.utime(root / ".git", ns=(1, 1))
    assert tree.changed_rules(reader.watched)[0] is False
    os.rename(root / ".git", root / "git")
    assert tree.changed_rules(reader.watched)[0] is True


def test_missing_files_have_no_times_and_missing_folders_are_not_closed(tmp_path):
    assert tree.times(os.fsencode(tmp_path / "gone"))[0] == -1
    assert not tree.is_closed(os.fsencode(tmp_path / "gone"))
    assert not tree.is_closed(os.fsencode(tmp_path))


@pytest.mark.parametrize("native", [True, False])
def test_the_stat_of_every_name_is_taken_without_following_links(tmp_path, monkeypatch, native):
    if not native:
        monkeypatch.setattr(fetch, "is_available", lambda: False)
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("a")
    names = [b"a", b"gone", b"link"]
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        rows = tree.stat_all(folder, names)
    finally:
        os.close(folder)
    status = os.stat(tmp_path / "a")
    assert rows[0, fetch.STAT_SIZE] == 5
    assert rows[0, fetch.STAT_MTIME] == status.st_mtime_ns
    assert rows[0, fetch.STAT_INODE] == status.st_ino
    assert not rows[1, fetch.STAT_OK]
    assert rows[2, fetch.STAT_INODE] != status.st_ino
