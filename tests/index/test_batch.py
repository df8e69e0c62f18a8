"""One worker's share of a build: files that grow, fail half way or cannot be spilled."""

import errno
import io
import os
import time

import numpy as np
import pytest

from tests.engine import answers
from triseek import errors
from triseek.index import batch, build
from triseek.index.reader import IndexReader
from triseek.store import layout
from triseek.store.table import StringColumn


class TestWorker:
    """What only happens when files change under a build."""

    @pytest.fixture
    def work(self, tmp_path):
        """work(paths, largest) → a worker and an empty share for them."""
        directories = []

        def make(paths, largest):
            directories.append(os.open(tmp_path, os.O_RDONLY))
            worker = batch.Worker(directories[-1], StringColumn.of(paths), tmp_path, largest)
            return worker, batch.Share.of(0, len(paths))

        yield make
        for directory in directories:
            os.close(directory)

    def test_a_file_that_grew_since_it_was_measured_makes_the_buffers_grow(self, tmp_path, work):
        """A bug: the pairs of its one block were written past the end of their buffer."""
        line = np.random.default_rng(2).integers(11, 256, 2 << 20, np.uint8).tobytes()
        (tmp_path / "grown").write_bytes(line)
        worker, _ = work([b"grown"], 10)
        share = worker.run(0, 1)
        assert share.text_bytes == len(line)
        assert sum(len(spill.trigrams) for spill in share.spills) == len(trigrams_of(line))

    def test_a_file_that_fails_half_way_leaves_nothing_to_the_next(self, tmp_path, work):
        """A bug: the file behind it was cut into blocks as if it were its continuation."""
        (tmp_path / "first").write_bytes(b"abc\n" * 9_000)
        (tmp_path / "next").write_bytes(b"def\nghi\n")
        worker, share = work([b"first", b"next"], 1 << 20)
        with HalfWay(tmp_path / "first") as file, pytest.raises(OSError, match="half way"):
            worker._stream(share, 0, file)
        assert not worker._buffers.seen.any()
        share = worker.run(1, 2)
        (table,) = share.blocks
        assert [table[name].tolist() for name, _ in layout.BLOCKS] == [[1], [0], [8], [1], [0]]
        assert share.lines.tolist() == [2]


class HalfWay(io.FileIO):
    """A file whose second read fails."""

    def read(self, size=-1):
        if self.tell():
            raise OSError(5, "failed half way")
        return super().read(20_000)


def trigrams_of(line):
    column = np.frombuffer(line, np.uint8).astype(np.uint32)
    return np.unique(column[:-2] << 16 | column[1:-1] << 8 | column[2:])


def test_a_file_that_could_not_be_read_to_its_end_is_looked_at_again(tmp_path, monkeypatch):
    class Failing(io.FileIO):
        def read(self, _size=-1):
            raise OSError(errno.EIO, "Input/output error")

    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"big.txt": b"needle\n" + b"x\n" * (3 << 20)})
    answers.shorten_racy_times(monkeypatch)
    time.sleep(answers.TICK_S)
    with monkeypatch.context() as patch:
        patch.setattr(batch, "open", lambda fd, *_, **__: Failing(fd), raising=False)
        build.build(root, index_dir)
    assert IndexReader.open(index_dir).views[0].skip.tolist() == [layout.SKIP_UNREADABLE]
    indexed, scan = answers.both(root, index_dir)

    assert answers.ask(indexed, "needle") == answers.ask(scan, "needle") != []


def test_a_full_disk_while_spilling_is_said_in_one_line(tmp_path, monkeypatch):
    answers.write(tmp_path / "root", {"a": "needle and more\n" * 10})
    monkeypatch.setattr(batch, "PARK_BYTES", 0)

    def full(self, *_):
        raise OSError("4096 requested and 0 written")

    monkeypatch.setattr(batch, "_park", full)
    with pytest.raises(errors.StateUnwritable) as caught:
        build.build(str(tmp_path / "root"), tmp_path / "index")
    assert "0 written" in str(caught.value)
