"""rg's printed output as rows, however its pipe cuts it."""

from __future__ import annotations

import io

import pytest

from triseek.engine.search.backends import ripgrep_output
from triseek.engine.search.backends.base import FileRows
from triseek.engine.search.backends.ripgrep_output import Stats
from triseek.model.search import Skipped

STATS = (
    b"\n2 matches\n2 matched lines\n2 files contained matches\n5 files searched\n"
    b"9 bytes printed\n77 bytes searched\n0.1 seconds spent searching\n0.2 seconds\n"
)
WARNED = (
    b"./c\0001:0:x\n./c: WARNING: stopped searching binary file after match "
    b'(found "\\0" byte around offset 9)\n'
)


def lines_of(output):
    return [
        (*row.item()[1:3], output.text[row["begin"] : row["end"]], bool(row["context"]))
        for row in output.rows
    ]


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_groups_are_those_that_were_printed(monkeypatch, size):
    monkeypatch.setattr(ripgrep_output, "READ_BYTES", size)
    printed = b"./a\nb\00012:345:12:x\n13-360-y\n\n./b\0001:0:z\n" + STATS
    first, second, stats = ripgrep_output.groups(io.BytesIO(printed).read, numbered=True)

    assert (first.path, first.count) == (b"./a\nb", 1)
    assert lines_of(first) == [(12, 345, b"12:x\n", False), (13, 360, b"y\n", True)]
    assert (second.path, lines_of(second)) == (b"./b", [(1, 0, b"z\n", False)])
    assert stats == Stats(5, 77)


def test_a_warning_is_no_row_and_names_the_nul():
    (only,) = ripgrep_output.groups(io.BytesIO(WARNED + b"\n").read, numbered=True)
    assert (only.count, only.nul.offset, lines_of(only)) == (1, 9, [(1, 0, b"x\n", False)])


@pytest.mark.parametrize("size", [1, 5, 1 << 20])
def test_counts_and_names(monkeypatch, size):
    monkeypatch.setattr(ripgrep_output, "READ_BYTES", size)
    counted = ripgrep_output.listed(
        io.BytesIO(b"./a\0003\n./b:1\00012\n" + STATS).read, counted=True
    )
    listed = ripgrep_output.listed(io.BytesIO(b"./a\0./b\nc\0").read, counted=False)

    *files, stats = counted
    assert [(file.path, file.count) for file in files] == [(b"./a", 3), (b"./b:1", 12)]
    assert stats == Stats(5, 77)
    assert [file.path for file in listed if isinstance(file, FileRows)] == [b"./a", b"./b\nc"]


def test_adjacent_lines_become_one_row():
    printed = b"./a\0001:0:x\n2:2:y\n3-4-z\n4:6:w\n\n"
    (output,) = ripgrep_output.groups(io.BytesIO(printed).read, numbered=True)
    rows = ripgrep_output.runs_of(FileRows(b"a", output.rows, output.text, output.count))

    texts = [
        rows.text[begin:end]
        for begin, end in zip(rows.rows["begin"], rows.rows["end"], strict=True)
    ]
    assert texts == [b"x\ny\n", b"z\n", b"w\n"]
    assert rows.count == 2


def test_messages_say_which_file_could_not_be_read():
    printed = (
        "rg: ./a\nb: Permission denied (os error 13)\n/x/.ignore: line 2: error parsing glob [\n"
    )
    first, second = ripgrep_output.messages(printed)

    assert ripgrep_output.problem(first) == Skipped(b"./a\nb", "unreadable", "Permission denied")
    assert ripgrep_output.is_about_rules(second)
    loop = "rg: File system loop found: ./l points to an ancestor ./"
    assert ripgrep_output.problem(loop) == Skipped(
        b"./l", "loop", "the link leads to a folder above it"
    )
    assert ripgrep_output.problem("rg: regex parse error:") is None
