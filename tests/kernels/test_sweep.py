"""The sweep hands back what `os.lstat`, asked of every path and every folder above it, finds."""

import itertools
import os
import resource
import shutil
import stat

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kernels.test_fetch import Names
from triseek.files.walk import path_order
from triseek.kernels import fetch, sweep

compiled = pytest.mark.skipif(
    not fetch.is_available(), reason="system calls take the JIT, and statx takes Linux"
)
FAR = 2**62
"""A horizon behind which every file lies."""


def row_of(root, path):
    """The twin: a row, zeros for nothing and for what lies below anything but a folder."""
    names = path.split(b"/")
    above = [os.path.join(root, *names[:size]) for size in range(1, len(names))]
    try:
        if all(stat.S_ISDIR(os.lstat(folder).st_mode) for folder in above):
            return fetch.stat_row(os.lstat(os.path.join(root, path)))
    except OSError:
        pass
    return [0] * fetch.STAT_SLOTS


def differing(root, files, alive, told, horizon):
    """The twin of `compare`: number and row of what is not as it was told, or too new."""
    found = []
    for number, path in enumerate(files):
        row, was = row_of(root, path), list(told[number])
        same = row[:5] == was[:5] and row[fetch.STAT_OK] == 1
        if alive[number] and not (same and max(row[2:4]) < horizon):
            found.append((number, row))
    return found


def run(root, folders, files, told, alive=None, horizon=FAR, ranges=None):
    """What `compare` says: [(number, row)] of the files and a row of every folder."""
    n, m = len(files), len(folders)
    alive = np.ones(n, np.uint8) if alive is None else np.array(alive, np.uint8)
    file_names, folder_names = Names(*files), Names(*folders)
    folder_rows = np.full(m * fetch.STAT_SLOTS, 7, np.int64)
    told = np.array(told, np.int64).reshape(-1)
    descriptor, found = os.open(root, os.O_RDONLY), []
    for (folder_first, folder_last), (first, last) in ranges or [((0, m), (0, n))]:
        numbers = np.zeros(last - first, np.int64)
        rows = np.full((last - first) * fetch.STAT_SLOTS, 7, np.int64)
        count = sweep.compare(
            descriptor, folder_names.blob, folder_names.starts, folder_first, folder_last,
            folder_rows, file_names.blob, file_names.starts, first, last, alive, told, horizon,
            np.zeros(fetch.SCRATCH_BYTES, np.uint8), np.zeros(sweep.STATE_SLOTS, np.int64),
            numbers, rows,
        )  # fmt: skip
        found += zip(numbers[:count].tolist(), rows.reshape(-1, 6)[:count].tolist(), strict=True)
    os.close(descriptor)
    return found, folder_rows.reshape(-1, fetch.STAT_SLOTS).tolist()


def plant(root, files):
    for path in files:
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(path)


def folders_above(files):
    found = {b""}
    for path in files:
        while path:
            path = path.rpartition(b"/")[0]
            found.add(path)
    return found


COMPONENT = st.sampled_from([b"a", b"b", b"a.c", b"a-", b"z\xff", b"dir"])
PATHS = st.lists(st.lists(COMPONENT, min_size=1, max_size=4).map(b"/".join), max_size=14)


@st.composite
def trees(draw):
    """Files, empty folders, changes to make, dead files, and ranges: all of one tree."""
    files: list[bytes] = []
    for path in sorted(set(draw(PATHS)), key=path_order):
        if not any(path.startswith(other + b"/") for other in files):
            files.append(path)
    empty = {path for path in draw(PATHS) if not conflicts(path, files)}
    folders = {folder for path in empty for folder in (path, *folders_above([path]))}
    folders |= folders_above(files)
    kinds = st.sampled_from(["edit", "unlink", "folder gone", "folder linked", "file linked"])
    changes = draw(st.lists(st.tuples(st.integers(0, 20), kinds), max_size=4))
    cuts = sorted(draw(st.lists(st.integers(0, len(files)), max_size=3)))
    folder_cuts = sorted(draw(st.lists(st.integers(0, len(folders)), min_size=3, max_size=3)))
    alive = draw(st.lists(st.booleans() | st.just(True), min_size=20, max_size=20))
    ordered = sorted(folders, key=path_order)
    edges, folder_edges = [0, *cuts, len(files)], [0, *folder_cuts[: len(cuts)], len(ordered)]
    ranges = list(zip(itertools.pairwise(folder_edges), itertools.pairwise(edges), strict=True))
    return files, ordered, changes, alive[: len(files)], ranges


def conflicts(path, files):
    return any(
        path == file or path.startswith(file + b"/") or file.startswith(path + b"/")
        for file in files
    )


def change(root, path, kind):
    full = os.path.join(root, path)
    folder = os.path.dirname(full)
    if kind in ("folder gone", "folder linked") and folder != root and os.path.isdir(folder):
        if os.path.islink(folder):
            return
        if kind == "folder gone":
            shutil.rmtree(folder)
        else:
            os.rename(folder, folder + b".moved")
            os.symlink(os.path.basename(folder) + b".moved", folder)
    elif os.path.isfile(full) and not os.path.islink(full):
        if kind == "edit":
            with open(full, "ab") as file:
                file.write(b"more")
        elif kind == "unlink":
            os.unlink(full)
        else:
            os.rename(full, full + b".moved")
            os.symlink(os.path.basename(full) + b".moved", full)


