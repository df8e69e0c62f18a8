"""Change times stored beside an index are restored whole or not at all."""

import pytest

from tests.engine import answers
from triseek.index import build, retimed
from triseek.index.reader import IndexReader
from triseek.kernels.fetch import STAT_CTIME


@pytest.fixture
def index_dir(tmp_path):
    answers.write(str(tmp_path / "root"), {"a": "needle\n", "b": "other\n"})
    build.build(str(tmp_path / "root"), tmp_path / "index")
    reader = IndexReader.open(tmp_path / "index")
    reader.views[0].stats[:, STAT_CTIME] = [7, 8]
    retimed.remember(reader)
    return tmp_path / "index"


def times(index_dir):
    reader = IndexReader.open(index_dir)
    retimed.restore(reader)
    return reader.views[0].stats[:, STAT_CTIME].tolist()


def test_what_was_remembered_is_restored_and_the_last_one_counts(index_dir):
    assert times(index_dir) == [7, 8]
    reader = IndexReader.open(index_dir)
    reader.views[0].stats[:, STAT_CTIME] = [9, 8]
    retimed.remember(reader)
    assert times(index_dir) == [9, 8]
    assert len(list(index_dir.glob("retimed.*.npy"))) == 1


def test_damaged_times_are_not_restored(index_dir):
    (column,) = index_dir.glob("retimed.*.npy")
    whole = column.read_bytes()
    column.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert times(index_dir) not in ([7, 8], [7, 9])
    column.write_bytes(whole)
    assert times(index_dir) == [7, 8]
    entries = index_dir / "retimed.json"
    entries.write_bytes(entries.read_bytes().replace(b"length", b"lenght"))
    assert 7 not in times(index_dir)
    entries.write_bytes(b"[]\n")
    assert 7 not in times(index_dir)


def test_an_index_that_cannot_be_written_forgets_them(index_dir):
    reader = IndexReader.open(index_dir)
    reader.index_dir = index_dir / "gone"
    retimed.remember(reader)
    assert times(index_dir) == [7, 8]
