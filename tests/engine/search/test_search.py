"""search: errors at once, fallbacks that say so, and a limit that still counts."""

from __future__ import annotations

import numpy as np
import pytest

from triseek.engine.engine import Engine
from triseek.engine.search.backends import scan
from triseek.engine.search.backends.base import ROW, Batch, Nul
from triseek.engine.search.search import cut_batch, keep_files
from triseek.errors import (
    BackendFailure,
    FallbackFailure,
    IndexCorrupt,
    IndexUnavailable,
    InvalidQuery,
    InvalidRequest,
    RepoNotDetected,
)
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest

FILES = {f"d{n // 4}/f{n}": f"needle {n}\nhay\nneedle again\nhay\n" for n in range(300)}


def request(pattern: str = "needle", **fields):
    return SearchRequest(pattern=PatternSpec(patterns=(pattern,)), **fields)


def found(search):
    return [
        (file.path, file.text[begin:end])
        for batch in search
        for file in batch.files()
        for _, _, _, begin, end, _ in file.rows.tolist()
    ]


class Breaking:
    """A real scan that fails after some batches."""

    def __init__(self, batches, error):
        self.left, self.error = batches, error

    def search(self, query, totals):
        for number, batch in enumerate(scan.search(query, totals)):
            if number == self.left:
                raise self.error
            yield batch
        raise self.error


class Breakable(Engine):
    """An engine some of whose backends fail."""

    broken: dict

    def backend(self, name):
        if name in self.broken:
            return Breaking(*self.broken[name]).search
        return super().backend(name)


def breakable(root, **broken):
    engine = Breakable(root)
    engine.broken = broken
    return engine


@pytest.mark.rg
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_backend_that_fails_anywhere_is_made_good_by_another(repo, batches):
    root = repo(FILES)
    search = breakable(root, ripgrep=(batches, BackendFailure("rg fell over"))).search(request())
    whole = Engine(root).search(request(engine="scan"))

    assert found(search) == found(whole)
    assert search.route.backend == "direct_scan"
    assert search.route.fell_back == "rg fell over"
    assert search.totals.lines == whole.totals.lines == 600
    assert search.totals.files_searched == 300


@pytest.mark.rg
def test_when_every_backend_fails_the_error_names_each(repo):
    failing = (1, BackendFailure("first")), (0, IndexCorrupt("second"))
    engine = breakable(repo(FILES), ripgrep=failing[0], direct_scan=failing[1])

    with pytest.raises(FallbackFailure, match="first; second"):
        found(engine.search(request()))


def test_a_backend_asked_for_by_name_is_not_replaced(repo):
    engine = breakable(repo(FILES), direct_scan=(0, BackendFailure("no")))

    with pytest.raises(BackendFailure, match="no"):
        found(engine.search(request(engine="scan")))
    with pytest.raises(IndexUnavailable, match="no index"):
        found(engine.search(request(engine="index")))


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 130, 599, 600, 601])
@pytest.mark.parametrize("context", [{}, {"after": 1, "before": 1}])
def test_a_limit_cuts_rows_in_path_order_and_totals_stay_exact(repo, limit, context):
    engine = Engine(repo(FILES))
    search = engine.search(request(engine="scan", limit=limit, **context))
    rows = found(search)
    everything = found(engine.search(request(engine="scan", **context)))

    assert rows == everything[: len(rows)]
    assert sum(b"needle" in text for _, text in rows) == min(limit, 600)
    assert search.totals.lines == 600
    assert search.totals.files_matched == 300
    assert search.totals.truncated == (limit < 600)


def test_a_limit_keeps_the_context_of_the_last_row_and_not_of_the_next(repo):
    engine = Engine(repo({"a": "x\nx\nhit 1\ny\ny\ny\nz\nhit 2\n"}))
    search = engine.search(request("hit", engine="scan", limit=1, before=1, after=2))

    assert [text for _, text in found(search)] == [b"x\n", b"hit 1\n", b"y\n", b"y\n"]


