"""The caller of a tool."""

from __future__ import annotations

from triseek.model.call import Call


def test_a_call_is_not_cancelled_and_needs_no_progress() -> None:
    call = Call()

    assert not call.cancelled()
    call.progress("walk", 1, 2)
    assert (call.conversation, call.who, call.connection) == (None, {}, "")


def test_two_calls_share_no_identity() -> None:
    assert Call().who is not Call().who
