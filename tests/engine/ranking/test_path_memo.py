"""What is remembered of a path."""

from __future__ import annotations

from triseek.engine.ranking import path_memo
from triseek.engine.ranking.path_memo import PathMemo


def test_a_path_is_computed_once():
    asked = []

    def size(path):
        asked.append(path)
        return len(path)

    memo = PathMemo(size)

    assert memo.of([b"a", b"bcd", b"a"]).tolist() == [1, 3, 1]
    assert memo[b"bcd"] == 3
    assert asked == [b"a", b"bcd"]


def test_no_more_paths_are_kept_than_allowed(monkeypatch):
    monkeypatch.setattr(path_memo, "PATHS_MAX", 3)
    memo = PathMemo(len)
    paths = [b"x" * number for number in range(10)]

    assert memo.of(paths).tolist() == list(range(10))
    assert len(memo) <= 3
