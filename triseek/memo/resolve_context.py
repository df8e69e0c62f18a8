"""Resolves which context asks: the one whose hook announced the call, or else the likeliest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from cachetools import FIFOCache

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.memo.context import Conversation, InView
    from triseek.memo.table import ContextTable
    from triseek.model.hook_event import Context

ACTIVE_S = 10 * 60
_CALLS_MAX = 256
_ID_MAX = 256
NAME_MAX = 500
"""Maximum characters of a field of `Asked`."""


class Asked(NamedTuple):
    """Who calls a memo tool, as far as the call says; "" for what is unknown."""

    session: str = ""
    """Named by the call, in an argument or in `_meta`, else by TRISEEK_SESSION_ID."""
    agent: str = ""
    harness: str = ""
    """The client, under the name that contexts use. A client without hooks must be named too, or it
    gets the answer for the most recent context of that root, which is another agent's."""
    call: str = ""
    """The agent's id of this tool use, as it was passed to `asking`."""

    @classmethod
    def read(cls, fields: Mapping[str, object]) -> Self:
        """Read who calls from untrusted fields; others are ignored, null is "".

        Raises:
            InvalidRequest: A field is not a text, or is too long.
        """
        names = {}
        for name in cls._fields:
            value = "" if fields.get(name) is None else fields[name]
            if not isinstance(value, str) or len(value) > NAME_MAX:
                raise InvalidRequest(f"{name} has to be a text of at most {NAME_MAX:,} characters")
            names[name] = value
        return cls(**names)


class Askers(NamedTuple):
    """The contexts that may be asking."""

    contexts: tuple[Context, ...]
    """The likeliest first; what one of them does not have may not be there."""
    in_view: InView | None = None
    """The first one's own record, if the call's hook provided it."""


class Announced:
    """Calls of our tools that hooks announced; not thread-safe."""

    def __init__(self) -> None:
        self._calls: FIFOCache[str, tuple[float, tuple[Context, ...], InView | None]] = FIFOCache(
            _CALLS_MAX
        )

    def add(self, context: Context, call: str, in_view: InView | None, now_s: float) -> None:
        """Record that this context is about to use a tool with this id."""
        if not call or len(call) > _ID_MAX:
            return
        earlier = self._calls.pop(call, None)
        # Two contexts share an id if their agent merely numbers its calls.
        others = tuple(other for other in earlier[1] if other != context)[:3] if earlier else ()
        self._calls[call] = (now_s, (context, *others), in_view)

    def find(self, who: Asked, now_s: float) -> Askers | None:
        """Return the contexts that may have made this call; None if no hook announced it."""
        at_s, contexts, in_view = self._calls.get(who.call, (0.0, (), None))
        if not contexts or abs(now_s - at_s) > ACTIVE_S or not _is_meant(contexts[0], who):
            return None
        return Askers(contexts, in_view)

    def drop(self, call: str) -> None:
        """Forget a call: it has been made, and some agents use its id for another one."""
        self._calls.pop(call, None)


def likely(table: ContextTable, root: str, who: Asked, now_s: float) -> Askers:
    """Guess who asks if no hook announced the call: the latest context, then all active ones."""
    contexts: list[Context] = []
    for conversation in table:
        is_active = not contexts or abs(now_s - conversation.active_s) <= ACTIVE_S
        if is_active and _is_meant(conversation.context, who) and _is_here(conversation, root, who):
            contexts.append(conversation.context)
    return Askers(tuple(contexts))


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
        for there in (path.rstrip("/") + "/" for path in conversation.roots)
    )
