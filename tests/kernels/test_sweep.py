"""The sweep hands back what `os.lstat`, asked of every path, finds changed."""

import itertools
import os
import resource
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import descriptors
from tests.kernels.test_fetch import Names
from triseek.files.tree.walk import path_order
from triseek.kernels import fetch, sweep

compiled = pytest.mark.skipif(
    not fetch.is_available(), reason="system calls take the JIT, and statx takes Linux"
)
FAR = 2**62
"""A horizon behind which every file lies."""


def row_of(root, path):
    """The twin of one stat: a row by the path, zeros for nothing."""
    try:
        return fetch.stat_row(os.lstat(os.path.join(root, path) if path else root))
    except OSError:
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


def run(root, files, told, alive=None, horizon=FAR, least=1, ranges=None):
    """What `compare` says: [(number, row)]."""
    names, scratch = Names(*files), np.zeros(fetch.SCRATCH_BYTES, np.uint8)
    alive = np.array([1] * len(files) if alive is None else alive, np.uint8)
    told = np.array(told, np.int64).reshape(-1)
    descriptor, found = os.open(root, os.O_RDONLY), []
    for first, last in ranges or [(0, len(files))]:
        numbers = np.zeros(last - first, np.int64)
        rows = np.full((last - first) * fetch.STAT_SLOTS, 7, np.int64)
        count = sweep.compare(
            descriptor, names.blob, names.starts, first, last, alive, told, horizon, least,
            scratch, numbers, rows,
        )  # fmt: skip
        told_rows = rows.reshape(-1, fetch.STAT_SLOTS)[:count].tolist()
        found += zip(numbers[:count].tolist(), told_rows, strict=True)
    os.close(descriptor)
    return found


def plant(root, files):
    for path in files:
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(path)


COMPONENT = st.sampled_from([b"a", b"b", b"a.c", b"a-", b"z\xff", b"dir"])
PATHS = st.lists(st.lists(COMPONENT, min_size=1, max_size=4).map(b"/".join), max_size=14)


@st.composite
def trees(draw):
    """Files in path order, changes to make, which are alive, and ranges."""
    files: list[bytes] = []
    for path in sorted(set(draw(PATHS)), key=path_order):
        if not any(path.startswith(other + b"/") for other in files):
            files.append(path)
    kinds = st.sampled_from(["edit", "unlink", "folder gone", "folder linked", "file linked"])
    changes = draw(st.lists(st.tuples(st.integers(0, 20), kinds), max_size=4))
    alive = draw(st.lists(st.booleans() | st.just(True), min_size=20, max_size=20))
    edges = [0, *sorted(draw(st.lists(st.integers(0, len(files)), max_size=3))), len(files)]
    return files, changes, alive[: len(files)], list(itertools.pairwise(edges))


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
@given(trees(), st.integers(1, 4))
@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_of_any_tree_what_changed_is_handed_back(tmp_path, tree, least):
    files, changes, alive, ranges = tree
    root = os.fsencode(tmp_path / "tree")
    shutil.rmtree(root, ignore_errors=True)
    os.mkdir(root)
    plant(root, files)
    told = [row_of(root, path) for path in files]
    for number, kind in changes:
        if files:
            change(root, files[number % len(files)], kind)
    open_before = descriptors.opened()

    found = run(root, files, told, alive, least=least, ranges=ranges)

    assert not descriptors.opened() - open_before
    # An opened folder that is a link itself is none; else links above a file are followed.
    assert found == differing(root, files, alive, told, FAR)


@compiled
def test_folders_have_rows_at_their_numbers(tmp_path):
    root, folders = os.fsencode(tmp_path), [b"", b"a", b"a/gone", b"b", b"n" * 4096]
    plant(root, [b"a/x"])
    os.symlink(b"a", os.path.join(root, b"b"))
    names, rows = Names(*folders), np.full((5, fetch.STAT_SLOTS), 7, np.int64)
    descriptor, scratch = os.open(root, os.O_RDONLY), np.zeros(fetch.SCRATCH_BYTES, np.uint8)
    for first, last in ((0, 2), (2, 5)):
        own = rows[first:last].reshape(-1)
        fetch.stat_many(descriptor, names.blob, names.starts, first, last, scratch, own)
    os.close(descriptor)
    assert rows[:4].tolist() == [row_of(root, path) for path in folders[:4]]
    assert rows[4, fetch.STAT_KIND] == fetch.UNKNOWN


@compiled
def test_what_is_as_new_as_the_horizon_is_handed_back_though_it_is_as_told(tmp_path):
    root, files = os.fsencode(tmp_path), [b"a", b"b"]
    plant(root, files)
    told = [row_of(root, path) for path in files]
    newest = max(max(row[2:4]) for row in told)
    assert run(root, files, told, horizon=newest + 1) == []
    found = run(root, files, told, horizon=newest)
    assert found == differing(root, files, [1, 1], told, newest) != []
    os.utime(os.path.join(root, b"a"), ns=(0, FAR))
    told = [row_of(root, path) for path in files]
    assert [number for number, _ in run(root, files, told, horizon=FAR)] == [0]


@compiled
def test_without_a_descriptor_left_paths_do(tmp_path):
    root, files = os.fsencode(tmp_path), [b"a/b", b"a/c", b"d"]
    plant(root, files)
    told = [row_of(root, path) for path in files]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(root, os.O_RDONLY)
    os.close(lowest)  # the number that opening the root will have, and the last there is
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, limits[1]))
        assert run(root, files, told) == []
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@compiled
def test_a_name_too_long_for_one_call_is_unknown_and_not_gone(tmp_path):
    files = [b"n" * 5000, b"x"]
    found = run(os.fsencode(tmp_path), files, np.zeros((2, fetch.STAT_SLOTS)), least=2)
    assert [(number, row[fetch.STAT_KIND]) for number, row in found] == [(0, fetch.UNKNOWN), (1, 0)]
