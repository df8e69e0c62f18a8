"""Candidates: exact counts, one sweep, and limits that keep it quick."""

from __future__ import annotations

import subprocess

import pytest

from triseek.engine.context_pack import recall, terms
from triseek.engine.context_pack.candidates import idf as bm25
from triseek.engine.engine import Engine
from triseek.errors import InvalidRequest

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


def idf(engine, goal):
    weights = [term.weight for term in terms.read(goal).terms]
    return [
        each / weight for each, weight in zip(recalled(engine, goal).weights, weights, strict=True)
    ]


def test_how_rare_a_term_is_comes_from_exact_counts(engine):
    assert idf(engine, "common rare") == pytest.approx([bm25(22, 21), bm25(22, 2)])


def test_rare_terms_and_names_come_first(engine):
    assert recalled(engine, "common rare").ranked[0] == b"src/rare.py"
    assert recalled(engine, "twice").ranked == [b"src/twice.py"]


def test_a_phrase_that_is_nowhere_is_worth_nothing(engine):
    assert recalled(engine, '"common = rare" "rare = common"').phrase_idf == [
        bm25(22, 1),
        0.0,
    ]


def test_terms_that_cost_too_much_are_left_for_later(engine, monkeypatch):
    monkeypatch.setattr(recall, "SEARCHED_BLOCKS_MAX", 3)

    found = recalled(engine, "common rare")

    assert set(found.ranked) == {b"src/rare.py", b"src/twice.py"}
    assert idf(engine, "common rare")[0] == pytest.approx(bm25(22, 11))


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


@pytest.fixture
def root(tmp_path):
    """A folder; none of the files that the tests name is in it."""
    folder = tmp_path / "root of it"
    folder.mkdir()
    return str(folder.resolve())


@pytest.mark.parametrize(
    "spelt", ["a/b.py", "./a/b.py", "a//x/../b.py", "  a/b.py ", "{root}/a/b.py"]
)
def test_every_spelling_is_one_path(root, spelt):
    assert recall.changed_files(root, [spelt.format(root=root), "a/b.py"]) == [b"a/b.py"]


def test_order_is_the_callers_and_bytes_survive(root):
    assert recall.changed_files(root, ["z", "", "caf\udce9", "a"]) == [
        b"z",
        b"caf\xe9",
        b"a",
    ]


@pytest.mark.parametrize("path", ["..", "../x", "/etc/passwd", "a/../../x", ".", "\0", "\ud800"])
def test_what_leads_out_is_refused(root, path):
    with pytest.raises(InvalidRequest):
        recall.changed_files(root, [path])


def test_uncommitted_is_what_git_says_and_nothing_where_there_is_too_much(tmp_path, monkeypatch):
    def git(*words):
        me = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", "-C", str(tmp_path), *me, *words], check=True)

    assert recall.uncommitted(str(tmp_path)) == []
    git("init", "-q")
    assert recall.uncommitted(str(tmp_path)) == []
    (tmp_path / "a").write_text("1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "a").write_text("2\n")
    (tmp_path / "new").write_text("\n")

    assert recall.uncommitted(str(tmp_path)) == [b"a", b"new"]
    monkeypatch.setattr(recall, "UNCOMMITTED_MAX", 1)
    assert recall.uncommitted(str(tmp_path)) == []
