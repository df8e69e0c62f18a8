"""Contents are kept within bounds, and only where they may be."""

from __future__ import annotations

import random

import pytest

from triseek.memo import content_store as keeping
from triseek.memo.content_store import FILE_MAX, ContentStore
from triseek.memo.look import FileText


def noise(number, size=1000):
    return FileText("/f", random.Random(number).randbytes(size))


@pytest.fixture
def kept(tmp_path):
    return ContentStore(str(tmp_path / "memo" / "kept"))


def files(tmp_path):
    return sorted(path.name for path in (tmp_path / "memo" / "kept").iterdir())


def test_what_is_kept_is_given_back(kept, tmp_path):
    seen = FileText("/f", b"some text\n" * 100)
    kept.keep(seen)
    kept.keep(seen)

    assert kept.get(seen.digest) == seen.data
    assert ContentStore(str(tmp_path / "memo" / "kept")).get(seen.digest) == seen.data
    assert (tmp_path / "memo" / "kept" / f"{seen.digest}.z").stat().st_size < len(seen.data) / 10
    assert kept.get("0" * 32) is None


def test_what_is_too_large_is_not_kept(kept):
    kept.keep(noise(1, FILE_MAX))
    kept.keep(noise(2, FILE_MAX + 1))

    assert noise(1, FILE_MAX).digest in kept
    assert noise(2, FILE_MAX + 1).digest not in kept


def test_of_too_much_the_least_used_goes(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "TOTAL_MAX", 3500)
    for number in range(3):
        kept.keep(noise(number))
    kept.get(noise(0).digest)
    kept.keep(noise(3))

    assert [noise(number).digest in kept for number in range(4)] == [True, False, True, True]
    assert files(tmp_path) == sorted(noise(number).digest + ".z" for number in (0, 2, 3))


def test_what_nobody_asks_for_is_removed(kept, tmp_path):
    for number in range(3):
        kept.keep(noise(number))
    kept.keep_only({noise(1).digest})
    kept.remove(noise(7).digest)

    assert files(tmp_path) == [noise(1).digest + ".z"]


def test_what_is_damaged_is_not_given_back(kept, tmp_path):
    seen = noise(1)
    kept.keep(seen)
    path = tmp_path / "memo" / "kept" / f"{seen.digest}.z"
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"?" + whole[1:]):
        path.write_bytes(damaged)
        assert kept.get(seen.digest) is None
    path.unlink()
    assert kept.get(seen.digest) is None


def test_what_was_left_unfinished_is_swept(kept, tmp_path):
    kept.keep(noise(1))
    (tmp_path / "memo" / "kept" / "ab.partial").write_bytes(b"half")
    ContentStore(str(tmp_path / "memo" / "kept"))

    assert files(tmp_path) == [noise(1).digest + ".z"]
