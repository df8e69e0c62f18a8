"""What others have written is shown so that a terminal takes it for text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from triseek.terminal.report_text import local_time, readable

if TYPE_CHECKING:
    import pytest


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
