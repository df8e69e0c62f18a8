"""A file is believed unchanged only when it must be."""

import os

import numpy as np

from triseek.files.fingerprint import (
    FINGERPRINT,
    RACY_NS,
    Fingerprint,
    digest,
    racy,
    same,
    sweep,
    unchanged,
)

NOW = 1_700_000_000_000_000_000
OLD = Fingerprint(10, NOW - RACY_NS, 7)


def test_the_same_file_read_long_after_it_was_written_is_believed():
    assert same(OLD, OLD, indexed_at_ns=NOW)


def test_a_file_written_just_before_it_was_read_is_not_believed():
    late = OLD._replace(mtime_ns=OLD.mtime_ns + 1)
    assert racy(late, NOW)
    assert not same(late, late, indexed_at_ns=NOW)
    future = OLD._replace(mtime_ns=NOW + 10**12)
    assert not same(future, future, indexed_at_ns=NOW)


def test_any_difference_counts():
    for name in Fingerprint._fields:
        assert not same(OLD, OLD._replace(**{name: 1}), indexed_at_ns=NOW)


def test_many_files_are_judged_as_one_is():
    seen = [OLD, OLD._replace(size=1), OLD._replace(mtime_ns=NOW), OLD._replace(inode=1)]
    known = np.array([OLD, OLD, OLD._replace(mtime_ns=NOW), OLD], FINGERPRINT)
    expected = [
        same(Fingerprint(*map(int, row)), now, indexed_at_ns=NOW)
        for row, now in zip(known.tolist(), seen, strict=True)
    ]
    assert unchanged(known, np.array(seen, FINGERPRINT), NOW).tolist() == expected
    assert expected == [True, False, False, False]


def test_a_sweep_reads_what_the_file_system_says(tmp_path):
    (tmp_path / "a").write_text("abc")
    os.symlink("a", tmp_path / "link")
    rows = sweep(str(tmp_path), [b"a", b"gone", b"link"])
    assert Fingerprint(*map(int, rows[0])) == Fingerprint.of(os.stat(tmp_path / "a"))
    assert rows["size"].tolist() == [3, -1, -1]
    assert sweep(str(tmp_path), [b"link"], follow=True)["size"].tolist() == [3]
    assert not unchanged(rows[1:2], rows[1:2], NOW).any()


def test_a_digest_is_64_bits_and_told_by_content():
    assert digest(b"abc") == digest(memoryview(b"abc"))
    assert digest(b"abc") != digest(b"abd")
    assert 0 <= digest(b"") < 1 << 64
