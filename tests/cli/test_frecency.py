"""frecency-select, for real: which root, whose lock, what is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import command, triseek
from tests.engine.frecency_contents import top
from triseek.engine.frecency import Frecency
from triseek.engine.roots import index_dir
from triseek.index.build import build
from triseek.search.commands import frecency as verb

HOLD = """
import sys, time
from triseek.engine.frecency import Frecency
frecency = Frecency(sys.argv[1])
frecency.claim()
print(frecency.owned, flush=True)
time.sleep(60)
"""


def scores(root):
    return dict(top(Frecency(index_dir(str(root))), 99))


@pytest.fixture
def tree(repo):
    return Path(repo({"a.c": "x\n", "src/b.c": "x\n", os.fsencode("src/\udcff.c"): "x\n"}))


def test_files_chosen_count_for_the_folder_searched_from(tree):
    outcome = triseek(["frecency-select", "a.c", "src/b.c"], tree)

    assert (outcome.status, outcome.out) == (0, b"2 files counted as chosen\n")
    assert scores(tree) == {b"a.c": pytest.approx(3, abs=0.01), b"src/b.c": pytest.approx(3)}


def test_in_an_indexed_tree_they_count_for_its_root_wherever_one_stands(tree, tmp_path):
    build(str(tree), index_dir(str(tree)))

    for folder, path in [(tree / "src", "b.c"), (tmp_path, "repo/src/b.c"), (tree, "./src/b.c")]:
        assert triseek(["frecency-select", path], folder).status == 0

    assert scores(tree) == {b"src/b.c": pytest.approx(9, abs=0.01)}


def test_elsewhere_they_count_for_their_own_folder(tree, tmp_path):
    other = tmp_path / "other"
    other.mkdir()

    assert triseek(["frecency-select", str(tree / "src" / "b.c")], other).status == 0

    assert scores(tree / "src") == {b"b.c": pytest.approx(3, abs=0.01)}
    assert scores(other) == {}


def test_a_document_says_how_many_for_which_root(tree):
    outcome = triseek(["frecency-select", "--json", "a.c", "a.c"], tree)

    assert json.loads(outcome.out) == {"recorded": 2, "roots": [{"root": str(tree), "recorded": 2}]}


def test_a_name_that_is_no_utf8_is_counted(tree):
    assert command(["frecency-select", os.fsdecode(b"src/\xff.c")], tree).status == 0

    assert list(scores(tree)) == [b"src/\xff.c"]


def test_a_link_counts_by_its_own_name(tree):
    (tree / "link.c").symlink_to("a.c")

    assert triseek(["frecency-select", "link.c"], tree).status == 0
    assert list(scores(tree)) == [b"link.c"]


@pytest.mark.parametrize("path", ["missing.c", "src", "", "a\0b"])
def test_what_is_no_file_is_named_and_nothing_is_counted(tree, path):
    outcome = triseek(["frecency-select", "a.c", path], tree)

    assert outcome.status == 2
    assert "no such file. Pass the paths of files." in outcome.err
    assert scores(tree) == {}


def test_no_path_is_an_error(tree):
    assert triseek(["frecency-select"], tree).status == 2


def test_an_owner_that_does_not_let_go_is_named(tree, monkeypatch):
    monkeypatch.setattr(verb, "OWNER_WAIT_S", 0.1)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, index_dir(str(tree))], stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout.readline() == b"True\n"
        outcome = triseek(["frecency-select", "a.c"], tree)
    finally:
        holder.kill()
        holder.communicate()

    assert outcome.status == 2
    assert f"(process {holder.pid})" in outcome.err


def test_many_at_once_lose_nothing(tree):
    words = [sys.executable, "-m", "triseek", "frecency-select", "a.c"]
    running = [
        subprocess.Popen(words, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    said = [process.communicate() for process in running]

    assert [process.returncode for process in running] == [0] * 4, said
    assert scores(tree) == {b"a.c": pytest.approx(12, abs=0.01)}


def test_state_that_cannot_be_written_is_an_error_at_once(tree, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(verb, "OWNER_WAIT_S", 600.0)

    outcome = triseek(["frecency-select", "a.c"], tree)

    assert outcome.status == 2
    assert "TRISEEK_HOME" in outcome.err
