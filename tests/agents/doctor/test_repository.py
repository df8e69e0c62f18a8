"""The repository the doctor was called in, with real indexes and a real daemon."""

from __future__ import annotations

import os
import sys
import time

import pytest

from tests.e2e.living import Living
from triseek.agents.doctor import repository
from triseek.agents.doctor.repository import Taken, enough, taken_by
from triseek.engine.engine import Engine
from triseek.engine.service import Service
from triseek.files.watch import inotify
from triseek.index.update import RACY_NS

pytestmark = pytest.mark.long


@pytest.fixture
def living(home):
    with Living(home) as living:
        yield living


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src/a.py").write_text("needle\n")
    return os.path.realpath(folder)


def looked(host, root):
    with Service() as service:
        engine = service.engine(root)
        return list(repository.repository(host(cwd=root), engine))


def built(root):
    with Service() as service:
        engine = service.engine(root, exact=True)
        engine.build()
        return engine


def test_a_repository_without_an_index_is_told_how_to_get_one(host, root):
    (said,) = looked(host, os.path.join(root, "src"))

    assert (said.level, said.mend) == ("warn", f"triseek build {root}")


def test_a_home_folder_needs_none_although_git_keeps_it(host, root, monkeypatch):
    monkeypatch.setenv("HOME", root)
    (said,) = looked(host, root)

    assert (said.level, said.mend) == ("info", "")
    assert "not indexed by itself" in said.detail


def test_a_folder_that_is_no_repository_needs_none(host, tmp_path):
    (said,) = looked(host, str(tmp_path))

    assert said.level == "info"


def test_an_index_is_compared_with_the_tree(host, root):
    built(root)
    time.sleep(RACY_NS * 2 / 1e9)  # until then nobody can tell that nothing was written since
    (said,) = looked(host, root)
    assert said.level == "ok"

    with open(f"{root}/src/b.py", "w") as file:
        file.write("more\n")
    (said,) = looked(host, root)

    assert (said.level, said.mend) == ("info", f"triseek update {root}")
    assert "1 file changed since" in said.detail


def test_a_damaged_index_is_to_be_built_anew(host, root):
    engine = built(root)
    assert engine.index_dir is not None
    with open(os.path.join(engine.index_dir, "CURRENT"), "wb") as file:
        file.write(b"nonsense")

    (said,) = looked(host, root)

    assert (said.level, said.mend) == ("fail", f"triseek reindex {root}")


def test_the_daemon_knows_without_a_sweep(host, root, living):
    built(root)
    living.start()
    living.wait_watched(root)

    index, watch = looked(host, root)

    assert (index.level, watch.level) == ("ok", "ok")


def test_the_folders_of_an_index_are_counted(root):
    assert repository.folders(Engine(root)) == 0
    engine = built(root)
    assert repository.folders(engine) == 2


@pytest.mark.parametrize(
    ("need", "allowed", "watches", "taken", "level", "mend"),
    [
        (100, 2_000, 8_192, 500, "ok", ""),
        (0, 2_000, 8_192, 500, "ok", ""),
        (3_000, 2_048, 8_192, 0, "warn", "sudo sysctl fs.inotify.max_user_watches=16384"),
        (
            3_000, 2_000, 65_536, 0, "warn",
            "export TRISEEK_WATCH_MAX_FOLDERS=4096; triseek daemon restart",
        ),
        (100, 2_000, 8_192, 8_192, "warn", "sudo sysctl fs.inotify.max_user_watches=16384"),
    ],
)  # fmt: skip
def test_limits_are_held_against_what_is_needed(need, allowed, watches, taken, level, mend):
    said = enough(need, allowed, watches, Taken(1, taken))

    assert (said.level, said.mend) == (level, mend)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
def test_watches_of_a_process_are_counted(tmp_path):
    def mine():
        return taken_by(iter([f"/proc/{os.getpid()}"]))

    before, instance = mine(), inotify.Inotify()
    (tmp_path / "a").mkdir()
    for folder in (tmp_path, tmp_path / "a"):
        instance.add(os.fsencode(folder))
    between = mine()
    instance.close()

    assert between == Taken(before.instances + 1, before.watches + 2)
    assert mine() == before


def test_processes_that_are_gone_count_for_nothing():
    assert taken_by(iter(["/proc/0", "/no/such/place"])) == Taken(0, 0)
