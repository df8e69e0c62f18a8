"""The backend through the index answers as the backend that reads everything."""

import os
import random

import pytest

from tests import descriptors
from tests.contracts.backend import BackendContract
from tests.engine import answers, patterns
from triseek import errors
from triseek.engine.search.backends import indexed as indexed_backend
from triseek.engine.search.backends import verify
from triseek.engine.search.query import Query
from triseek.index.build import build
from triseek.index.update import update
from triseek.model.search import ScopeSpec, SearchRequest, Totals
from triseek.query.pattern import compile as compile_pattern


class TestIndexedMeetsTheContract(BackendContract):
    @classmethod
    def make(cls, root):
        index_dir = root + ".index"
        if not os.path.exists(index_dir):
            build(root, index_dir)
        return _OrScan(root, index_dir)


class _OrScan:
    """As `engine.search.search` does it: what the index cannot answer is for another backend."""

    def __init__(self, root, index_dir):
        self.indexed, self.scan = answers.both(root, index_dir)
        self.root = root

    def search(self, query, totals):
        try:
            yield from self.indexed.search(query, totals)
        except errors.BackendFailure:
            yield from self.scan.search(query, totals)


def random_tree(root, rng, files):
    answers.write(root, {f"{i % 7}/f{i:03}": patterns.text(rng) for i in range(files)})


def random_request(rng):
    """A request with a pattern that is valid; None when the dice made an invalid one."""
    spec = patterns.spec(rng)
    mode = rng.choice(("lines", "lines", "lines", "count", "count_matches", "files"))
    request = SearchRequest(
        pattern=spec,
        mode=mode,
        max_count=rng.choice((None, None, None, 1, 2)),
        after=rng.choice((0, 0, 0, 1)) if mode == "lines" else 0,
        before=rng.choice((0, 0, 0, 2)) if mode == "lines" else 0,
        sweep=False,
    )
    try:
        compile_pattern(spec)
    except errors.InvalidQuery:
        return None
    return request


def compare_pairs(folder, seed, *, files, requests):
    """Ask both backends the same of one tree; the number of (pattern, text) pairs compared."""
    rng = random.Random(seed)
    root = folder / f"tree{seed}"
    root.mkdir()
    random_tree(root, rng, files)
    build(os.fspath(root), folder / f"index{seed}")
    indexed, scan = answers.both(root, folder / f"index{seed}")
    asked = 0
    while asked < requests:
        request = random_request(rng)
        if request is None:
            continue
        assert answers.answer(indexed, request) == answers.answer(scan, request), (seed, request)
        asked += 1
    return asked * files


def test_the_index_never_misses_what_scan_finds(tmp_path):
    """engine.md §1: rows, counts and files are the same for 2,400 random (pattern, text) pairs."""
    assert compare_pairs(tmp_path, 1, files=60, requests=40) >= 2_000


@pytest.mark.slow
def test_the_index_never_misses_what_scan_finds_in_many_pairs(tmp_path):
    """TRISEEK_PAIRS: how many; TRISEEK_SEED: where the dice begin."""
    wanted = int(os.environ.get("TRISEEK_PAIRS", "100000"))
    seed, pairs = int(os.environ.get("TRISEEK_SEED", "100")), 0
    while pairs < wanted:
        pairs += compare_pairs(tmp_path, seed, files=150, requests=80)
        seed += 1


def test_small_buffers_and_parts_change_no_answer(tmp_path, monkeypatch):
    """What does not fit is taken back and asked again; parts come in path order."""
    monkeypatch.setattr(verify, "ROWS", 3)
    monkeypatch.setattr(verify, "TEXT_BYTES", 90)
    monkeypatch.setattr(verify, "HITS", 2)
    monkeypatch.setattr(verify, "ARENA_BYTES", 70)
    monkeypatch.setattr(indexed_backend, "PART_BYTES", (200, 1000))
    for seed in (7, 8):
        compare_pairs(tmp_path, seed, files=40, requests=25)


def test_updated_and_new_files_take_their_place_in_path_order(tmp_path):
    rng = random.Random(4)
    random_tree(tmp_path / "root", rng, 60)
    build(str(tmp_path / "root"), tmp_path / "index")
    answers.write(tmp_path / "root", {f"{k}/f{k:03}": patterns.text(rng) for k in range(7)})
    update(str(tmp_path / "root"), tmp_path / "index")
    answers.write(tmp_path / "root", {f"{k}/f{k + 7:03}.new": patterns.text(rng) for k in range(7)})
    indexed, scan = answers.both(tmp_path / "root", tmp_path / "index")
    for word in ("foo", "ab|bar", "k.*e", "é"):
        for more in ({}, {"mode": "count"}, {"more": {"after": 1}}):
            assert answers.ask(indexed, word, **more) == answers.ask(scan, word, **more)


def test_a_search_closed_early_gives_back_its_folder(tmp_path):
    random_tree(tmp_path / "root", random.Random(5), 60)
    build(str(tmp_path / "root"), tmp_path / "index")
    indexed, _ = answers.both(tmp_path / "root", tmp_path / "index")
    spec = answers.PatternSpec(patterns=("a",))
    answers.answer(indexed, SearchRequest(pattern=spec))
    before = descriptors.opened()
    batches = indexed.search(Query.of(indexed.root, SearchRequest(pattern=spec)), Totals())
    next(batches)
    batches.close()
    assert not descriptors.opened() - before


REFUSED = {
    "inverted": {"invert": True},
    "everything shown": {"passthru": True},
    "files without": {"mode": "files_without_match"},
    "hidden": {"scope": ScopeSpec(hidden=True)},
    "binary": {"scope": ScopeSpec(text=True)},
    "a file": {"paths": ("0/f000",)},
    "not there": {"paths": ("gone",)},
    "below what is hidden": {"paths": (".git",)},
}


@pytest.mark.parametrize("fields", REFUSED.values(), ids=REFUSED)
def test_what_the_index_cannot_say_is_refused_before_anything_is_read(tmp_path, fields):
    random_tree(tmp_path / "root", random.Random(6), 5)
    answers.write(tmp_path / "root", {".git/HEAD": ""})
    build(str(tmp_path / "root"), tmp_path / "index")
    indexed, _ = answers.both(tmp_path / "root", tmp_path / "index")
    spec = answers.PatternSpec(patterns=("a",))
    request = SearchRequest(pattern=spec, **fields)
    with pytest.raises(errors.BackendFailure):
        next(indexed.search(Query.of(indexed.root, request), Totals()))


def test_without_an_index_it_says_so(tmp_path):
    with pytest.raises(errors.IndexUnavailable):
        answers.ask(answers.both(tmp_path, tmp_path / "index")[0], "a")
