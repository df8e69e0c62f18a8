"""The engine of one root: what it answers with, without and with a broken index."""

from __future__ import annotations

from pathlib import Path

import pytest

from triseek.engine.engine import Engine
from triseek.errors import IndexUnavailable, RepoNotDetected
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest
from triseek.store import layout

TREE = {"a.txt": "needle\n", "d/b.txt": "needle\n", ".hidden": "needle\n"}
REQUEST = SearchRequest(pattern=PatternSpec(patterns=("needle",)))


@pytest.fixture
def engine(repo, tmp_path):
    return Engine(repo(TREE), index_dir=str(tmp_path / "index"))


def paths(search):
    return [path for batch in search for path in batch.paths]


def test_a_root_that_is_not_there_has_no_engine(tmp_path):
    with pytest.raises(RepoNotDetected):
        Engine(str(tmp_path / "gone"))


def test_without_an_index_it_answers_and_says_that_there_is_none(engine):
    assert paths(engine.search(REQUEST)) == [b"a.txt", b"d/b.txt"]
    assert list(engine.list_files(ScopeSpec())) == [b"a.txt", b"d/b.txt"]
    status = engine.status()
    assert (status.present, status.fresh, status.problem) == (False, False, "")
    assert not engine.has_index()
    with pytest.raises(IndexUnavailable):
        engine.reader()


def test_without_a_folder_for_an_index_it_answers(repo):
    engine = Engine(repo(TREE))

    assert paths(engine.search(REQUEST)) == [b"a.txt", b"d/b.txt"]
    assert not engine.status().present
    assert engine.frecency is None
    for call in (engine.indexed, engine.check):
        with pytest.raises(IndexUnavailable):
            call()


def test_status_says_whether_the_tree_is_as_indexed(engine):
    engine.build()
    status = engine.status()
    assert (status.present, status.files) == (True, 2)
    Path(engine.root, "new.txt").write_text("needle\n", encoding="utf-8")
    assert not engine.status().fresh

    assert engine.update().files_indexed >= 1
    assert engine.status().files == 3
    assert b"new.txt" in paths(engine.search(REQUEST))


def test_a_damaged_index_is_reported_and_another_backend_answers(engine):
    engine.build()
    Path(engine.index_dir, layout.CURRENT).write_bytes(b"junk")
    damaged = Engine(engine.root, index_dir=engine.index_dir)

    status = damaged.status()
    assert (status.present, bool(status.problem)) == (False, True)
    search = damaged.search(REQUEST)
    assert search.route.reason == "index_corrupt"
    assert paths(search) == [b"a.txt", b"d/b.txt"]


def test_queries_and_uses_count_only_for_the_owner_of_the_scores(engine):
    engine.touch("read", [b"a.txt"])
    assert engine.scores() == {}
    assert engine.most_used_first([b"a.txt", b"d/b.txt"]) == [b"a.txt", b"d/b.txt"]

    assert engine.frecency.claim()
    engine.touch("read", [b"d/b.txt"])
    assert engine.most_used_first([b"a.txt", b"d/b.txt"]) == [b"d/b.txt", b"a.txt"]
    assert set(engine.scores()) == {b"d/b.txt"}
    engine.frecency.close()


def test_changes_are_unknown_where_nothing_is_watched(engine):
    clock, since = engine.since()
    assert (clock, since.kind, since.reason) == (None, "unknown", "not_watched")
    assert engine.watched is None
    assert engine.trouble is None
