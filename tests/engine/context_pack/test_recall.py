"""Candidates: exact counts, one sweep, and limits that keep it quick."""

from __future__ import annotations

import pytest

from triseek.engine.context_pack import bm25, recall, terms
from triseek.engine.engine import Engine

TREE = {f"src/f{n}.py": "common = 1\n" for n in range(20)} | {
    "src/rare.py": "common = rare = 1\n",
    "src/twice.py": "rare = 1\nrare = 2\n",
}


@pytest.fixture
def engine(repo, tmp_path):
    found = Engine(repo(TREE), index_dir=str(tmp_path / "index"))
    found.build()
    return found


def recalled(engine, goal, stop=lambda: False):
    return recall.recall(engine, terms.read(goal), stop)


def test_how_rare_a_term_is_comes_from_exact_counts(engine):
    assert recalled(engine, "common rare").idf == [bm25.idf(22, 21), bm25.idf(22, 2)]


def test_rare_terms_and_names_come_first(engine):
    assert recalled(engine, "common rare").ranked[0] == b"src/rare.py"
    assert recalled(engine, "twice").ranked == [b"src/twice.py"]


def test_a_phrase_that_is_nowhere_is_worth_nothing(engine):
    assert recalled(engine, '"common = rare" "rare = common"').phrase_idf == [bm25.idf(22, 1), 0.0]


def test_terms_that_cost_too_much_are_left_for_later(engine, monkeypatch):
    monkeypatch.setattr(recall, "SEARCHED_BLOCKS_MAX", 3)

    found = recalled(engine, "common rare")

    assert set(found.ranked) == {b"src/rare.py", b"src/twice.py"}
    assert found.idf[0] == bm25.idf(22, 11)


def test_the_first_term_is_searched_for_whatever_it_costs(engine, monkeypatch):
    monkeypatch.setattr(recall, "SEARCHED_BLOCKS_MAX", 0)

    assert len(recalled(engine, "common").ranked) == 21


def test_the_tree_is_swept_once(engine, monkeypatch):
    sweeps = []
    indexed = engine.indexed()
    state = indexed._current()
    sweeper = state._sweeper
    whole = sweeper.sweep
    monkeypatch.setattr(sweeper, "sweep", lambda: sweeps.append(1) or whole())

    recalled(engine, "common rare twice")

    assert sweeps == [1]


def test_a_broken_index_costs_nothing_but_time(engine):
    with open(f"{engine.index_dir}/CURRENT", "wb") as file:
        file.write(b"damage")

    assert recalled(Engine(engine.root, index_dir=engine.index_dir), "twice").ranked == [
        b"src/twice.py"
    ]
