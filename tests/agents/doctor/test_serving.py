"""The hook, the MCP server and the memo."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.agents.doctor.conftest import only
from triseek import paths
from triseek.agents.doctor import serving
from triseek.ipc import lock


def test_the_memo_is_not_put_to_the_proof_where_no_daemon_is(host, triseek):
    assert list(serving.memo(host(program=triseek))) == []


def test_a_daemon_that_did_not_answer_is_not_asked_again(host, programs, monkeypatch):
    """Not by the hook, which is another process, nor where asking it took the doctor a while."""
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    path = programs("triseek", '[ -n "$TRISEEK_NO_DAEMON" ] || echo it is asked')
    stuck = host(program=path, is_daemon_stuck=True)
    os.mkdir(paths.daemon(), 0o700)
    descriptor = lock.take()
    assert descriptor is not None
    try:
        assert only(serving.hook(stuck)).level in ("ok", "warn")
        assert list(serving.memo(stuck)) == []
    finally:
        os.close(descriptor)


def test_a_hook_that_is_silent_is_fine(host, triseek):
    said = only(serving.hook(host(program=triseek)))

    assert said.level in ("ok", "warn"), said  # warn: on a machine that has no time
    assert not Path(paths.daemon()).exists()


@pytest.mark.parametrize("script", ["echo a word", "echo a word >&2", "exit 1", "kill -9 $$"])
def test_a_hook_that_disturbs_the_agent_fails(host, programs, script):
    path = programs("triseek", script)

    said = only(serving.hook(host(program=path)))

    assert said.level == "fail"
    assert said.mend


def test_a_hook_that_does_not_start_fails(host):
    assert only(serving.hook(host(program="/no/such/triseek"))).level == "fail"


def test_a_server_that_answers_is_fine(host, triseek):
    said = only(serving.server(host(program=triseek)))

    assert said.level == "ok", said
    assert re.search(r"with \d+ tools", said.detail)
    assert not Path(paths.daemon()).exists()


@pytest.mark.parametrize("script", ["exit 3", "echo nonsense", 'read a; echo \'{"id":"tools"}\''])
def test_a_server_that_does_not_answer_fails(host, programs, script):
    said = only(serving.server(host(program=programs("triseek", script))))

    assert (said.level, said.mend) == ("fail", f"{programs.folder}/triseek mcp serve")
