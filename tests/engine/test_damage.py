"""Damage is found when what is damaged is first read, by whichever verb reads it: none of them
answers wrongly, and each has the way out that was promised for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engine import answers
from tests.store import corruption
from triseek.engine.engine import Engine
from triseek.errors import IndexCorrupt
from triseek.index.build import build
from triseek.index.update import update
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest
from triseek.stats.export import export_tables
from triseek.store import layout

FILES = {f"d{n % 7}/f{n}": f"needle {n}\nhay\n" + "other\n" * n for n in range(60)}
LATER = {"d0/f0": "needle again\n", "new": "needle in new\n"}
PARTS = (
    "trigrams.npy",
    "offsets.npy",
    "frequency.npy",
    "pages.npy",
    "files.arrow",
    "blocks.arrow",
    "directories.arrow",
    "watched.arrow",
    "excluded.arrow",
)
"""What each verb but a search reads of a segment; searches read postings too."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A root and its index of two segments."""
    folder = tmp_path_factory.mktemp("damage")
    root, index_dir = str(folder / "root"), str(folder / "index")
    os.makedirs(f"{root}/.git")
    with pytest.MonkeyPatch.context() as patch:
        answers.shorten_racy_times(patch)
        answers.write(root, FILES)
        build(root, index_dir)
        answers.write(root, LATER)
        update(root, index_dir)
    return root, index_dir


@pytest.fixture(params=[*PARTS, "postings.npy"])
def damaged(request, sound, tmp_path):
    """An engine over an index with one bit of one file of its newest segment flipped."""
    return engine_of_damaged(sound, tmp_path, request.param)


def engine_of_damaged(sound, folder, name):
    root, index_dir = sound
    broken = corruption.copy(index_dir, folder / "broken")
    segments = broken / layout.SEGMENTS
    path = segments / max(os.listdir(segments)) / name
    corruption.flip(path, path.stat().st_size // 2, 4)
    return Engine(root, index_dir=str(broken))


def asked(repository, **fields):
    search = repository.search(SearchRequest(pattern=PatternSpec(patterns=("needle",)), **fields))
    return [
        (path, text[rows["begin"][0] : rows["end"][0]])
        for batch in search
        for path, rows, text, *_ in batch.files()
    ], search.route


def test_a_search_is_answered_by_another_backend_and_says_why(damaged):
    right, _ = asked(damaged, engine="scan")
    for _ in range(2):
        said, route = asked(damaged, limit=None)
        assert said == right
        assert len(said) == 61
        assert route.backend != "indexed"
        assert route.reason == "index_corrupt" or route.fell_back


def test_the_index_alone_says_what_is_wrong(damaged):
    with pytest.raises(IndexCorrupt):
        asked(damaged, engine="index")


def test_files_are_listed_all_the_same(damaged):
    root = Engine(damaged.root)
    for sweep in (True, False):
        listed = list(damaged.list_files(ScopeSpec(), sweep=sweep))
        assert listed == list(root.list_files(ScopeSpec()))


@pytest.mark.parametrize("name", PARTS)
class TestVerbsThatReadAllButPostings:
    def test_status_tells(self, sound, tmp_path, name):
        status = engine_of_damaged(sound, tmp_path, name).status()
        assert not status.present
        assert os.path.splitext(name)[0] in status.problem

    def test_export_writes_nothing(self, sound, tmp_path, name):
        engine, out = engine_of_damaged(sound, tmp_path, name), tmp_path / "out"
        with pytest.raises(IndexCorrupt, match=os.path.splitext(name)[0]):
            export_tables(engine, out, "json")
        assert not out.exists()

    def test_an_update_builds_anew(self, sound, tmp_path, name):
        engine = engine_of_damaged(sound, tmp_path, name)
        asked(engine)
        assert engine.update().rebuilt_full
        assert engine.status().problem == ""
        assert asked(engine, engine="index")[0] == asked(engine, engine="scan")[0]


def test_an_open_reader_outlives_the_files_it_has_not_read_yet(sound, tmp_path):
    root, index_dir = sound
    mine = corruption.copy(index_dir, tmp_path / "mine")
    engine = Engine(root, index_dir=str(mine))
    reader = engine.reader()
    for path in Path(mine).rglob("*.*"):
        path.unlink()
    reader.verify()
    for view in reader.views:
        view.segment.postings.verify_all()
        assert len(view.names.all()) == len(view.stats)
