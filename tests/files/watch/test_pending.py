"""Pending changes are bounded, and cookies wake whoever waits for them."""

from __future__ import annotations

import threading

import pytest

from triseek.errors import StateUnwritable
from triseek.files.watch import pending
from triseek.files.watch.pending import Changes, Cookies, EventBatch, PendingChanges


def batch(**fields):
    made = EventBatch()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_changes_are_taken_once():
    changes = PendingChanges()
    assert not changes.wait(0)
    changes.add(batch(files={b"a"}, folders={b""}))
    changes.add(batch(files={b"a", b"b"}, trees={b"t"}))
    assert changes.wait(0)
    assert changes.take() == Changes(frozenset({b"a", b"b"}), frozenset({b""}), frozenset({b"t"}))
    assert changes.take() == Changes()


@pytest.mark.parametrize(("bound", "most"), [("NAMES_MAX", 2), ("NAMES_BYTES_MAX", 5)])
def test_too_many_names_are_a_loss(monkeypatch, bound, most):
    monkeypatch.setattr(pending, bound, most)
    changes = PendingChanges()
    changes.add(batch(files={b"aaa", b"b", b"cc"}))
    changes.add(batch(files={b"d"}))
    assert changes.take() == Changes(lost=True)


def test_after_the_end_nobody_waits():
    changes = PendingChanges()
    changes.end(gone=True)
    assert changes.wait(60)
    assert changes.take() == Changes(lost=True, gone=True)
    assert not changes.wait(60)


def test_a_cookie_that_is_seen_wakes_its_caller_and_leaves_no_file(tmp_path):
    cookies = Cookies(str(tmp_path / "jar"))
    assert cookies.round_trip(cookies.seen_all, 60)
    assert (cookies.unheard, cookies.failure, cookies.awaited()) == (0, "", False)
    assert list((tmp_path / "jar").iterdir()) == []
    cookies.seen([b"somebody else's"])


def test_cookies_that_are_not_seen_are_counted(tmp_path):
    cookies = Cookies(str(tmp_path / "jar"))
    assert not cookies.round_trip(lambda: None, 0.001)
    assert not cookies.round_trip(lambda: None, 0.001)
    assert cookies.unheard == 2
    assert "no event of a new file" in cookies.failure
    (tmp_path / "jar").rmdir()
    assert not cookies.round_trip(lambda: None, 0.001)
    assert "cannot make a file" in cookies.failure


def test_closing_fails_who_waits_and_who_comes_later(tmp_path):
    cookies = Cookies(str(tmp_path / "jar"))
    timer = threading.Timer(0.01, cookies.close)
    timer.start()
    assert not cookies.round_trip(lambda: None, 60)
    timer.join()
    assert not cookies.round_trip(lambda: None, 60)


def test_a_folder_for_cookies_that_cannot_be_made_is_a_state_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateUnwritable, match="cannot make"):
        Cookies(str(tmp_path / "file" / "jar"))
