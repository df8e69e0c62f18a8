from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triseek import errors
from triseek.store.table import StringColumn, Table, write

SCHEMA = (("path", "binary"), ("size", "int64"), ("flag", "bool"), ("word", "string"))
ROWS = st.lists(
    st.tuples(st.binary(max_size=9), st.integers(-(2**63), 2**63 - 1), st.booleans(), st.text())
)


def columns(rows):
    names = [name for name, _ in SCHEMA]
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


@given(ROWS, st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_come_back(tmp_path, rows, data):
    path = tmp_path / "t.arrow"
    table = Table(path, write(path, SCHEMA, columns(rows)), SCHEMA)
    wanted, names = columns(rows), table.names("path")
    assert table.rows == len(names) == len(rows)
    assert names.all() == [names[k] for k in range(len(names))] == wanted["path"]
    assert table.numbers("size").tolist() == wanted["size"]
    assert table.numbers("flag").tolist() == wanted["flag"]
    assert table.strings("word") == wanted["word"]
    assert len(table.numbers("size")) == len(rows)
    if rows:
        some = data.draw(st.lists(st.integers(0, len(rows) - 1)))
        assert names.take(some) == [wanted["path"][k] for k in some]
    assert names.take(np.empty(0, np.int64)) == []


def test_names_are_the_same_whether_few_or_many_are_taken(tmp_path):
    path = tmp_path / "t.arrow"
    told = [b"%d\xff" % i * (i % 3) for i in range(100)]
    rows = [(name, 1, True, "") for name in told]
    names = Table(path, write(path, SCHEMA, columns(rows)), SCHEMA).names("path")
    few, many = [7, 3, 7], list(range(99, 0, -2))
    for _ in range(2):  # before all were made, and after
        assert names.take(few) == [told[i] for i in few]
        assert names.take(many) == [told[i] for i in many]
    listed = names.all()
    listed.clear()
    assert names.all() == told


def test_what_is_not_the_table_that_was_written_is_corrupt(tmp_path):
    path = tmp_path / "t.arrow"
    entry = write(path, SCHEMA, columns([(b"a", 1, True, "x")]))
    data = path.read_bytes()
    for broken in (data[:-1], data + b"x", b"", bytes(len(data))):
        path.write_bytes(broken)
        with pytest.raises(errors.IndexCorrupt):
            Table(path, entry, SCHEMA).verify()
    path.write_bytes(data)
    with pytest.raises(errors.IndexCorrupt, match="columns"):
        Table(path, entry, SCHEMA[:2]).verify()
    with pytest.raises(errors.IndexCorrupt, match="columns"):
        Table(path, {**entry, "rows": 2}, SCHEMA).verify()
    path.unlink()
    with pytest.raises(errors.IndexCorrupt, match="cannot read"):
        Table(path, entry, SCHEMA)


@pytest.mark.parametrize(
    "read",
    [
        lambda table: table.numbers("size"),
        lambda table: table.names("path"),
        lambda table: table.strings("word"),
        lambda table: table.verify(),
    ],
    ids=["numbers", "names", "strings", "verify"],
)
def test_a_flipped_bit_is_found_by_whoever_reads_first_and_by_all_after(tmp_path, read):
    path = tmp_path / "t.arrow"
    entry = write(path, SCHEMA, columns([(b"a", 1, True, "x")]))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    table = Table(path, entry, SCHEMA)
    assert table.rows == 1
    for _ in range(2):
        with pytest.raises(errors.IndexCorrupt, match="checksum"):
            read(table)


def test_a_table_is_read_after_its_file_is_gone(tmp_path):
    path = tmp_path / "t.arrow"
    table = Table(path, write(path, SCHEMA, columns([(b"a", 1, True, "x")])), SCHEMA)
    path.unlink()
    assert table.names("path").all() == [b"a"]


def test_threads_that_read_at_once_read_the_same(tmp_path):
    path = tmp_path / "t.arrow"
    rows = [(b"%d" % k, k, True, "x") for k in range(20_000)]
    entry = write(path, SCHEMA, columns(rows))
    with ThreadPoolExecutor(8) as threads:
        for _ in range(20):
            table = Table(path, entry, SCHEMA)
            sums = list(threads.map(lambda _, t=table: int(t.numbers("size").sum()), range(8)))
            assert set(sums) == {sum(range(20_000))}


def test_a_table_gives_back_its_paths():
    paths = [b"", b"a", b"b/c\xff"]
    table = StringColumn.of(paths)
    assert [table[k] for k in range(len(table))] == paths
    assert len(StringColumn.of([])) == 0
