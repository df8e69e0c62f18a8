"""Folders that may not be read: what lies in them is in no answer, until it may be again."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

from tests.e2e.as_nobody import NOBODY
from tests.engine import answers
from tests.engine.freshness.test_tracker import diff_of, find, seen, truth
from triseek.engine.engine import Engine
from triseek.index.build import build
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest


@pytest.fixture
def as_nobody():
    """A folder of somebody without rights, who runs the test."""
    folder = tempfile.mkdtemp()
    user = os.geteuid()
    if user == 0:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if user == 0:
            os.seteuid(user)
        shutil.rmtree(folder)


@pytest.fixture
def engine(as_nobody):
    root = f"{as_nobody}/root"
    answers.write(root, {"a.txt": "needle\n", "d/b.txt": "needle\n", "d/e/c.txt": "needle\n"})
    build(root, f"{as_nobody}/index")
    engine = Engine(root, index_dir=f"{as_nobody}/index")
    yield engine
    engine.unwatch()
    os.chmod(f"{root}/d", 0o700)


@pytest.mark.parametrize("mode", [0o000, 0o300, 0o600])
@pytest.mark.parametrize("watched", [True, False])
def test_a_folder_that_is_closed_and_opened_again(engine, as_nobody, mode, watched):
    if watched:
        engine.watch(f"{as_nobody}/cookies")
    for allowed, expected in ((mode, {b"a.txt"}), (0o700, {b"a.txt", b"d/b.txt", b"d/e/c.txt"})):
        os.chmod(f"{engine.root}/d", allowed)

        assert find(engine, "needle")[0] == expected
        diff = diff_of(engine) if watched else engine.indexed().tree_diff()
        if allowed == 0o600:  # its names can be listed, and nothing of it be read
            continue
        assert seen(engine, diff) == truth(engine)


def test_a_folder_that_was_closed_when_the_index_was_made(engine, as_nobody):
    root = engine.root
    os.chmod(f"{root}/d", 0)
    os.utime(root, (1, 1))
    build(root, f"{as_nobody}/index")
    assert find(engine, "needle")[0] == {b"a.txt"}

    os.chmod(f"{root}/d", 0o700)

    assert find(engine, "needle")[0] == {b"a.txt", b"d/b.txt", b"d/e/c.txt"}


def test_an_edit_in_a_folder_that_was_closed_when_watching_began_is_seen(engine, as_nobody):
    root = engine.root
    os.chmod(f"{root}/d", 0o300)
    engine.watch(f"{as_nobody}/cookies")
    diff_of(engine)
    answers.write(root, {"d/b.txt": "other\n"})
    assert find(engine, "needle")[0] == {b"a.txt"}
    os.chmod(f"{root}/d", 0o700)

    assert find(engine, "needle")[0] == {b"a.txt", b"d/e/c.txt"}
    assert find(engine, "other")[0] == {b"d/b.txt"}


def faults(engine, **chosen):
    """What a search by the index, and what one by reading, says it could not read."""
    found = []
    for way in ("index", "scan"):
        request = SearchRequest(
            pattern=PatternSpec(patterns=("needle",)),
            engine=way,
            **chosen,
        )
        search = engine.search(request)
        paths = [path for batch in search for path in batch.paths]
        found.append((paths, sorted(each.path for each in search.totals.skipped)))
    return found


@pytest.mark.parametrize("mode", [0o000, 0o300, 0o600])
@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("when", ["before the build", "after it", "absorbed"])
def test_a_search_says_which_folders_it_could_not_read(engine, as_nobody, mode, watched, when):
    root = engine.root
    answers.write(root, {"k/open": "needle\n"})
    if when == "before the build":
        os.chmod(f"{root}/d", mode)
    build(root, f"{as_nobody}/index")
    if watched:
        engine.watch(f"{as_nobody}/cookies")
    os.chmod(f"{root}/d", mode)
    os.makedirs(f"{root}/k/new")
    os.chmod(f"{root}/k/new", mode)
    if when == "absorbed":
        assert engine.indexed().absorb(100) is not None
    try:
        for chosen, closed in (
            ({}, [b"d", b"k/new"]),
            ({"paths": ("k",)}, [b"k/new"]),
            ({"paths": ("d",)}, [b"d"]),
            ({"scope": ScopeSpec(globs=("!d",))}, [b"k/new"]),
            ({"scope": ScopeSpec(globs=("*.txt",))}, [b"d", b"k/new"]),
            ({"scope": ScopeSpec(max_depth=2)}, [b"d"]),
        ):
            by_index, by_reading = faults(engine, **chosen)
            if mode == 0o600:  # it can be listed: by reading, the files in it are named
                assert by_index[0] == by_reading[0], chosen
                assert bool(by_index[1]) == bool(by_reading[1]), chosen
                continue
            assert by_index == by_reading, chosen
            assert by_index[1] == closed, chosen
        listed, skipped = engine.indexed().list_files(ScopeSpec())
        assert listed == [b"a.txt", b"k/open"]
        assert b"d" in {each.path for each in skipped}
    finally:
        os.chmod(f"{root}/k/new", 0o700)
        os.chmod(f"{root}/d", 0o700)
    assert faults(engine)[0] == faults(engine)[1]
    assert faults(engine)[0][1] == []
    diff = diff_of(engine) if watched else engine.indexed().tree_diff()
    assert seen(engine, diff) == truth(engine)
