"""Contexts of tools and the daemon behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.app.contexts import Daemon
from tests.engine import answers

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    """A daemon that runs until it is stopped; racy times are short."""
    answers.shorten_racy_times(monkeypatch)
    daemon = Daemon()
    daemon.start()
    yield daemon
    daemon.stop()
