"""`triseek roots`: all indexed repositories, and one query over them, for people and programs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.running import triseek
from tests.conftest import plant
from triseek.engine.roots import index_dir
from triseek.index.build import build


@pytest.fixture(autouse=True)
def _no_other_roots(_own_state, home, monkeypatch):
    monkeypatch.setenv("TRISEEK_HOME", str(home))


@pytest.fixture
def shops(tmp_path):
    for name, files in {
        "front": {"cart.py": "def total(cart):\n    return sum(cart)\n" * 20},
        "back": {"bill.py": "import cart\n\n\ntotal = cart.total\n", "x\x1b[31m.py": "x = 1\n"},
    }.items():
        (tmp_path / name).mkdir()
        plant(tmp_path / name, files)
        root = os.path.realpath(tmp_path / name)
        build(root, index_dir(root))
    return tmp_path


def test_all_indexed_repositories_are_listed(shops):
    outcome = triseek(["roots"], shops)
    assert outcome.status == 0
    lines = outcome.out.decode().splitlines()
    assert lines[0] == f"back  {os.path.realpath(shops / 'back')}"
    assert lines[1].startswith("  2 files, ")
    document = json.loads(triseek(["roots", "--json"], shops).out)
    assert [(root["name"], root["files"]) for root in document["roots"]] == [
        ("back", 2), ("front", 1),
    ]  # fmt: skip


def test_no_repository_is_status_1_and_says_what_to_do(tmp_path):
    outcome = triseek(["roots"], tmp_path)
    assert outcome.status == 1
    assert b"triseek build" in outcome.out


def test_a_search_of_no_repository_is_an_error(tmp_path):
    outcome = triseek(["roots", "search", "total"], tmp_path)
    assert (outcome.status, outcome.out) == (2, b"")
    assert "no repository is indexed here" in outcome.err


def test_an_empty_query_is_refused(shops):
    outcome = triseek(["roots", "search", " "], shops)
    assert (outcome.status, outcome.out) == (2, b"")
    assert "the query is empty" in outcome.err


def test_a_query_that_looks_like_a_flag_is_explained(shops):
    outcome = triseek(["roots", "search", "-f:cart total"], shops)
    assert outcome.status == 2
    assert "`triseek roots search --help`. A query that begins with -" in outcome.err
    outcome = triseek(["roots", "search", "--", "-f:cart total"], shops)
    assert outcome.out.startswith(b"back: 1 line in 1 file\n")


def test_results_are_grouped_and_no_cap_hides_a_repository(shops):
    outcome = triseek(["roots", "search", "total", "--limit", "1"], shops)
    assert outcome.status == 0
    text = outcome.out.decode()
    assert "front: 20 lines in 1 file" in text
    assert "back: 1 line in 1 file" in text
    assert text.count(": ") == 3  # those and one line
    assert text.endswith("1 of 2 files shown; --limit shows more\n")


def test_context_is_shown_once(shops):
    out = triseek(["roots", "search", "bill or import", "-C", "1"], shops).out.decode()
    assert out.splitlines() == [
        "back: 1 line in 1 file", "  bill.py", "    1: import cart", "    2- ",
    ]  # fmt: skip


def test_json_has_the_same_answer(shops):
    document = json.loads(triseek(["roots", "search", "total f:cart", "--json"], shops).out)
    assert (document["files"], document["matches"], document["partial"]) == (1, 20, [])
    (repository,) = document["repositories"]
    (file,) = repository["results"]
    assert (repository["name"], file["path"], file["language"]) == ("front", "cart.py", "Python")
    assert file["lines"][0]["spans"] == [[4, 9]]


def test_repositories_alone_are_listed(shops):
    outcome = triseek(["roots", "search", "--repos", "import cart"], shops)
    assert outcome.out.decode().splitlines()[0].startswith("back  ")
    assert outcome.out.count(b"index") == 1


def test_nothing_found_is_status_1_and_a_bad_query_status_2(shops):
    outcome = triseek(["roots", "search", "no such word"], shops)
    assert (outcome.status, outcome.out) == (1, b"no matches\n")
    outcome = triseek(["roots", "search", "foo ("], shops)
    assert outcome.status == 2
    assert outcome.out == b""
    assert len(outcome.err.strip().splitlines()) <= 2


def test_nothing_found_where_not_everything_was_searched_is_status_2(shops):
    (Path(index_dir(os.path.realpath(shops / "back"))) / "CURRENT").write_bytes(b"garbage")
    outcome = triseek(["roots", "search", "no such word"], shops)
    assert outcome.status == 2
    assert b"incomplete: " in outcome.out


def test_hostile_names_do_not_reach_the_terminal(shops):
    out = triseek(["roots", "search", "f:31m"], shops).out
    assert b"\x1b" not in out
    assert b"31m.py" in out


def test_what_was_not_searched_is_not_called_absent(shops, monkeypatch):
    monkeypatch.setattr("triseek.search.commands.roots.SECONDS", 0.0)
    outcome = triseek(["roots", "search", "total"], shops)
    assert outcome.status == 2
    assert b"no matches" not in outcome.out
    assert outcome.out.startswith(b"incomplete: ")
