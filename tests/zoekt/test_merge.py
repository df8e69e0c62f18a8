"""One answer from several: order, copies, caps."""

from __future__ import annotations

import pytest

from triseek.model.code_search import CodeFile, CodeLine, Repository
from triseek.zoekt import merge


def file(host, score=1.0, *, lines=1, path=b"f", **values):
    rows = tuple(CodeLine(number=n, text=b"x", spans=((0, 1),)) for n in range(1, lines + 1))
    return CodeFile(
        repository="r", path=path, lines=rows, match_count=lines, score=score, host=host, **values
    )


@pytest.mark.parametrize("same", [{"version": "v"}, {"checksum": b"c"}, {"branches": ("main",)}])
def test_copies_are_dropped_and_counted(same):
    files, copies, lines = merge.merged_files(
        [(file("a", 1.0, lines=2, **same),), (file("b", 2.0, lines=3, **same),)]
    )
    assert [each.host for each in files] == ["b"]
    assert (copies, lines) == (1, 2)


@pytest.mark.parametrize("field", ["version", "branches"])
def test_a_path_on_two_branches_is_two_files(field):
    values = {"version": ("v1", "v2"), "branches": (("main",), ("dev",))}[field]
    files, copies, _ = merge.merged_files([tuple(file("a", **{field: v}) for v in values)])
    assert (len(files), copies) == (2, 0)


def test_caps_hold_over_all_files():
    files = [file("a", path=path, lines=3) for path in (b"1", b"2", b"3")]
    kept = merge.capped(files, max_files=9, max_lines=4)
    assert [(each.path, len(each.lines), each.match_count) for each in kept] == [
        (b"1", 3, 3), (b"2", 1, 3),
    ]  # fmt: skip
    assert len(merge.capped(files, max_files=2, max_lines=99)) == 2


def test_of_copies_of_a_repository_the_newest_is_listed():
    lists = (
        (Repository(name="b", host="x", indexed_at=1.0), Repository(name="a", host="x")),
        (Repository(name="b", host="y", indexed_at=2.0),),
    )
    merged = merge.merged_repositories(lists)
    assert [(each.name, each.host) for each in merged] == [("a", "x"), ("b", "y")]
