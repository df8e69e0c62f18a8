"""What is saved on a timer is tried again, whatever goes wrong."""

from __future__ import annotations

import threading

import pytest

from triseek.daemon.autosave import Autosave
from triseek.errors import StateUnwritable


@pytest.mark.parametrize("error", [OSError("full"), StateUnwritable("full"), ValueError("a bug")])
def test_what_cannot_be_saved_is_tried_again_and_logged(caplog, error):
    times = []
    saved = threading.Event()

    def save():
        times.append(1)
        if len(times) > 2:
            saved.set()
        raise error

    saving = Autosave("memo", save, 0.01)
    saving.start()

    assert saved.wait(60)
    saving.stop(60)
    assert {record.getMessage() for record in caplog.records} == {"memo not saved"}


def test_after_the_end_nothing_is_saved():
    times = []
    saving = Autosave("memo", lambda: times.append(1), 0.01)
    saving.start()
    saving.stop(60)
    before = len(times)
    threading.Event().wait(0.1)

    assert len(times) == before
    saving.now()
    assert len(times) == before + 1


def test_what_was_never_begun_can_be_stopped():
    Autosave("memo", lambda: None, 0.01).stop(1)
