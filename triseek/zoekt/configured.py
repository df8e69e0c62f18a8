"""The cluster that the settings name, one for the process: its connections are kept.

It lives as long as the process, whose end ends its thread. A daemon has one for each environment of
its clients; the one that was not used for the longest time is closed if there are too many.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from contextvars import ContextVar
from typing import TYPE_CHECKING

from triseek import config
from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.config import Settings
    from triseek.zoekt.cluster import Cluster

CLUSTERS_MAX = 16
_lock = threading.Lock()
_settings: ContextVar[Settings | None] = ContextVar("settings", default=None)
_clusters: OrderedDict[tuple[object, ...], Cluster] = OrderedDict()
"""By the settings that `Cluster.of` reads."""


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
        InvalidRequest: No hosts are set, or an address is invalid.
    """
    from triseek.zoekt.cluster import Cluster  # the client's libraries take a while to load

    settings = settings or _settings.get() or config.read()
    if not is_configured(settings):
        raise InvalidRequest(
            "no hosts that run Zoekt are configured",
            next_step="Set ZOEKT_API_URL or zoekt.api_url, as http://localhost:6070.",
            tool_step="Leave out the backend: the tools search this folder without a cluster.",
        )
    key = (
        settings.zoekt_api_url,
        settings.zoekt_authorization,
        settings.zoekt_timeout_s,
        settings.zoekt_answer_mb,
    )
    with _lock:
        if key not in _clusters:
            _clusters[key] = Cluster.of(settings)
        _clusters.move_to_end(key)
        evicted = _clusters.popitem(last=False)[1] if len(_clusters) > CLUSTERS_MAX else None
        current = _clusters[key]
    if evicted is not None:
        evicted.close()
    return current
