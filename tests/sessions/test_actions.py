"""What was done is kept, the last thousand things of it."""

from __future__ import annotations

import threading

from triseek.sessions.actions import RECENT_MAX, Action, Recent


def action(number):
    return Action(at_s=float(number), kind="search", conversation=None)


def test_actions_are_kept_oldest_first():
    recent = Recent()
    for number in range(3):
        recent(action(number))

    assert [kept.at_s for kept in recent] == [0.0, 1.0, 2.0]
    assert len(recent) == 3


def test_the_oldest_goes_when_there_are_too_many():
    recent = Recent()
    for number in range(RECENT_MAX + 5):
        recent(action(number))

    assert len(recent) == RECENT_MAX
    assert next(iter(recent)).at_s == 5.0


def test_reading_while_others_write_sees_whole_actions():
    recent = Recent()
    writers = [
        threading.Thread(target=lambda: [recent(action(number)) for number in range(300)])
        for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    seen = [len(list(recent)) for _ in range(50)]
    for writer in writers:
        writer.join()

    assert seen == sorted(seen)
    assert len(recent) == min(1_200, RECENT_MAX)
