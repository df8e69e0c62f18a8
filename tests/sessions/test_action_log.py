"""A log keeps every whole entry, whatever happened to the process that wrote it."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.errors import StateUnwritable
from triseek.model.session import LogEntry
from triseek.sessions.action_log import LINE_MAX, ActionLog, Counted


def entry(number, **payload):
    return LogEntry(entry_id=number, session_id="s", ts=7, kind="read", payload=payload)


def ids(log):
    return [each.entry_id for each in log]


def test_what_was_appended_is_read_again_in_order(tmp_path):
    log = ActionLog(tmp_path / "s")
    for number in range(1, 6):
        log.append(entry(number, path=f"f{number} é\n\0.py"))

    again = ActionLog(tmp_path / "s")
    assert (len(log), len(again), again.last_id()) == (5, 5, 5)
    assert [each.payload["path"] for each in again] == [f"f{n} é\n\0.py" for n in range(1, 6)]
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_a_log_that_is_not_there_is_empty(tmp_path):
    log = ActionLog(tmp_path / "none")
    assert (len(log), ids(log), log.last_id()) == (0, [], 0)
    log.sync()
    assert not log.path.exists()


@given(st.integers(min_value=1, max_value=200))
def test_a_torn_last_entry_is_all_that_is_lost(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("log")
    log = ActionLog(folder)
    log.append(entry(1))
    whole = log.path.stat().st_size
    log.append(entry(2, text="x" * 100))
    os.truncate(log.path, max(whole, log.path.stat().st_size - cut))

    reopened = ActionLog(folder)
    assert ids(reopened)[:1] == [1]
    reopened.append(entry(3))
    assert ids(reopened) == [1, 3]
    assert len(reopened) == len(ActionLog(folder)) == 2


def test_lines_of_another_hand_are_passed_over(tmp_path):
    log = ActionLog(tmp_path)
    log.append(entry(1))
    with log.path.open("ab") as file:
        file.write(b"garbage\n[1]\n\xff\n" + b"[" * 70_000 + b"\n")
        file.write(json.dumps({**entry(2).document(), "schema_version": 2}).encode() + b"\n")
    log.append(entry(3))

    assert ids(log) == [1, 3]
    assert log.last_id() == 3


def test_an_entry_that_is_too_large_says_so(tmp_path):
    log = ActionLog(tmp_path)
    log.append(entry(1, text="x" * LINE_MAX))

    [kept] = log
    assert kept.payload["omitted"] == "too large"
    assert log.path.stat().st_size < 1000


def test_where_nothing_can_be_written_it_says_so(tmp_path):
    (tmp_path / "s").write_text("a file where the folder would be")

    with pytest.raises(StateUnwritable):
        ActionLog(tmp_path / "s").append(entry(1))


def deep(levels):
    value = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 1 << 70, deep(40), deep(3_000)], ids=range(5)
)
def test_what_no_reader_would_take_is_left_out_of_an_entry(tmp_path, value):
    log = ActionLog(tmp_path)
    log.append(entry(1, n=value))
    log.append(entry(2, n=deep(31)))

    first, second = log
    assert first.payload == {"omitted": "no plain JSON"}
    assert second.payload == {"n": deep(31)}


def test_the_newest_number_is_found_behind_a_lot_of_garbage(tmp_path):
    log = ActionLog(tmp_path)
    for number in (1, 2, 3):
        log.append(entry(number))
    with log.path.open("ab") as file:
        file.write(b"garbage\n" * 40_000)

    assert log.last_id() == 3


def test_of_a_log_of_another_length_the_count_is_not_believed(tmp_path):
    log = ActionLog(tmp_path)
    for number in range(1, 6):
        log.append(entry(number))
    told = log.counted()
    size = log.path.stat().st_size

    assert told == Counted(5, size)
    assert len(ActionLog(tmp_path, told)) == 5
    assert len(ActionLog(tmp_path, Counted(70, size + 1))) == 5
    assert len(ActionLog(tmp_path, Counted(70, size - 1))) == 5
    os.truncate(log.path, size - 3)
    assert len(ActionLog(tmp_path, told)) == 4


def test_the_newest_entries_are_those_of_their_lines(tmp_path):
    log = ActionLog(tmp_path)
    for number in range(1, 101):
        log.append(entry(number, path="x" * 50))
    newest = log.newest(2_000)

    assert [json.loads(line)["entry_id"] for line in newest.lines] == [
        each.entry_id for each in newest.entries
    ]
    assert newest.entries[-1].entry_id == 100
    assert newest.omitted == newest.entries[0].entry_id - 1


def test_a_log_is_written_anew_and_goes_on(tmp_path):
    log = ActionLog(tmp_path / "s")
    for number in range(1, 6):
        log.append(entry(number))
    log.replace([entry(2), entry(4)])
    assert (len(log), ids(log), log.last_id()) == (2, [2, 4], 4)
    log.append(entry(6))
    again = ActionLog(tmp_path / "s", log.counted())
    assert (len(again), ids(again)) == (3, [2, 4, 6])
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_written_anew_is_as_it_was(tmp_path, monkeypatch):
    log = ActionLog(tmp_path / "s")
    log.append(entry(1))

    def fail(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StateUnwritable, match="No space"):
        log.replace([])
    assert ids(log) == [1]
