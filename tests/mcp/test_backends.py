"""Where an agent's session runs if no daemon can be used."""

from __future__ import annotations

from typing import Any

import pytest

from triseek.errors import InvalidRequest
from triseek.mcp.backends import LOSSES_MAX, Opener

WITHIN_S = 20.0


def test_after_too_many_losses_the_session_runs_in_this_process(repo: Any) -> None:
    opener = Opener(repo({"a.txt": "text\n"}), "search")

    sock, is_daemon = opener("", 1, LOSSES_MAX + 1)
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
    opener("", 1, LOSSES_MAX + 1)
    try:
        assert not opener.is_daemon_back()
    finally:
        opener.close()


def test_an_unknown_toolset_is_refused(repo: Any) -> None:
    opener = Opener(repo({}), "search,nonsense")

    with pytest.raises(InvalidRequest, match="no such toolset: nonsense"):
        opener("", 1, LOSSES_MAX + 1)
