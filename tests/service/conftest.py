"""Desks and the daemon behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine import roads
from tests.service.desks import Daemon
from triseek.service import lending

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    """A daemon that runs until it is stopped; racy times are short."""
    roads.shorten_racy_times(monkeypatch)
    daemon = Daemon()
    monkeypatch.setattr(lending.client, "ask", daemon.ask)
    daemon.start()
    yield daemon
    daemon.stop()
