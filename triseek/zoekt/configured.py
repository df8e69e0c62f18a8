"""The cluster that the settings name, one for the process: its connections are kept."""

from __future__ import annotations

import contextlib
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING

from triseek import config
from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.config import Settings
    from triseek.zoekt.cluster import Cluster

_lock = threading.Lock()
_settings: ContextVar[Settings | None] = ContextVar("settings", default=None)
_clusters: dict[Settings, Cluster] = {}


@contextlib.contextmanager
def used(settings: Settings | None) -> Iterator[None]:
    """Have `cluster()` return the cluster of these settings in the `with` block, in this context.

    settings: those of a client with another environment; None for no other.
    """
    token = _settings.set(settings)
    try:
        yield
    finally:
        _settings.reset(token)


def is_configured(settings: Settings | None = None) -> bool:
    """Return whether hosts that run Zoekt are set.

    Raises:
        InvalidRequest: As `config.read`.
    """
    return bool((settings or config.read()).zoekt_api_url)


def cluster(settings: Settings | None = None) -> Cluster:
    """Return the cluster of the settings; None for those in use (`used`), else this process's.

    Raises:
        InvalidRequest: No hosts are set, or an address is none.
    """
    from triseek.zoekt.cluster import Cluster  # the client's libraries take a while to load

    settings = settings or _settings.get() or config.read()
    if not is_configured(settings):
        raise InvalidRequest(
            "no hosts that run Zoekt are configured",
            next_step="Set ZOEKT_API_URL or zoekt.api_url, as http://localhost:6070.",
            tool_step="Leave out the backend: the tools search this folder without a cluster.",
        )
    with _lock:
        if settings not in _clusters:
            _clusters[settings] = Cluster.of(settings)
        return _clusters[settings]
