"""Puts the daemon together: which handlers it has and what runs beside them.

The one place that knows both the command line and the daemon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.daemon.server import Declined, Handlers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.config import Settings
    from triseek.daemon.process import Work
    from triseek.daemon.streams import Streams


def compose(settings: Settings) -> tuple[Handlers, Sequence[Work]]:
    """The daemon's handlers and its work."""
    del settings
    return Handlers(text=_unsupported), ()


def _unsupported(params: dict[str, Any], streams: Streams) -> Declined:
    del params, streams
    return Declined("unsupported")
