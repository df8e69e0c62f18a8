"""The cluster that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from triseek.model.code_search import CodeSource


def cluster() -> CodeSource:
    """Return the cluster that is configured.

    Raises:
        InvalidRequest: None is.
    """
    raise InvalidRequest(
        "no hosts that run Zoekt are configured",
        next_step="Set ZOEKT_API_URL or zoekt.api_url, as http://localhost:6070.",
        tool_step="Leave out the backend: the tools search this folder without a cluster.",
    )
