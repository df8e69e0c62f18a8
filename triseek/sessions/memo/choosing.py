"""Which context asks: the one whose hook announced the call, else as far as the call tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cachetools import FIFOCache

if TYPE_CHECKING:
    from triseek.model.hook_event import Context
    from triseek.sessions.memo.context import Conversation, InView
    from triseek.sessions.memo.table import Table

ACTIVE_S = 10 * 60
_CALLS_MAX = 256
_ID_MAX = 256


class Asked(NamedTuple):
    """Who asks a memo tool, as far as the call tells; "" is what is not known."""

    session: str = ""
    """Named by the call, in an argument or in `_meta`, else by TRISEEK_SESSION_ID."""
    agent: str = ""
    harness: str = ""
    """The client, named as contexts name it. A client that has no hooks must be named too, or it
    is answered for the most recent context of that root, which is another's."""
    call: str = ""
    """The agent's id of this use of the tool, as `asking` was told it."""


class Askers(NamedTuple):
    """Who may be asking."""

    contexts: tuple[Context, ...]
    """The likeliest first; what one of them does not have may not be there."""
    in_view: InView | None = None
    """The first one's own record, where the call itself told of it."""


class Announced:
    """Calls of the memo's tools that hooks told of; not thread-safe."""

    def __init__(self) -> None:
        self._calls: FIFOCache[str, tuple[float, tuple[Context, ...], InView | None]] = FIFOCache(
            _CALLS_MAX
        )

    def add(self, context: Context, call: str, in_view: InView | None, now_s: float) -> None:
        """This context is about to use a tool by this id."""
        if not call or len(call) > _ID_MAX:
            return
        known = self._calls.pop(call, None)
        # An id that two contexts use is one of an agent that merely counts.
        others = tuple(one for one in known[1] if one != context)[:3] if known else ()
        self._calls[call] = (now_s, (context, *others), in_view)

    def find(self, who: Asked, now_s: float) -> Askers | None:
        """Whose call this is; None if no hook told."""
        at_s, contexts, in_view = self._calls.get(who.call, (0.0, (), None))
        if not contexts or abs(now_s - at_s) > ACTIVE_S or not _is_meant(contexts[0], who):
            return None
        return Askers(contexts, in_view)


def likely(table: Table, root: str, who: Asked, now_s: float) -> Askers:
    """Who may be asking, where no hook told: the most recent, and all that are active too."""
    found = [one for one in table if _is_meant(one.context, who) and _is_here(one, root, who)]
    active = [one for one in found[1:] if abs(now_s - one.active_s) <= ACTIVE_S]
    return Askers(tuple(one.context for one in (*found[:1], *active)))


def _is_meant(context: Context, who: Asked) -> bool:
    return (
        (not who.harness or context.harness == who.harness)
        and (not who.session or context.session == who.session)
        and (not who.agent or context.agent == who.agent)
    )


def _is_here(conversation: Conversation, root: str, who: Asked) -> bool:
    if who.session or not conversation.roots:
        return True
    here = root.rstrip("/") + "/"
    return any(
        here.startswith(there) or there.startswith(here)
        for there in (one.rstrip("/") + "/" for one in conversation.roots)
    )
