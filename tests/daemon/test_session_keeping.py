"""The daemon's sessions are saved, and those that nobody asked for do not stay for ever."""

from __future__ import annotations

import time

import pytest

from triseek import paths
from triseek.daemon import session_keeping
from triseek.daemon.session_keeping import PRUNE_S, SessionKeeping
from triseek.service.service import Service
from triseek.sessions import files
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.memo.memo import Memo


@pytest.fixture
def keeping():
    with Service() as service:
        yield lambda: SessionKeeping(service, Memo(None))


def opened(age_s, **how):
    sessions = Sessions(paths.sessions(), lambda: time.time() - age_s)
    session = sessions.open("/repo", **how)
    sessions.save()
    return session.session_id


def known():
    return set(files.peek(paths.sessions()))  # an owner would remove what is being written


def test_what_began_by_itself_goes_when_nobody_has_used_it_for_long(keeping):
    old = opened(PRUNE_S + 60, by_itself=True)
    kept = {opened(PRUNE_S - 60, by_itself=True),
            opened(PRUNE_S + 60, session_id="asked-for")}  # fmt: skip
    assert known() == {old, *kept}

    keeping().close()

    assert known() == kept


def test_a_daemon_that_runs_on_saves_and_prunes_too(keeping, monkeypatch):
    monkeypatch.setattr(session_keeping, "SYNC_S", 0.01)
    opened(PRUNE_S + 60, by_itself=True)
    running = keeping()
    running.start()
    until = time.monotonic() + 60
    while known() and time.monotonic() < until:
        time.sleep(0.01)

    assert known() == set()
    running.close()