@compiled
@given(trees())
@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_of_any_tree_what_changed_is_handed_back(tmp_path, tree):
    files, folders, changes, alive, ranges = tree
    root = os.fsencode(tmp_path / "tree")
    shutil.rmtree(root, ignore_errors=True)
    for folder in folders:
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    plant(root, files)
    told = [row_of(root, path) for path in files]
    for number, kind in changes:
        if files:
            change(root, files[number % len(files)], kind)
    open_before = len(os.listdir("/proc/self/fd"))

    found, folder_rows = run(root, folders, files, told, alive, ranges=ranges)

    assert len(os.listdir("/proc/self/fd")) == open_before
    answered = [
        (number, row_of(root, files[number]) if row[fetch.STAT_KIND] == sweep.UNKNOWN else row)
        for number, row in found
    ]
    assert answered == differing(root, files, alive, told, FAR)
    for path, row in zip(folders, folder_rows, strict=True):
        assert row[fetch.STAT_KIND] == sweep.UNKNOWN or row == looked_up(root, path)


def looked_up(root, path):
    """A folder's row by its path; links above it are followed, for only links differ there."""
    try:
        return fetch.stat_row(os.lstat(os.path.join(root, path) if path else root))
    except OSError:
        return [0] * fetch.STAT_SLOTS


@compiled
def test_nothing_is_unknown_where_every_folder_can_be_opened(tmp_path):
    root, files = os.fsencode(tmp_path), [b"a/b/c", b"a/d", b"e"]
    plant(root, files)
    os.mkdir(os.path.join(root, b"a/empty"))
    folders = [b"", b"a", b"a/b", b"a/empty"]
    found, rows = run(root, folders, files, np.zeros((3, fetch.STAT_SLOTS)))
    assert [number for number, _ in found] == [0, 1, 2]
    assert [row for _, row in found] == [row_of(root, path) for path in files]
    assert rows == [fetch.stat_row(os.lstat(os.path.join(root, path))) for path in folders]


@compiled
def test_what_is_as_new_as_the_horizon_is_handed_back_though_it_is_as_told(tmp_path):
    root, files = os.fsencode(tmp_path), [b"a", b"b"]
    plant(root, files)
    told = [row_of(root, path) for path in files]
    newest = max(max(row[2:4]) for row in told)
    assert run(root, [b""], files, told, horizon=newest + 1)[0] == []
    found, _ = run(root, [b""], files, told, horizon=newest)
    assert found == differing(root, files, [1, 1], told, newest) != []
    os.utime(os.path.join(root, b"a"), ns=(0, FAR))
    told = [row_of(root, path) for path in files]
    assert [number for number, _ in run(root, [b""], files, told, horizon=FAR)[0]] == [0]


@compiled
def test_a_folder_that_became_a_link_to_the_same_files_is_empty_of_them(tmp_path):
    root = os.fsencode(tmp_path)
    plant(root, [b"a/b/c", b"a/d"])
    told = [row_of(root, b"a/b/c"), row_of(root, b"a/d")]
    os.rename(os.path.join(root, b"a"), os.path.join(root, b"z"))
    os.symlink(b"z", os.path.join(root, b"a"))
    found, rows = run(root, [b"", b"a", b"a/b"], [b"a/b/c", b"a/d"], told)
    assert [(number, row[fetch.STAT_KIND]) for number, row in found] == [
        (0, sweep.UNKNOWN), (1, sweep.UNKNOWN)
    ]  # fmt: skip
    assert rows[1][fetch.STAT_KIND] == sweep.UNKNOWN


@compiled
def test_without_a_descriptor_left_all_below_folders_is_unknown(tmp_path):
    root, files = os.fsencode(tmp_path), [b"a/b", b"c"]
    plant(root, files)
    told = [row_of(root, path) for path in files]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(root, os.O_RDONLY)
    os.close(lowest)  # the number that opening the root will have, and the last there is
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, limits[1]))
        found, rows = run(root, [b"", b"a"], files, told)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert [(number, row[fetch.STAT_KIND]) for number, row in found] == [(0, sweep.UNKNOWN)]
    assert [row[fetch.STAT_KIND] for row in rows] == [stat.S_IFDIR, sweep.UNKNOWN]


@compiled
def test_what_lies_too_deep_is_unknown_and_what_comes_after_it_is_not(tmp_path):
    root = os.fsencode(tmp_path)
    deep = b"a/" * (sweep.DEPTH_MAX + 3)
    files = [deep + b"x", b"a/" * (sweep.DEPTH_MAX - 1) + b"y", b"b/c"]
    plant(root, files)
    told = [row_of(root, path) for path in files]
    found, _ = run(root, sorted(folders_above(files), key=path_order), files, told)
    assert [(number, row[fetch.STAT_KIND]) for number, row in found] == [(0, sweep.UNKNOWN)]


@given(st.lists(st.binary(max_size=6).map(lambda b: b.replace(b"\0", b"/")), max_size=6))
def test_order_is_path_order(paths):
    ordered = sorted(paths, key=path_order)
    for left in paths:
        for right in paths:
            a, b = np.frombuffer(left, np.uint8), np.frombuffer(right, np.uint8)
            order = np.sign(sweep._order(a, 0, len(a), b, 0, len(b)))
            assert order == np.sign(ordered.index(left) - ordered.index(right))