def test_what_is_left_of_a_batch_keeps_what_is_known_of_its_files():
    """What a match may see behind its row, and how much of a file was read first."""
    rows = np.zeros(4, ROW)
    rows["file"] = [0, 1, 2, 2]
    rows["begin"], rows["end"] = [0, 10, 20, 22], [2, 12, 22, 24]
    rows["offset"] = [0, 0, 0, 2]
    nuls = {1: Nul(11, False, 1, 12)}
    batch = Batch(
        [b"a", b"b", b"c"], np.array([1, 1, 2]), rows, b"x" * 30, nuls,
        ends={0: 9, 1: 19, 2: 29}, first_reads={1: 2, 2: 1},
    )  # fmt: skip
    whole = {found.path: found for found in batch.files()}

    kept = list(keep_files(batch, np.array([False, True, True])).files())
    cut = list(cut_batch(batch, 3, request())[0].files())

    for found in (*kept, *cut[:2]):
        assert found[4:] == whole[found.path][4:]
        assert len(found.rows) == len(whole[found.path].rows)
    assert [found.path for found in kept] == [b"b", b"c"]
    assert (cut[2].first_read, cut[2].ahead) == (1, 7)  # more is to be seen behind one row less


def test_a_limit_counts_files_where_files_are_listed(repo):
    search = Engine(repo(FILES)).search(request(engine="scan", mode="files", limit=7))
    listed = [path for batch in search for path in batch.paths]

    assert len(listed) == 7
    assert search.totals.files_matched == 300
    assert search.totals.truncated


def test_what_the_user_got_wrong_is_said_before_anything_is_read(repo):
    engine = Engine(repo({"a": "b"}))

    with pytest.raises(InvalidQuery):
        engine.search(request("a("))
    with pytest.raises(InvalidQuery):
        engine.search(request(scope=ScopeSpec(globs=("{a",))))
    with pytest.raises(InvalidQuery):
        engine.search(request(scope=ScopeSpec(types=("nosuchtype",))))
    with pytest.raises(InvalidRequest, match="outside"):
        engine.search(request(paths=("../elsewhere",)))
    with pytest.raises(InvalidQuery, match="NUL"):
        engine.search(request(r"\x00"))
    with pytest.raises(RepoNotDetected):
        Engine("/nowhere/at/all")


def test_a_binary_file_that_was_named_says_that_it_matches(repo):
    engine = Engine(repo({"b": b"one\0two\n", "t": "one\n"}))
    search = engine.search(request("one", paths=("b",)))
    [batch] = list(search)

    assert search.route.reason == "filter_scan"
    assert (batch.paths, len(batch.rows)) == ([b"b"], 0)
    [skipped] = search.totals.skipped
    assert skipped.detail == 'binary file matches (found "\\0" byte around offset 3)'


def test_a_path_that_is_not_there_is_reported_and_the_rest_is_searched(repo):
    engine = Engine(repo({"a/b": "needle\n"}))
    for backend in ("scan", "rg"):
        search = engine.search(request(engine=backend, paths=("a", "nope")))
        assert [path for batch in search for path in batch.paths] == [b"a/b"]
        assert [(each.path, each.reason) for each in search.totals.skipped] == [
            (b"nope", "not_found")
        ]


def test_list_files_lists_what_a_search_would_read(repo):
    engine = Engine(repo({"a": "", ".h": "", "b/c.py": "", "b/d.c": ""}))

    assert list(engine.list_files(ScopeSpec())) == [b"a", b"b/c.py", b"b/d.c"]
    assert list(engine.list_files(ScopeSpec(types=("py",)), ("b",))) == [b"b/c.py"]


def test_a_search_that_need_not_count_stops_behind_its_limit(repo):
    search = Engine(repo(FILES)).search(request(limit=20, count_all=False))

    assert len(found(search)) == 20
    assert search.totals.truncated
    assert search.totals.lines < 600
    assert "limit" in search.totals.incomplete
