"""frecency-select beside a daemon that owns the scores, both as processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import command
from tests.engine.frecency_contents import top
from triseek.engine.frecency import Frecency
from triseek.engine.roots import index_dir
from triseek.ipc import address, lock

SERVE = """
import os
from triseek import config
from triseek.daemon import process
from triseek.daemon.server import Declined, Handlers
from triseek.engine.frecency import Frecency
from triseek.engine.roots import index_dir

owned = {}

def select(params, streams):
    root = params["target_root"]
    if root not in owned:
        owned[root] = Frecency(index_dir(root))
        owned[root].claim()
    paths = [os.fsencode(path) for path in params["paths"]]
    return {"recorded": owned[root].touch("select", paths)}

class Scores:
    def start(self): pass
    def busy(self): return False
    def close(self):
        for each in owned.values():
            each.close()

handlers = Handlers(text=lambda params, streams: Declined("none"), calls={"frecency_select": select})
process.run(lambda settings: (handlers, [Scores()]), config.read())
"""  # noqa: E501 - a program in a string


def is_there():
    try:
        address.connect(1).close()
    except (address.Absent, OSError):
        return False
    return True


@pytest.fixture
def daemon(home, monkeypatch):
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    running = subprocess.Popen([sys.executable, "-c", SERVE], env=environ)
    deadline = time.monotonic() + 20
    while not is_there() and time.monotonic() < deadline:
        time.sleep(0.02)
    yield running
    running.kill()
    running.wait()
    assert lock.wait_until_free(10)


@pytest.fixture
def tree(repo):
    return Path(repo({"a.c": "x\n", os.fsencode("\udcff.c"): "x\n"}))


def selected(tree, path):
    outcome = command(["frecency-select", "--json", path], tree)
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)["recorded"]


def test_a_daemon_that_owns_the_scores_counts(tree, daemon):
    assert selected(tree, "a.c") == 1
    assert selected(tree, os.fsdecode(b"\xff.c")) == 1
    view = Frecency(index_dir(str(tree)))
    view.claim()
    assert not view.owned
    assert top(view, 9) == []  # not yet saved

    daemon.send_signal(signal.SIGTERM)
    daemon.wait()
    assert sorted(path for path, _ in top(Frecency(index_dir(str(tree))), 9)) == [b"a.c", b"\xff.c"]


def test_after_the_daemon_was_killed_the_command_counts_itself(tree, daemon):
    selected(tree, "a.c")
    daemon.kill()
    daemon.wait()

    assert selected(tree, "a.c") == 1
    assert dict(top(Frecency(index_dir(str(tree))), 9)) == {b"a.c": pytest.approx(3, abs=0.01)}
