"""What the index holds and how fresh it is, and what the daemon says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek import __version__
from triseek.errors import TriseekError
from triseek.ipc import client
from triseek.model.tools import IndexStatusRequest
from triseek.service import envelopes, indexing
from triseek.service.desk import Call

if TYPE_CHECKING:
    from triseek.service.desk import Desk

PATIENCE_S = 2.0


def about(desk: Desk) -> dict[str, Any]:
    """Which root this is, and whether a daemon follows it; costs next to nothing."""
    told = daemon(desk.root)
    root = told.get("root", {}) if told["running"] else {}
    return {
        "version": __version__,
        "root": envelopes.printable(desk.root),
        "indexed": desk.engine.has_index(),
        "daemon": told["running"],
        "watched": root.get("watched", False) is True,
        "generation": root.get("generation"),
        "dirty": root.get("dirty"),
    }


def status(desk: Desk) -> dict[str, Any]:
    """`index`, as `index_status` tells it, and `daemon`.

    Raises:
        RepoNotDetected: the root is gone.
    """
    index = indexing.index_status(desk, IndexStatusRequest(), Call())
    return {"index": index, "daemon": daemon(desk.root)}


def daemon(root: str) -> dict[str, Any]:
    """What the daemon says, and whether there is one: `running`; if not, `reason`."""
    try:
        told = client.ask("status", {"target_root": root, "cheap": True}, timeout_s=PATIENCE_S)
    except TriseekError as error:
        return {"running": False, "reason": str(error), "next_step": error.next_step}
    return {"running": True, **told}
