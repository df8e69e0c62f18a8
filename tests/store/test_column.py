import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triseek import errors
from triseek.store import column

KINDS = st.sampled_from(["uint8", "uint32", "uint64", "int64"])


def opened(path, entry, pages):
    return column.PagedColumn(path, entry, np.array(pages, np.uint64))


def damage(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def written(path, values, kind, pages):
    """Write a paged column and return its entry."""
    with column.ColumnWriter(path, kind, pages=pages) as writer:
        writer.append(values)
    return writer.entry


@given(KINDS, st.lists(st.lists(st.integers(0, 255), max_size=50), max_size=6))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_come_back_as_one_column_that_numpy_reads_too(tmp_path, kind, pieces):
    path, whole = tmp_path / "c.npy", [value for piece in pieces for value in piece]
    with column.ColumnWriter(path, kind) as writer:
        for piece in pieces:
            writer.append(np.array(piece, kind))

    values = column.load(path, writer.entry)

    assert values.tolist() == np.load(path).tolist() == whole
    assert (values.dtype, values.flags.writeable and len(whole) > 0) == (np.dtype(kind), False)


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("piece", [1_000_000, 65_536, 30_001])
def test_pages_are_verified_when_they_are_asked_for(tmp_path, size, piece):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    pages = [1, 2, 3]
    with column.ColumnWriter(tmp_path / "c.npy", np.uint8, pages=pages) as writer:
        for at in range(0, size, piece):
            writer.append(data[at : at + piece])
    paged = opened(tmp_path / "c.npy", writer.entry, pages)
    paged.verify_all()
    paged.verify(0, size)
    assert len(pages) == 3 + -(-size // 65_536)
    assert len(paged) == size
    assert np.array_equal(paged.values, data)
    assert np.array_equal(paged.whole(), data)


def test_a_broken_page_is_found_when_it_is_touched_and_named(tmp_path):
    path, pages = tmp_path / "c.npy", []
    entry = written(path, np.zeros(200_000, np.uint8), np.uint8, pages)
    damage(path, 128 + 140_000)
    paged = opened(path, entry, pages)
    paged.verify(0, 131_072)
    paged.verify(196_608, 200_000)
    for begin, end in ((131_072, 131_073), (0, 200_000), (196_607, 196_609)):
        with pytest.raises(errors.IndexCorrupt, match="at byte 131072"):
            paged.verify(begin, end)
    for walk in (paged.verify_all, paged.whole):
        with pytest.raises(errors.IndexCorrupt):
            walk()


def test_pages_of_wide_values_are_asked_for_by_number_of_value(tmp_path):
    path, pages = tmp_path / "c.npy", []
    entry = written(path, np.arange(30_000), np.uint64, pages)
    damage(path, 128 + 8 * 20_000)
    paged = opened(path, entry, pages)
    paged.verify(0, 2 * 8_192)
    paged.verify(3 * 8_192, 30_000)
    for begin, end in ((20_000, 20_001), (16_383, 16_385)):
        with pytest.raises(errors.IndexCorrupt, match="at byte 131072"):
            paged.verify(begin, end)


def test_what_was_released_is_read_again(tmp_path):
    data, pages = np.random.default_rng(1).integers(0, 256, 1 << 22, np.uint8), []
    paged = opened(tmp_path / "c.npy", written(tmp_path / "c.npy", data, np.uint8, pages), pages)
    before = resident(tmp_path / "c.npy")
    assert np.array_equal(paged.whole(), data)
    held = resident(tmp_path / "c.npy")
    paged.release()
    assert resident(tmp_path / "c.npy") <= before < held
    assert np.array_equal(paged.values, data)
    empty = opened(
        tmp_path / "e.npy", written(tmp_path / "e.npy", data[:0], np.uint8, pages), pages
    )
    empty.release()


def resident(path):
    """KiB of a mapped file that count as this process's memory."""
    if not Path("/proc/self/smaps").exists():
        pytest.skip("only Linux tells what is resident")
    _, _, rest = Path("/proc/self/smaps").read_text().partition(str(path))
    return int(rest.partition("\nRss:")[2].split()[0])


def test_an_entry_of_another_column_is_refused(tmp_path):
    entry = column.write(tmp_path / "a.npy", np.arange(5), np.uint32)
    for change in ({"length": 4}, {"dtype": "<i4"}, {"xxh3": "0" * 16}):
        with pytest.raises(errors.IndexCorrupt):
            column.load(tmp_path / "a.npy", {**entry, **change})
    with pytest.raises(errors.IndexCorrupt, match="No such file"):
        column.load(tmp_path / "b.npy", entry)
    pages = []
    entry = written(tmp_path / "p.npy", np.zeros(10), np.float64, pages)
    for change, digests in (({}, []), ({"first_page": 1}, pages), ({"first_page": -1}, pages)):
        with pytest.raises(errors.IndexCorrupt, match="page checksums"):
            opened(tmp_path / "p.npy", {**entry, **change}, digests)


@pytest.mark.parametrize("length", [0, 1, 12_345, 10**12])
@pytest.mark.parametrize("kind", ["uint8", "uint32", "int64"])
def test_the_header_is_the_one_numpy_writes(kind, length):
    dtype, written = np.dtype(kind), io.BytesIO()
    described = {"descr": dtype.str, "fortran_order": False, "shape": (length,)}
    np.lib.format.write_array_header_1_0(written, described)
    assert column._header(dtype, length) == written.getvalue()


def test_a_write_that_fails_closes_its_file(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises((TypeError, ValueError)):
        column.write(tmp_path / "c.npy", np.array(["no number"]), np.uint32)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_column_in_memory_is_read_as_one_in_a_file() -> None:
    with column.MemoryColumn(np.uint32) as made:
        for piece in (np.arange(3, dtype=np.uint32), np.arange(9, dtype=np.uint8)):
            made.append(piece)
    assert made.whole().tolist() == [*range(3), *range(9)]
    assert made.values.dtype == np.uint32
    assert len(made) == 12
    with pytest.raises(ValueError, match="read-only"):
        made.values[0] = 1
    with column.MemoryColumn(np.int64) as empty:
        pass
    assert empty.whole().tolist() == []
