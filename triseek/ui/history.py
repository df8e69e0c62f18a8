"""The history as the page shows it: the operations of the command line, with a browser's options.

The daemon is asked for it; without a daemon, this process reads the database. It is opened for each
request, because another process may write it anew in between, without what was forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from triseek.history.service import History
from triseek.history.verbs import OPERATIONS
from triseek.ipc import ask
from triseek.ui.searches import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.history.browsing.conversation import ConversationReply
    from triseek.history.browsing.listing import ListingReply
    from triseek.history.browsing.overview import OverviewReply

LIMIT = 50
ENTRIES = 100
_NUMBER_MAX = 1 << 53
"""The largest whole number that a browser keeps exactly."""


def browse(params: Mapping[str, str]) -> ListingReply:
    """Answer a page of the timeline or of a search.

    Its options are `?q=…&kind=session|message|observation&type=…&agent=…&project=…&day=…`
    and `&offset=…&limit=…`; `type` is of observations.

    Raises:
        InvalidRequest: An option is invalid.
    """
    reply = _call(
        "browse",
        {
            "query": params.get("q", ""),
            "kind": params.get("kind", ""),
            "agent": params.get("agent", ""),
            "project": params.get("project", ""),
            "day": params.get("day", ""),
            "type": params.get("type", ""),
            "offset": number(params, "offset", 0, _NUMBER_MAX),
            "limit": number(params, "limit", LIMIT, _NUMBER_MAX),
        },
    )
    return cast("ListingReply", reply)


def overview(params: Mapping[str, str]) -> OverviewReply:
    """Answer `?agent=…&project=…`: the year as a heat map, agents, projects, types."""
    reply = _call(
        "overview", {"agent": params.get("agent", ""), "project": params.get("project", "")}
    )
    return cast("OverviewReply", reply)


def conversation(params: Mapping[str, str]) -> ConversationReply:
    """Answer `/NUMBER?at=MESSAGE` or `/NUMBER?offset=…&limit=…`.

    Raises:
        InvalidRequest: It is not known, or an option is invalid.
    """
    reply = _call(
        "conversation",
        {
            "number": number(params, "number", 0, _NUMBER_MAX),
            "at_message": number(params, "at", 0, _NUMBER_MAX),
            "offset": number(params, "offset", 0, _NUMBER_MAX),
            "limit": number(params, "limit", ENTRIES, _NUMBER_MAX),
        },
    )
    return cast("ConversationReply", reply)


def _call(name: str, params: dict[str, Any]) -> dict[str, Any]:
    """Call an operation of the history. Raises as the operation, and as `ask.if_running`."""
    reply = ask.if_running(f"history_{name}", params)
    if reply is not None:
        return reply
    history = History()
    try:
        return OPERATIONS[name](history, params)
    finally:
        history.close()
