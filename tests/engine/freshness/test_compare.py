"""A comparison by kernel and one through Python say the same of the same tree."""

import os
import resource
import stat
import time

import pytest

from tests.engine import answers
from triseek.engine.freshness import compare
from triseek.index.build import build
from triseek.index.reader import IndexReader
from triseek.index.update import update
from triseek.kernels import fetch, sweep

FAR = 2**62
FILES = {f"{folder}{name}": name for folder in ("", "b/", "b/c/", "é/", "l/m/") for name in "xyz"}


@pytest.fixture
def changed(tmp_path):
    """A root whose index has two segments, and a change of every kind since."""
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, FILES)
    os.mkdir(f"{root}/empty")
    build(root, index_dir)
    answers.write(root, {"b/y": "edited", "n/new": ""})
    update(root, index_dir)
    answers.write(root, {"b/c/x": "edited too", "n/new": "as well"})
    os.unlink(f"{root}/y")
    os.chmod(f"{root}/z", 0o600)
    os.rename(f"{root}/l", f"{root}/k")
    os.symlink("k", f"{root}/l")
    return root, index_dir


def said(changed, horizon=FAR, deadline=FAR):
    root, index_dir = changed
    reader = IndexReader.open(index_dir)
    assert len(reader.views) == 2
    folders, descriptor = reader.directories.names("path"), os.open(root, os.O_RDONLY)
    try:
        now = compare.compare(descriptor, folders, reader.views, [horizon] * 2, deadline)
    finally:
        os.close(descriptor)
    if now is None:
        return None
    files = {
        name: row
        for view, differing in zip(reader.views, now.files, strict=True)
        for name, row in zip(
            view.names.take(differing.numbers), differing.rows.tolist(), strict=True
        )
    }
    return files, dict(zip(folders.all(), now.folders.tolist(), strict=True))


def test_only_what_differs_is_told(changed):
    files, folders = said(changed)
    assert sorted(files) == [b"b/c/x", b"l/m/x", b"l/m/y", b"l/m/z", b"n/new", b"y", b"z"]
    gone = {name for name, row in files.items() if row == [0] * fetch.STAT_SLOTS}
    assert gone == {b"l/m/x", b"l/m/y", b"l/m/z", b"y"}
    for name in files.keys() - gone:
        assert files[name] == fetch.stat_row(os.stat(os.path.join(changed[0].encode(), name)))
    assert folders[b"l"][fetch.STAT_KIND] == stat.S_IFLNK
    for name in folders.keys() - {b"l", b"l/m"}:
        assert folders[name] == fetch.stat_row(os.stat(os.path.join(changed[0].encode(), name)))


def test_what_changed_since_the_horizon_is_told_though_it_is_as_it_was(changed):
    files, _ = said(changed, horizon=0)
    assert sorted(files) == sorted(name.encode() for name in [*FILES, "n/new"])


def test_ranges_of_any_size_and_no_kernel_at_all_tell_the_same(changed, monkeypatch):
    files, folders = said(changed)
    for size, run in ((1, 1), (2, 1), (5, 2), (20, 1), (20, 3)):
        monkeypatch.setattr(compare, "_SLICE", size)
        monkeypatch.setattr(sweep, "RUN", run)
        again, others = said(changed)
        assert again == files
        assert {**others, b"l/m": 0} == {**folders, b"l/m": 0}
    monkeypatch.setattr(fetch, "is_available", lambda: False)
    for horizon in (FAR, 0):
        again, others = said(changed, horizon)
        monkeypatch.undo()
        assert again == said(changed, horizon)[0]
        assert {**others, b"l/m": 0} == {**folders, b"l/m": 0}
        monkeypatch.setattr(fetch, "is_available", lambda: False)


def test_with_no_descriptor_left_the_paths_are_asked(changed, monkeypatch):
    files, folders = said(changed)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    real = compare.compare

    def starved(directory, *rest):
        resource.setrlimit(resource.RLIMIT_NOFILE, (directory + 1, limits[1]))
        try:
            return real(directory, *rest)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    compare.threads()
    monkeypatch.setattr(compare, "compare", starved)
    again, others = said(changed)
    assert again == files
    assert {**others, b"l/m": 0} == {**folders, b"l/m": 0}


def test_what_lies_deep_is_found(tmp_path):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    deep = "d/" * 400
    answers.write(root, {f"{deep}x": "", f"{deep}y": "", "z": ""})
    build(root, index_dir)
    answers.write(root, {f"{deep}y": "edited"})
    reader, descriptor = IndexReader.open(index_dir), os.open(root, os.O_RDONLY)
    folders = reader.directories.names("path")
    now = compare.compare(descriptor, folders, reader.views, [FAR], FAR)
    os.close(descriptor)
    assert reader.views[0].names.take(now.files[0].numbers) == [f"{deep}y".encode()]
    assert now.files[0].rows[0, fetch.STAT_SIZE] == len("edited")
    assert (now.folders[:, fetch.STAT_KIND] == stat.S_IFDIR).all()


def test_a_name_longer_than_one_call_may_be_is_found_by_both_ways(tmp_path):
    name, top = b"n" * 250, os.open(tmp_path, os.O_RDONLY)
    here = os.dup(top)
    for _ in range(20):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open(b"file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    path = b"/".join([name] * 20 + [b"file"])
    expected = fetch.stat_row(os.stat(b"file", dir_fd=here))
    assert fetch.stat_slowly(top, path) == expected
    assert fetch.stat_slowly(top, path + b"s") == [0] * fetch.STAT_SLOTS
    assert compare._Below(top).row(path) == expected
    os.close(here)
    os.close(top)


def test_a_comparison_out_of_time_says_nothing(changed):
    assert said(changed, deadline=time.monotonic() - 1) is None
