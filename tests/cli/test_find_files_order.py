"""find-files puts first what is used most, and says the same with and without an owner."""

from __future__ import annotations

import os

import pytest

from tests.cli.running import triseek
from tests.engine.frecency_contents import top
from triseek.engine.engine import Engine
from triseek.engine.frecency import Frecency
from triseek.engine.roots import index_dir
from triseek.index.build import build
from triseek.model.search import PatternSpec, SearchRequest


@pytest.fixture
def root(repo):
    root = os.path.realpath(repo({f"src/router_{n}.py": f"line {n}\n" for n in range(6)}))
    build(root, index_dir(root))
    return root


def found(root, *words):
    return triseek(["find-files", "router", *words], root).out.decode().split()


def test_a_chosen_file_comes_first_and_the_others_stay_in_path_order(root):
    assert triseek(["frecency-select", "src/router_4.py"], root).status == 0

    assert found(root) == [f"src/router_{n}.py" for n in (4, 0, 1, 2, 3, 5)]
    assert found(root, "--limit", "1") == ["src/router_4.py"]
    assert found(root, "--by-path") == [f"src/router_{n}.py" for n in range(6)]


def test_files_are_shown_from_where_one_stands(root):
    triseek(["frecency-select", "src/router_3.py"], root)

    said = triseek(["find-files", "router"], f"{root}/src").out.decode().split()

    assert said[0] == "router_3.py"


def test_a_search_of_the_owner_counts_what_it_found_and_no_other_does(root):
    owner, other = (Engine(root, index_dir=index_dir(root)) for _ in range(2))
    assert owner.frecency.claim()
    for engine in (owner, other):
        list(engine.search(SearchRequest(pattern=PatternSpec(patterns=("line 5",)))))
    owner.frecency.save()

    assert [path for path, _ in top(Frecency(index_dir(root)), 9)] == [b"src/router_5.py"]
    assert found(root)[0] == "src/router_5.py"
    owner.frecency.close()
