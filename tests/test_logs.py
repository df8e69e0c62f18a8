"""The daemon's lines, and what the command line says."""

from __future__ import annotations

import json
import logging
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from triseek import logs
from triseek.errors import InvalidRequest, StateUnwritable
from triseek.ipc import lock

logger = logging.getLogger("triseek.anything")


@pytest.fixture
def daemon_log(home):
    lock.ensure_folder()
    logs.configure("daemon")
    yield lambda: [json.loads(line) for line in Path(logs.path()).read_text().splitlines()]
    logs.close()


def test_a_line_says_when_how_grave_what_and_whatever_else_is_known(daemon_log):
    logger.info("segment committed", extra={"root": "/x", "ms": 1.5, "verb": None})
    (line,) = daemon_log()

    age = datetime.now(UTC) - datetime.fromisoformat(line.pop("time"))
    assert 0 <= age.total_seconds() < 60
    assert line == {"level": "info", "event": "segment committed", "root": "/x", "ms": 1.5}


def test_a_request_is_named_in_its_own_thread_only(daemon_log):
    logs.request.set("7-1")
    logger.info("inside")
    other = threading.Thread(target=lambda: logger.info("outside"))
    other.start()
    other.join()
    logs.request.set("")

    assert [line.get("request") for line in daemon_log()] == ["7-1", None]


def test_what_is_no_json_and_no_utf_8_is_still_one_line(daemon_log):
    logger.warning("odd\nevent \udc80", extra={"root": b"\xff", "what": {1, 2}})
    (line,) = daemon_log()

    assert line["event"] == "odd\nevent \udc80"
    assert line["root"] == "b'\\xff'"


def test_a_traceback_is_kept(daemon_log):
    try:
        int("why")
    except ValueError:
        logger.exception("handler failed")

    assert daemon_log()[0]["traceback"].endswith("with base 10: 'why'")


def test_below_the_level_nothing_is_kept(home):
    lock.ensure_folder()
    logs.configure("daemon", "warning")
    logger.info("quiet")
    logger.warning("loud")
    logs.close()

    assert Path(logs.path()).read_text().count("\n") == 1


def test_a_full_log_is_put_aside_and_the_oldest_forgotten(home, monkeypatch):
    monkeypatch.setattr(logs, "SIZE", 1000)
    lock.ensure_folder()
    logs.configure("daemon")
    for number in range(200):
        logger.info("event", extra={"number": number})
    logs.close()

    files = sorted(Path(logs.path()).parent.glob("daemon.log*"))
    assert [file.name for file in files] == [
        "daemon.log",
        "daemon.log.1",
        "daemon.log.2",
        "daemon.log.3",
    ]
    assert all(file.stat().st_size <= 1000 for file in files)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert '"number": 199' in Path(logs.path()).read_text()


def test_the_command_line_warns_on_stderr_and_is_silent_otherwise(capsys):
    logs.configure("cli")
    logger.info("quiet")
    logger.warning("an index is damaged")
    logs.close()

    assert capsys.readouterr().err == "triseek: an index is damaged\n"


def test_configuring_again_replaces_what_was(home, capsys):
    lock.ensure_folder()
    logs.configure("cli")
    logs.configure("daemon")
    logger.warning("once")
    logs.close()

    assert capsys.readouterr().err == ""
    assert logging.getLogger("triseek").handlers == []


def test_a_log_that_cannot_be_written_is_named(home):
    with pytest.raises(StateUnwritable, match=r"cannot write the log .*daemon\.log"):
        logs.configure("daemon")


def test_there_are_two_roles():
    with pytest.raises(InvalidRequest):
        logs.configure("janitor")


def test_secrets_are_not_logged(daemon_log):
    key = "AKIA" + "Q7" * 8
    logger.warning("failed for %s", key, extra={"error": f"invalid pattern: ({key}", "token": key})
    (line,) = daemon_log()

    assert key not in str(line)
    assert line["error"] == "invalid pattern: ([redacted: aws-key]"
