"""Sessions are opened, used, listed and closed, and outlive the process."""

from __future__ import annotations

import dataclasses
import threading

import pytest

from triseek.errors import InvalidRequest, StateUnwritable
from triseek.sessions import files
from triseek.sessions.lifecycle import Sessions


class Clock:
    def __init__(self, now=1_777_803_396.0):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def sessions(tmp_path, clock):
    return Sessions(tmp_path / "sessions", clock)


def test_a_session_is_as_the_contract_shows_it(sessions):
    assert sessions.open("/repo", "Debug retry backoff config").document() == {
        "schema_version": 1,
        "session_id": "session_1777803396000",
        "goal": "Debug retry backoff config",
        "repo_root": "/repo",
        "status": "open",
        "created_at": 1777803396,
        "updated_at": 1777803396,
    }


def test_two_of_one_moment_have_two_names(sessions):
    assert sessions.open("/repo").session_id != sessions.open("/repo").session_id


def test_reopening_changes_the_goal_only_if_there_is_one(sessions, clock):
    sessions.open("/repo", "first", "mine")
    sessions.close("mine", "resolved")
    clock.now += 5

    assert sessions.open("/repo", "  ", "mine").goal == "first"
    again = sessions.open("/repo", "second", "mine")
    assert (again.goal, again.status, again.updated_at - again.created_at) == ("second", "open", 5)


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/b",
        ".hidden",
        "a b",
        "é",
        "x" * 129,
        "a\n",
        "a\0",
        "sessions.json",
        "SESSIONS.JSON.1",
        "a.partial",
    ],
)
def test_what_is_no_safe_name_is_refused(sessions, tmp_path, name):
    with pytest.raises(InvalidRequest):
        sessions.open("/repo", "", name)
    with pytest.raises(InvalidRequest):
        sessions.get(name)
    assert not list(tmp_path.iterdir())


def test_another_repository_does_not_take_a_session_over(sessions):
    sessions.open("/repo", "", "mine")
    with pytest.raises(InvalidRequest, match="/repo"):
        sessions.open("/other", "", "mine")


def test_they_are_listed_by_repository_last_used_first(sessions, clock):
    for name, root in (("a", "/repo"), ("b", "/repo"), ("c", "/other")):
        sessions.open(root, "", name)
        clock.now += 1
    sessions.record("a", "read", {"path": "x"})

    assert [s.session_id for s in sessions.all("/repo")] == ["a", "b"]
    assert sessions.current("/repo").session_id == "b"  # used less lately, and opened last
    sessions.open("/repo", session_id="a")
    assert sessions.current("/repo").session_id == "a"
    sessions.close("a", "abandoned")
    assert [s.session_id for s in sessions.all("/repo", "open")] == ["b"]
    assert sessions.close("b", "resolved").status == "resolved"
    assert sessions.current("/repo") is None


def test_a_session_ends_resolved_or_abandoned(sessions):
    sessions.open("/repo", "", "mine")
    with pytest.raises(InvalidRequest, match="finished"):
        sessions.close("mine", "finished")
    with pytest.raises(InvalidRequest, match="unknown session_id `yours`"):
        sessions.close("yours", "resolved")


def test_everything_is_there_again_after_a_restart(sessions, tmp_path, clock):
    sessions.open("/repo", "goal", "mine")
    numbers = [sessions.record("mine", "read", {"path": f"f{n}"}) for n in range(5)]

    again = Sessions(tmp_path / "sessions", clock)
    assert again.get("mine").goal == "goal"
    assert len(again.log("mine")) == 6
    assert again.record("mine", "read", {}) == numbers[-1] + 1


def test_many_at_once_lose_no_entry(sessions):
    sessions.open("/repo", "", "mine")
    threads = [
        threading.Thread(target=lambda: [sessions.record("mine", "read", {}) for _ in range(100)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    numbers = [entry.entry_id for entry in sessions.log("mine")]
    assert len(numbers) == 801
    assert numbers == sorted(set(numbers))


def test_a_session_that_cannot_be_pruned_now_is_pruned_later(
    sessions, clock, tmp_path, monkeypatch
):
    old = sessions.open("/repo", by_itself=True).session_id
    clock.now += 100

    def full(*_):
        raise StateUnwritable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(files, "save", full)
        with pytest.raises(StateUnwritable):
            sessions.prune(60)
    assert sessions.get(old).session_id == old

    assert sessions.prune(60) == 1
    assert not (tmp_path / "sessions" / old).exists()
    assert Sessions(tmp_path / "sessions", clock).all("/repo") == []


def test_a_session_is_replaced_with_its_log(sessions, tmp_path, clock):
    sessions.open("/repo", "a goal", "mine")
    for path in ("a", "b"):
        sessions.record("mine", "read", {"path": path})

    def without_a(session, log):
        kept = [entry for entry in log if entry.payload.get("path") != "a"]
        return dataclasses.replace(session, goal="another"), kept

    sessions.rewrite("mine", without_a)
    number = sessions.record("mine", "read", {"path": "c"})
    again = Sessions(tmp_path / "sessions", clock)
    assert again.get("mine").goal == "another"
    assert [entry.payload.get("path") for entry in again.log("mine")] == [None, "b", "c"]
    assert number == 4


def test_a_session_of_which_nothing_is_kept_is_deleted(sessions, tmp_path, clock):
    sessions.open("/repo", "a goal", "mine")
    sessions.open("/repo", "other", "theirs")
    sessions.rewrite("mine", lambda _session, _log: None)
    assert [session.session_id for session in sessions.every()] == ["theirs"]
    assert not (tmp_path / "sessions" / "mine").exists()
    assert [session.session_id for session in Sessions(tmp_path / "sessions", clock).every()] == [
        "theirs"
    ]
    with pytest.raises(InvalidRequest):
        sessions.rewrite("mine", lambda _session, _log: None)


def test_nobody_records_while_a_session_is_replaced(sessions):
    sessions.open("/repo", "", "mine")
    entered, recorded = threading.Event(), []

    def record():
        entered.wait(60)
        recorded.append(sessions.record("mine", "read", {"path": "late"}))

    thread = threading.Thread(target=record)
    thread.start()

    def choose(session, log):
        entries = list(log)
        entered.set()
        thread.join(0.1)
        assert recorded == []
        return session, entries

    sessions.rewrite("mine", choose)
    thread.join(60)
    assert [entry.kind for entry in sessions.log("mine")] == ["session_open", "read"]
