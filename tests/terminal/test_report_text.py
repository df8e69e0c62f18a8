"""What others have written is shown so that a terminal takes it for text."""

from __future__ import annotations

import io
import sys
import time
from typing import TYPE_CHECKING

from triseek.model.index import no_progress
from triseek.terminal.report_text import TITLES, local_time, progress_bars, readable

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_a_terminal_would_obey_is_shown_escaped() -> None:
    shown = readable("a\x1b[2Jb\x07\r\n\tc\x9b1m\u202e")
    assert shown == "a\\x1b[2Jb\\x07\\r\n\tc\\x9b1m\\u202e"
    assert readable("→ é \udcff") == "→ é \\udcff"


def test_a_time_is_told_to_the_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    try:
        assert local_time(1_746_300_000) == "2025-05-03 19:20"
        assert local_time(1 << 62) == str(1 << 62)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_elsewhere_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bars() as report:
        assert report is no_progress


def test_a_stage_has_a_bar_from_its_first_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with progress_bars() as report:
        report("walk", 3, 0)
        report("read", 1, 9)
        report("read", 9, 9)

    assert TITLES["walk"] in terminal.getvalue()
    assert "9/9" in terminal.getvalue()
    assert TITLES["write"] not in terminal.getvalue()
