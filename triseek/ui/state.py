"""The content and freshness of the index, and the status of the daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from triseek import __version__
from triseek.engine.roots import is_indexed
from triseek.errors import TriseekError
from triseek.ipc import client
from triseek.model.call import Call
from triseek.search import envelopes
from triseek.ui import searches

if TYPE_CHECKING:
    from triseek.app.dispatch import Dispatch
    from triseek.daemon.verbs import RootReply
    from triseek.search.results import IndexStatusAnswer

PATIENCE_S = 2.0


class AboutReply(TypedDict):
    """The root, and whether a daemon watches it."""

    version: str
    root: str
    indexed: bool
    daemon: bool
    """Whether one runs."""
    watched: bool
    generation: int | None
    """Of the root's journal; None without a watcher."""
    dirty: int | None
    """Number of files that differ from the index."""


class DaemonView(TypedDict):
    """The daemon's status; fields that are not listed are passed on as they come."""

    running: bool
    reason: NotRequired[str]
    """Why it cannot be asked."""
    next_step: NotRequired[str]
    root: NotRequired[RootReply]


class PageStatus(TypedDict):
    """The index, and the daemon."""

    index: IndexStatusAnswer
    daemon: DaemonView


def about(root: str) -> AboutReply:
    """Describe the root and whether a daemon watches it; costs next to nothing."""
    reply = daemon(root)
    status = reply.get("root", {})
    return {
        "version": __version__,
        "root": envelopes.printable(root),
        "indexed": is_indexed(root),
        "daemon": reply["running"],
        "watched": status.get("watched", False) is True,
        "generation": status.get("generation"),
        "dirty": status.get("dirty"),
    }


def status(dispatch: Dispatch) -> PageStatus:
    """Return `index`, the answer of `index_status`, and `daemon`, the daemon's status.

    Raises:
        RepoNotDetected: the root is gone.
    """
    index = searches.call_tool(dispatch, "index_status", {}, Call())
    return {"index": cast("IndexStatusAnswer", index), "daemon": daemon(dispatch.root)}


def daemon(root: str) -> DaemonView:
    """Return the daemon's status and `running`; if it cannot be asked, also the `reason`."""
    try:
        reply = client.ask("status", {"target_root": root, "cheap": True}, timeout_s=PATIENCE_S)
    except TriseekError as error:
        return {"running": False, "reason": str(error), "next_step": error.next_step}
    return cast("DaemonView", {"running": True, **reply})
