"""What only a daemon can do is asked of one; one is started where none runs and one may be."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from tests.cli.serving import pretending
from triseek.errors import DaemonUnreachable, VersionMismatch
from triseek.ipc import ask, wire

if TYPE_CHECKING:
    import socket
    from pathlib import Path


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of its own."""
    monkeypatch.setenv("TRISEEK_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def other_version(sock: socket.socket) -> None:
    wire.receive(sock, wire.ANSWER_LIMIT)
    wire.send(sock, bytes((wire.DECLINED,)) + b"version 0.0.1")


def test_a_daemon_of_another_version_that_may_not_be_replaced_is_said(state: Path) -> None:
    with pretending(other_version), pytest.raises(VersionMismatch) as raised:
        ask.required("session_list", {"target_root": str(state)})

    assert "triseek daemon restart" in raised.value.next_step


def silent(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        wire.receive(sock, wire.ANSWER_LIMIT)
    sock.close()


def test_one_that_gives_no_answer_is_not_joined_by_another(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.delenv("CI", raising=False)
    with pretending(silent) as count, pytest.raises(DaemonUnreachable):
        ask.required("session_list", {"target_root": str(state)})

    assert len(count) == 1
    assert not (state / "daemon" / "start.log").exists()


def test_none_is_started_where_the_settings_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRISEEK_NO_DAEMON")
    monkeypatch.delenv("CI", raising=False)
    state = tmp_path / "state"
    state.mkdir()
    (state / "config.toml").write_text("[daemon]\nautostart = false\n")
    monkeypatch.setenv("TRISEEK_HOME", str(state))

    with pytest.raises(DaemonUnreachable) as raised:
        ask.required("session_list", {"target_root": str(state)})
    assert raised.value.next_step == (
        "None is started because daemon.autostart is false: run `triseek daemon start`."
    )


def test_who_can_do_without_is_told_that_none_runs(state: Path) -> None:
    assert ask.if_running("session_list", {"target_root": str(state)}) is None


def test_who_can_do_without_is_told_of_one_that_gives_no_answer(state: Path) -> None:
    with pretending(silent), pytest.raises(DaemonUnreachable):
        ask.if_running("session_list", {"target_root": str(state)})
