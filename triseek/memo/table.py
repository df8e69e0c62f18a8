"""All contexts that are remembered, within limits: the least recently active are dropped first."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from triseek.memo.context import Conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.model.hook_event import Context

IDLE_S = 24 * 3600
SESSIONS_PER_ROOT = 20
CONTEXTS_PER_SESSION = 32
CONTEXTS_MAX = 400
FILES_MAX = 20_000
"""Over all contexts."""
_NAME_MAX = 512
_TRIM_EVERY = 500
"""Number of calls between two trims; a new context causes one as well."""


class ContextTable:
    """The contexts by activity. Not thread-safe: the caller holds the memo's lock."""

    def __init__(self) -> None:
        self._all: OrderedDict[Context, Conversation] = OrderedDict()
        self._gone: FIFOCache[Context, float] = FIFOCache(CONTEXTS_MAX)
        self._calls = 0

    def __iter__(self) -> Iterator[Conversation]:
        """Iterate over the contexts, the most recently active first."""
        return reversed(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def get(self, context: Context) -> Conversation | None:
        """Return the state of a context; None if it is not remembered."""
        return self._all.get(context)

    def put(self, conversation: Conversation) -> None:
        """Add a context that was saved, as the latest."""
        self._all[conversation.context] = conversation

    def at_work(self, context: Context, root: str, now_s: float) -> Conversation | None:
        """Return this context's state, now the latest; None if it has no usable name."""
        conversation = self._all.get(context)
        if conversation is None:
            if not context.session:  # all contexts without one would share it
                return None
            if len(context.harness) + len(context.session) + len(context.agent) > _NAME_MAX:
                return None
            # Late output of a context that ended was not shown to a new or resumed one of its name.
            forgot_s = self._gone.pop(context, 0.0)
            conversation = self._all[context] = Conversation(context, forgot_s=forgot_s)
            self._calls = 0
        self._all.move_to_end(context)
        conversation.at_work(root, now_s)
        self._calls += 1
        if self._calls % _TRIM_EVERY == 1:
            self.trim(now_s)
        return conversation

    def session(self, context: Context) -> list[Conversation]:
        """Return every agent's context of a session."""
        name = (context.harness, context.session)
        return [conversation for conversation in self if _session(conversation) == name]

    def drop(self, conversation: Conversation, now_s: float) -> None:
        """Remove a context, and remember when."""
        self._all.pop(conversation.context, None)
        self._gone[conversation.context] = now_s

    def trim(self, now_s: float) -> None:
        """Drop contexts that were idle for a day, and those beyond the limits."""
        here: dict[str, set[tuple[str, str]]] = {}
        contexts: dict[tuple[str, str], int] = {}
        files = 0
        for place, conversation in enumerate(list(self)):
            name = _session(conversation)
            sessions = here.setdefault(next(reversed(conversation.roots), ""), set())
            files += len(conversation.files)
            if (
                now_s - conversation.active_s > IDLE_S
                or place >= CONTEXTS_MAX
                or (files > FILES_MAX and place > 0)
                or contexts.get(name, 0) >= CONTEXTS_PER_SESSION
                or (name not in sessions and len(sessions) >= SESSIONS_PER_ROOT)
            ):
                files -= len(conversation.files)
                self.drop(conversation, now_s)
            else:
                sessions.add(name)
                contexts[name] = contexts.get(name, 0) + 1


def _session(conversation: Conversation) -> tuple[str, str]:
    return (conversation.context.harness, conversation.context.session)
