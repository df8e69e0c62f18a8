import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triseek import errors
from triseek.store import column

KINDS = st.sampled_from(["uint8", "uint32", "uint64", "int64"])


@given(KINDS, st.lists(st.lists(st.integers(0, 255), max_size=50), max_size=6))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_come_back_as_one_column_that_numpy_reads_too(tmp_path, kind, pieces):
    path, whole = tmp_path / "c.npy", [value for piece in pieces for value in piece]
    writer = column.ColumnWriter(path, kind)
    for piece in pieces:
        writer.append(np.array(piece, kind))
    entry = writer.close()

    values = column.load(path, entry)

    assert values.tolist() == np.load(path).tolist() == whole
    assert (values.dtype, values.flags.writeable and len(whole) > 0) == (np.dtype(kind), False)


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("piece", [1_000_000, 65_536, 30_001])
def test_pages_are_verified_when_they_are_asked_for(tmp_path, size, piece):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    writer = column.ColumnWriter(tmp_path / "c.npy", np.uint8, paged=True)
    for at in range(0, size, piece):
        writer.append(data[at : at + piece])
    paged = column.PagedColumn(tmp_path / "c.npy", writer.close())
    paged.verify_all()
    paged.verify(0, size)
    assert np.array_equal(paged.values, data)


def test_a_broken_page_is_found_when_it_is_touched_and_named(tmp_path):
    path = tmp_path / "c.npy"
    writer = column.ColumnWriter(path, np.uint8, paged=True)
    writer.append(np.zeros(200_000, np.uint8))
    entry = writer.close()
    with open(path, "r+b") as file:
        file.seek(128 + 140_000)
        file.write(b"\1")
    paged = column.PagedColumn(path, entry)
    paged.verify(0, 131_072)
    paged.verify(196_608, 200_000)
    for begin, end in ((131_072, 131_073), (0, 200_000), (196_607, 196_609)):
        with pytest.raises(errors.IndexCorrupt, match="at byte 131072"):
            paged.verify(begin, end)
    with pytest.raises(errors.IndexCorrupt):
        paged.verify_all()


def test_an_entry_of_another_column_is_refused(tmp_path):
    entry = column.write(tmp_path / "a.npy", np.arange(5), np.uint32)
    for change in ({"length": 4}, {"dtype": "<i4"}, {"xxh3": "0" * 16}):
        with pytest.raises(errors.IndexCorrupt):
            column.load(tmp_path / "a.npy", {**entry, **change})
    with pytest.raises(errors.IndexCorrupt, match="No such file"):
        column.load(tmp_path / "b.npy", entry)
    paged = column.ColumnWriter(tmp_path / "p.npy", np.uint8, paged=True)
    paged.append(np.zeros(10, np.uint8))
    with pytest.raises(errors.IndexCorrupt, match="page checksums"):
        column.PagedColumn(tmp_path / "p.npy", {**paged.close(), "pages": []})


def test_a_write_that_fails_closes_its_file(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises((TypeError, ValueError)):
        column.write(tmp_path / "c.npy", np.array(["no number"]), np.uint32)
    assert len(os.listdir("/proc/self/fd")) == before
