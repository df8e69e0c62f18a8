"""All contexts that are remembered, within bounds: the least recently active go first."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from cachetools import FIFOCache

from triseek.sessions.memo.context import Conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.model.hook_event import Context

IDLE_S = 24 * 3600
SESSIONS_PER_ROOT = 20
CONTEXTS_PER_SESSION = 32
CONTEXTS_MAX = 400
FILES_MAX = 20_000
"""In all contexts together."""
_NAME_MAX = 512
_TRIM_EVERY = 500
"""So many calls, and with every new context."""


class Table:
    """Not thread-safe: the memo's lock is held."""

    def __init__(self) -> None:
        self._all: OrderedDict[Context, Conversation] = OrderedDict()
        self._gone: FIFOCache[Context, float] = FIFOCache(CONTEXTS_MAX)
        self._calls = 0

    def __iter__(self) -> Iterator[Conversation]:
        """The most recently active first."""
        return reversed(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def get(self, context: Context) -> Conversation | None:
        """What is known of a context."""
        return self._all.get(context)

    def put(self, conversation: Conversation) -> None:
        """Take in one that was saved, as the latest."""
        self._all[conversation.context] = conversation

    def at_work(self, context: Context, root: str, now_s: float) -> Conversation | None:
        """This context, now the latest; None for one that has no names to tell it by."""
        conversation = self._all.get(context)
        if conversation is None:
            if not context.session:  # it would be shared by all that do not tell theirs
                return None
            if len(context.harness) + len(context.session) + len(context.agent) > _NAME_MAX:
                return None
            # What comes late of one that ended is not what another, or itself resumed, was shown.
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
        """Every agent's context of a session."""
        return [one for one in self if _session(one) == (context.harness, context.session)]

    def drop(self, conversation: Conversation, now_s: float) -> None:
        """Know it no more."""
        self._all.pop(conversation.context, None)
        self._gone[conversation.context] = now_s

    def trim(self, now_s: float) -> None:
        """Drop what is idle for a day, and what is too many."""
        here: dict[str, set[tuple[str, str]]] = {}
        contexts: dict[tuple[str, str], int] = {}
        files = 0
        for place, one in enumerate(list(self)):
            name = _session(one)
            sessions = here.setdefault(next(reversed(one.roots), ""), set())
            files += len(one.files)
            if (
                now_s - one.active_s > IDLE_S
                or place >= CONTEXTS_MAX
                or (files > FILES_MAX and place > 0)
                or contexts.get(name, 0) >= CONTEXTS_PER_SESSION
                or (name not in sessions and len(sessions) >= SESSIONS_PER_ROOT)
            ):
                files -= len(one.files)
                self.drop(one, now_s)
            else:
                sessions.add(name)
                contexts[name] = contexts.get(name, 0) + 1


def _session(one: Conversation) -> tuple[str, str]:
    return (one.context.harness, one.context.session)
