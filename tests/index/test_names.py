"""Paths as one blob, their stats, and files opened below a folder."""

import os

import pytest

from triseek.index.names import NameTable, open_below, stat_all
from triseek.kernels import fetch


def test_any_path_can_be_opened_below_a_folder(tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"text")
    for path in (b"a/b", b"a/" * 1 + b"./" * 2500 + b"b"):
        with open(open_below(folder, path), "rb") as file:
            assert file.read() == b"text"
    with pytest.raises(FileNotFoundError):
        open_below(folder, b"./" * 3000 + b"gone")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        open_below(folder, b"gone/" * 1000 + b"x")
    assert len(os.listdir("/proc/self/fd")) == before
    os.close(folder)


def test_a_table_gives_back_its_paths():
    paths = [b"", b"a", b"b/c\xff"]
    table = NameTable(paths)
    assert [table[k] for k in range(len(table))] == paths
    assert len(NameTable([])) == 0


@pytest.mark.parametrize("native", [True, False])
def test_the_stat_of_every_name_is_taken_without_following_links(tmp_path, monkeypatch, native):
    if not native:
        monkeypatch.setattr(fetch, "is_available", lambda: False)
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("a")
    names = NameTable([b"a", b"gone", b"link"])
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        rows = stat_all(folder, names.blob, names.starts)
    finally:
        os.close(folder)
    status = os.stat(tmp_path / "a")
    assert rows[0, fetch.STAT_SIZE] == 5
    assert rows[0, fetch.STAT_MTIME] == status.st_mtime_ns
    assert rows[0, fetch.STAT_INODE] == status.st_ino
    assert not rows[1, fetch.STAT_OK]
    assert rows[2, fetch.STAT_INODE] != status.st_ino
