"""A child process that answers requests: its end, its time, its output."""

from __future__ import annotations

import os
import time
from contextlib import closing

import pytest

from triseek.engine.symbols import child as module
from triseek.engine.symbols.child import Child, ChildFailed, ChildSlow


def shell(script):
    return closing(Child(("/bin/sh", "-c", script), lambda answer: answer.endswith(b"\n")))


def is_gone(pid):
    until = time.monotonic() + 5
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < until:
        time.sleep(0.01)
    return not os.path.exists(f"/proc/{pid}")


def test_a_process_answers_many_requests():
    with shell("while read line; do echo $$ $line; done") as child:
        first, second = child.ask(b"a\n", 5).split(), child.ask(b"b\n", 5).split()
    assert (first[1], second[1]) == (b"a", b"b")
    assert first[0] == second[0]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_process_that_ends_by_itself_is_no_zombie_and_is_started_again():
    with shell("read line; echo $$") as child:
        first = int(child.ask(b"a\n", 5))
        assert is_gone(first)
        assert int(child.ask(b"b\n", 5)) != first


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_process_that_is_slow_is_killed():
    with shell("echo $$ >&2; read line; sleep 60") as child:
        with pytest.raises(ChildSlow):
            child.ask(b"a\n", 0.2)
        assert child._process is None


def test_a_process_that_writes_without_end_is_killed(monkeypatch):
    monkeypatch.setattr(module, "REPLY_MAX", 1 << 20)
    with shell("cat /dev/zero") as child, pytest.raises(ChildFailed, match="longer than"):
        child.ask(b"a\n", 20)


@pytest.mark.parametrize("words", [("/nonexistent/program",), ("/bin/sh", "-c", "exit 3")])
def test_a_process_that_cannot_serve_is_said(words):
    with closing(Child(words, bool)) as child, pytest.raises(ChildFailed):
        child.ask(b"a\n" * (1 << 18), 5)
