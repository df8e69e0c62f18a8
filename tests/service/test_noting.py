"""Every action of a server becomes an entry, once and in order, whatever becomes of the daemon."""

from __future__ import annotations

import threading
import time

import pytest

from tests.service.asked import Asked
from triseek.errors import (
    Busy,
    DaemonUnreachable,
    InvalidRequest,
    StateUnwritable,
    VersionMismatch,
)
from triseek.ipc import client
from triseek.service import noting
from triseek.service.noting import Noting
from triseek.sessions.actions import Action


@pytest.fixture
def asked(tmp_path, monkeypatch):
    asked = Asked(tmp_path)
    monkeypatch.setattr(client, "ask", asked.ask)
    monkeypatch.setattr(noting, "RETRY_S", 0.01)
    asked.worked.ask("session_open", session_id="mine")
    yield asked
    asked.noting.close()


def act(asked, number, session_id="mine", **more):
    payload = {"tool": "find_files", "number": number, **more}
    asked.noting(
        Action(
            at_s=time.time(), kind="search", conversation="c", payload=payload,
            session_id=session_id,
        )
    )  # fmt: skip


def numbers(asked, session_id="mine"):
    return [payload["number"] for payload in asked.noted(session_id)]


def failing(times, error):
    """The first so many notes fail."""
    left = iter(range(times))
    return lambda verb: error if verb == "session_note" and next(left, None) is not None else None


def test_actions_are_told_in_order_and_several_at_once(asked):
    for number in range(500):
        act(asked, number)
    asked.noting.flush()

    batches = [params for verb, params in asked.asked if verb == "session_note"]
    assert numbers(asked) == list(range(500))
    assert len(batches) < 100
    assert all(len(params["notes"]) <= noting.BATCH_MAX for params in batches)


def test_several_threads_lose_none(asked):
    def work(first):
        for number in range(first, first + 200):
            act(asked, number)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1_000, 2_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked.noting.flush()

    found = numbers(asked)
    for first in (0, 1_000, 2_000):
        assert [one for one in found if first <= one < first + 1_000] == list(
            range(first, first + 200)
        )


def test_each_goes_to_its_own_session(asked):
    asked.worked.ask("session_open", session_id="other")
    for number in range(6):
        act(asked, number, ("mine", "other", "")[number % 3])
    asked.noting.flush()

    assert numbers(asked, "mine") == [0, 3]
    assert numbers(asked, "other") == [1, 2, 4, 5]  # it was opened last


@pytest.mark.parametrize(
    "error",
    [
        DaemonUnreachable("it does not answer"),
        Busy("many"),
        StateUnwritable("full"),
        VersionMismatch("older"),
    ],
)
def test_what_cannot_be_told_now_is_told_later(asked, error):
    asked.fails = failing(3, error)
    for number in range(5):
        act(asked, number)
    deadline = time.monotonic() + 20
    while len(numbers(asked)) < 5:
        asked.noting.flush(0.1)
        assert time.monotonic() < deadline

    assert numbers(asked) == list(range(5))


def test_what_makes_no_sense_to_the_daemon_holds_up_nothing(asked):
    asked.fails = failing(1, InvalidRequest("no"))
    act(asked, 0)
    asked.noting.flush()
    act(asked, 1)
    asked.noting.flush()

    assert numbers(asked) == [1]


def test_nobody_waits_for_a_daemon_that_is_not_there(asked):
    asked.fails = lambda _: DaemonUnreachable("none runs")
    began = time.monotonic()
    for number in range(100):
        act(asked, number)
    assert time.monotonic() - began < 50 * noting.RETRY_S
    began = time.monotonic()
    asked.noting.flush(60)

    assert time.monotonic() - began < 30


def test_without_a_session_nothing_is_kept_for_a_daemon_that_is_not_there(asked, monkeypatch):
    monkeypatch.setattr(noting, "KEPT_S", 0.05)
    asked.fails = lambda _: DaemonUnreachable("none runs")
    act(asked, 0, session_id="")
    deadline = time.monotonic() + 20
    while asked.noting._queue:
        time.sleep(0.01)
        assert time.monotonic() < deadline
    asked.fails = lambda _: None
    act(asked, 1, session_id="")
    asked.noting.flush()

    assert numbers(asked) == [1]


def test_the_end_tells_what_is_left_and_takes_no_more(asked):
    for number in range(300):
        act(asked, number)
    asked.noting.close()
    act(asked, 300)

    assert numbers(asked) == list(range(300))


def test_the_end_is_soon_without_a_daemon(asked, monkeypatch):
    monkeypatch.setattr(noting, "END_S", 60)
    asked.fails = lambda _: DaemonUnreachable("none runs")
    act(asked, 0)
    began = time.monotonic()
    asked.noting.close()

    assert time.monotonic() - began < 30


def test_what_waits_does_not_grow_for_ever(asked, monkeypatch):
    monkeypatch.setattr(noting, "QUEUE_MAX", 10)
    asked.fails = lambda _: DaemonUnreachable("none runs")
    for number in range(50):
        act(asked, number)
    asked.noting.flush()
    asked.fails = lambda _: None
    deadline = time.monotonic() + 20
    while asked.noting._queue:
        asked.noting.flush(0.1)
        assert time.monotonic() < deadline

    assert numbers(asked)[-1] == 49
    assert len(numbers(asked)) <= 11


def test_a_batch_is_no_longer_than_the_daemon_takes(asked):
    text = "x" * (noting.NOTE_BYTES // 2)
    for number in range(40):
        act(asked, number, arguments={"goal": text})
    act(asked, 40, arguments={"goal": "x" * noting.NOTE_BYTES})
    asked.noting.flush()

    found = asked.noted("mine")
    assert [payload["number"] for payload in found] == list(range(41))
    assert found[-1]["arguments"] == {}
    for _, params in asked.asked[1:]:
        assert len(str(params)) < 2 * noting.BATCH_BYTES


def test_a_server_that_does_nothing_has_no_thread(tmp_path):
    idle = Noting(str(tmp_path))
    idle.flush()
    idle.close()

    assert idle._thread is None
