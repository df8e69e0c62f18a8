"""Folders that may not be read: what lies in them is in no answer, until it may be again."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

from tests.e2e.as_nobody import NOBODY
from tests.engine import roads
from tests.engine.test_tracker import dirt_of, find, seen, truth
from triseek.engine.engine import Engine
from triseek.index.build import build


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
    roads.write(root, {"a.txt": "needle\n", "d/b.txt": "needle\n", "d/e/c.txt": "needle\n"})
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
        dirt = dirt_of(engine) if watched else engine.indexed().dirt()
        if allowed == 0o600:  # its names can be listed, and nothing of it be read
            continue
        assert seen(engine, dirt) == truth(engine)


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
    dirt_of(engine)
    roads.write(root, {"d/b.txt": "other\n"})
    assert find(engine, "needle")[0] == {b"a.txt"}
    os.chmod(f"{root}/d", 0o700)

    assert find(engine, "needle")[0] == {b"a.txt", b"d/e/c.txt"}
    assert find(engine, "other")[0] == {b"d/b.txt"}
