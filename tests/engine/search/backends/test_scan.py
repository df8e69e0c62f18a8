"""The backend that needs nothing."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests import rg
from tests.contracts.backend import BackendContract, run, scanning, texts
from triseek.engine.search.backends import file
from triseek.engine.search.backends import lines as lines_of
from triseek.engine.search.query import Query
from triseek.model.search import PatternSpec, SearchRequest, Totals


class TestScan(BackendContract):
    @classmethod
    def make(cls, root):
        return scanning(root)


def test_a_large_file_is_searched_in_parts_as_it_would_be_whole(repo, monkeypatch):
    lines = [b"hay %d" % n + b" needle" * (n % 97 == 0) for n in range(3000)]
    root = repo({"big": b"\xef\xbb\xbf" + b"\n".join(lines), "wide": b"x" * 9000 + b"needle"})
    requests = [
        SearchRequest(pattern=PatternSpec(patterns=("needle",)), **fields)
        for fields in (
            {}, {"before": 3, "after": 2}, {"before": 200}, {"after": 200}, {"passthru": True},
            {"max_count": 3, "after": 120}, {"invert": True, "max_count": 5}, {"mode": "count"},
            {"mode": "count_matches"}, {"mode": "files"}, {"line_numbers": False, "after": 1},
            {"invert": True, "before": 1},
        )
    ]  # fmt: skip
    whole = [texts(run(scanning(root), request)) for request in requests]
    counts = [[file.count for file in run(scanning(root), request)] for request in requests]

    monkeypatch.setattr(file, "WHOLE_BYTES", 100)
    monkeypatch.setattr(file, "PART_BYTES", 701)

    for request, rows, count in zip(requests, whole, counts, strict=True):
        parted = run(scanning(root), request)
        assert texts(parted) == rows
        assert [each.count for each in parted] == count


def test_a_nul_in_a_late_part_makes_a_large_file_binary(repo, monkeypatch):
    root = repo({"big": b"needle\n" * 500 + b"\0"})
    monkeypatch.setattr(file, "WHOLE_BYTES", 100)
    monkeypatch.setattr(file, "PART_BYTES", 701)
    totals = Totals()

    for fields in ({}, {"max_count": 1}, {"mode": "files"}):
        request = SearchRequest(pattern=PatternSpec(patterns=("needle",)), **fields)
        assert run(scanning(root), request, totals) == []
    assert [skipped.reason for skipped in totals.skipped] == ["binary"] * 3


def test_what_cannot_be_read_is_reported_and_never_fatal(repo):
    root = repo({"a": "needle\n", "b": "needle\n"})
    os.symlink("nowhere", f"{root}/broken")
    totals = Totals()
    request = SearchRequest(
        pattern=PatternSpec(patterns=("needle",)), paths=("a", "broken", "b", "missing")
    )

    assert [each.path for each in run(scanning(root), request, totals)] == [b"a", b"b"]
    assert [(each.path, each.reason) for each in totals.skipped] == [
        (b"missing", "not_found"),
        (b"broken", "unreadable"),
    ]


@pytest.mark.rg
@pytest.mark.parametrize(
    ("pattern", "text", "options", "expected"),
    [
        # -U -c -m2: matches are bounded, not rows.
        (r"\s$", b"a \nb \nc \nd \n", {"mode": "count", "max_count": 2}, 2),
        (r"\s", b"a b c \nd\n e\n", {"mode": "count", "max_count": 2}, 4),
        (r"\n", b"a\nb\nc\n", {"mode": "count_matches", "max_count": 2}, 2),
        (r"\s$", b"a \nb\nc\nd \ne\n", {"mode": "count", "max_count": 2}, 2),
        # A match at the very end of an unfinished line shows it, and counts for one.
        (r"\n?$", b"ab", {"mode": "files"}, 1),
        (r"\n?$", b"ab", {"mode": "count"}, 1),
    ],
)
def test_matches_over_lines_are_counted_as_ripgrep_counts_them(
    pattern, text, options, expected, tmp_path
):
    spec = PatternSpec(patterns=(pattern,), multiline=True)
    flags = {"count": ["-c"], "count_matches": ["--count-matches"], "files": ["-l"]}
    limit = [f"-m{options['max_count']}"] if "max_count" in options else []
    (tmp_path / "file").write_bytes(text)
    command = [rg.program(), "--no-config", "-U", *flags[options["mode"]], *limit, pattern, "./"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).stdout.strip()

    query = Query.of("/", SearchRequest(pattern=spec, **options))
    count = lines_of.rows_of(text, query).count

    said = {b"": 0, b"./file": 1}
    assert (said[told] if told in said else int(told.rpartition(b":")[2])) == count
    assert count == expected


def test_a_file_that_has_gone_since_it_was_listed_is_passed_over_unless_it_was_named(repo):
    root = repo({"a": b"needle\n"})
    request = SearchRequest(pattern=PatternSpec(patterns=("needle",)))
    search = file.FileSearch(Query.of(root, request))

    for gone in (b"gone", b"a/gone"):
        assert search(gone).skipped is None
        assert search(gone).found is None
        assert search(gone, explicit=True).skipped.reason == "unreadable"


def test_a_folder_that_has_gone_since_it_was_listed_is_passed_over(repo, monkeypatch):
    root = repo({"a/x": b"needle\n", "b/x": b"needle\n"})
    scandir = os.scandir

    def remove_first(path):
        if path.rstrip(b"/").endswith(b"/b"):
            subprocess.run(["rm", "-r", os.path.join(root, "b")], check=True)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", remove_first)
    totals = Totals()
    found = run(scanning(root), SearchRequest(pattern=PatternSpec(patterns=("needle",))), totals)

    assert [each.path for each in found] == [b"a/x"]
    assert totals.skipped == []


def test_a_pipe_in_the_place_of_a_listed_file_is_not_waited_for(repo):
    root = repo({"a": "needle\n"})
    os.mkfifo(f"{root}/pipe")
    request = SearchRequest(pattern=PatternSpec(patterns=("needle",)))
    search = file.FileSearch(Query.of(root, request))

    assert search(b"pipe") == (None, None, 0)
    assert search(b"a").found is not None
