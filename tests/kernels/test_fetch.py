"""Files read by the kernels are what Python reads; with the JIT off only the twins are here."""

import os
import socket

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triseek.kernels import fetch

compiled = pytest.mark.skipif(
    not fetch.is_available(), reason="system calls take the JIT, and statx takes Linux"
)
ONE_BY_ONE = [fetch.STAT_SIZE, fetch.STAT_MTIME, fetch.STAT_CTIME, fetch.STAT_INODE]


class Names:
    """Names as one blob."""

    def __init__(self, *names: bytes):
        self.blob = np.frombuffer(b"".join(names) or b"\0", np.uint8)
        self.starts = np.concatenate(([0], np.cumsum([len(name) for name in names])))
        self.starts = self.starts.astype(np.int64)


@pytest.fixture
def folder(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def read_all(directory, names, arena_bytes, first=0):
    """What `read_files` makes of some names: (bytes or outcome, stat row) of each."""
    blob, count, found = Names(*names), len(names), []
    while first < count:
        n = count - first
        arena = np.zeros(arena_bytes, np.uint8)
        stats = np.zeros(n * fetch.STAT_SLOTS, np.int64)
        begins, lengths = np.zeros(n, np.int64), np.zeros(n, np.int64)
        until = fetch.read_files(
            directory, blob.blob, blob.starts, first, count,
            np.zeros(fetch.SCRATCH_BYTES, np.uint8), arena, stats, begins, lengths,
        )  # fmt: skip
        assert until > first
        rows = stats.reshape(-1, fetch.STAT_SLOTS).tolist()
        for k in range(until - first):
            begin, length = int(begins[k]), int(lengths[k])
            data = arena[begin : begin + length].tobytes() if length >= 0 else length
            found.append((data, rows[k]))
        first = until
    return found


@compiled
@given(st.lists(st.binary(max_size=40), max_size=12), st.integers(41, 120))
@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_files_through_any_arena_are_what_python_reads(tmp_path, folder, contents, arena):
    names = [b"f%d" % number for number in range(len(contents))]
    for name, content in zip(names, contents, strict=True):
        (tmp_path / os.fsdecode(name)).write_bytes(content)
    found = read_all(folder, names, arena)
    assert [data for data, _ in found] == contents
    for name, (_, row) in zip(names, found, strict=True):
        assert row == fetch.stat_slowly(folder, name)


@compiled
def test_what_is_no_file_is_told_apart_and_never_waited_for(tmp_path, folder):
    (tmp_path / "dir").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").write_bytes(b"x" * 10)
    (tmp_path / "full").write_bytes(b"x" * 16)
    server = socket.socket(socket.AF_UNIX)
    server.bind(f"/proc/self/fd/{folder}/socket")
    names = [b"dir", b"fifo", b"socket", b"gone", b"n" * 5000, b"file", b"full"]
    outcomes = [data for data, _ in read_all(folder, names, 16)]
    server.close()
    assert outcomes == [
        fetch.NOT_REGULAR, fetch.NOT_REGULAR, fetch.FAILED, fetch.FAILED, fetch.FAILED,
        b"x" * 10, fetch.TOO_BIG,
    ]  # fmt: skip


@compiled
def test_stats_are_pythons_and_links_are_not_followed(tmp_path, folder):
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "d").mkdir()
    os.symlink("a", tmp_path / "link")
    os.utime(tmp_path / "a", ns=(5, -1_500_000_001))
    names = [b"a", b"d", b"link", b"gone", b"n" * 5000]
    blob, out = Names(*names), np.full(5 * fetch.STAT_SLOTS, 7, np.int64)
    scratch = np.zeros(fetch.SCRATCH_BYTES, np.uint8)
    assert fetch.stat_many(folder, blob.blob, blob.starts, 0, 5, scratch, out) == 3
    rows = out.reshape(5, -1)
    assert rows[3].any() == np.False_
    assert rows[4].tolist() == [fetch.UNKNOWN * (slot == fetch.STAT_KIND) for slot in range(7)]
    for name, row in zip(names[:4], rows[:4].tolist(), strict=True):
        assert row == fetch.stat_slowly(folder, name)
    part = np.zeros(fetch.STAT_SLOTS, np.int64)
    fetch.stat_many(folder, blob.blob, blob.starts, 1, 2, scratch, part)
    assert part.tolist() == rows[1].tolist()


def test_the_twin_gives_zeros_for_what_is_not_there(tmp_path, folder):
    (tmp_path / "a").write_bytes(b"abc")
    assert fetch.stat_slowly(folder, b"gone") == [0] * fetch.STAT_SLOTS
    stat = os.stat(tmp_path / "a")
    row = fetch.stat_slowly(folder, b"a")
    assert row[fetch.STAT_OK] == 1
    assert [row[slot] for slot in ONE_BY_ONE] == [
        3, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino
    ]  # fmt: skip
    assert fetch.stat_slowly(folder, b"")[fetch.STAT_OK] == 0
