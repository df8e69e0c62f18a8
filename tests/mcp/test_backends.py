"""Where an agent's session runs if no daemon can be used."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.speaking import children_of
from triseek.errors import InvalidRequest
from triseek.mcp import backends
from triseek.mcp.backends import DAEMONS_MAX, Opener

WITHIN_S = 20.0


def words_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_after_too_many_losses_the_session_runs_in_a_process_of_its_own(repo: Any) -> None:
    opener = Opener(repo({"a.txt": "text\n"}), "search")

    sock, is_daemon = opener("", 1, DAEMONS_MAX)
    try:
        sock.settimeout(WITHIN_S)
        sock.sendall(b'1 {"jsonrpc":"2.0","id":7,"method":"ping"}\n')
        with sock.makefile("rb") as lines:
            answer = next(line for line in lines if line.startswith(b"1 {"))
    finally:
        opener.close()

    assert not is_daemon
    assert b'"id":7' in answer


def test_a_session_just_opened_here_does_not_look_for_a_daemon(repo: Any) -> None:
    opener = Opener(repo({"a.txt": "text\n"}), "search")
    opener("", 0, 0)
    try:
        assert not opener.is_daemon_back()
    finally:
        opener.close()


def test_a_call_that_ends_its_process_ends_the_session_only(repo: Any) -> None:
    opener = Opener(repo({"a.txt": "text\n"}), "search")
    sock, _ = opener("", 1, DAEMONS_MAX)
    [child] = [pid for pid in children_of(os.getpid()) if b"isolated" in words_of(pid)]
    try:
        os.kill(child, signal.SIGKILL)

        sock.settimeout(WITHIN_S)
        assert sock.recv(1) == b""
    finally:
        opener.close()


@pytest.mark.parametrize("rest_s", [0.0, 30.0])
def test_after_losses_no_daemon_is_used_for_a_while(
    repo: Any, monkeypatch: pytest.MonkeyPatch, rest_s: float
) -> None:
    monkeypatch.setattr(backends, "REST_S", rest_s)
    monkeypatch.setattr(backends.address, "connect", lambda _: socket.socket())
    opener = Opener(repo({"a.txt": "text\n"}), "search")
    opener("", 1, DAEMONS_MAX)
    try:
        assert opener.is_daemon_back() == (rest_s == 0.0)
    finally:
        opener.close()


def test_an_unknown_toolset_is_refused(repo: Any) -> None:
    opener = Opener(repo({}), "search,nonsense")

    with pytest.raises(InvalidRequest, match="no such toolset: nonsense"):
        opener("", 0, 0)
