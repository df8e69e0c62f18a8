"""Progress is drawn on a terminal only."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from triseek.model.index import no_progress
from triseek.terminal.progress import TITLES, progress_bars

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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
