"""Shows an agent what the history has of its project, once, when a conversation starts.

A conversation that is resumed has it already, and one that was compacted keeps what its summary
says of it: neither is shown it again. Nothing here may disturb an agent: without a history, and
whenever the history is locked, damaged or slow, it is shown nothing.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING, TypeAlias

from triseek.errors import TriseekError
from triseek.model import budget

if TYPE_CHECKING:
    from triseek.history.service import History
    from triseek.model.hook_event import HookEvent, Moment

Conversation: TypeAlias = tuple[str, str]
"""An agent, and its id of a session."""

logger = logging.getLogger(__name__)

ANSWER_S = 1.0
"""Seconds until a hook answers without it. Its process gives up after `ipc.address.SILENCE_S`."""
THREADS_MAX = 4
"""Most threads that read the history; one that waits for a disk cannot be ended."""
CONVERSATIONS_MAX = 1_000
_NEW = frozenset(("", "startup", "clear"))
"""Sources of a start after which nothing was said yet; some agents name none."""


class OpeningContext:
    """Makes the text for each new conversation. Thread-safe."""

    def __init__(self, history: History, budget_tokens: int) -> None:
        """Take the text from `history`.

        budget_tokens: Most tokens of a text.
        """
        self._history = history
        self._budget_tokens = budget_tokens
        self._lock = threading.Lock()
        self._begun: dict[Conversation, None] = {}
        self._awaiting: dict[Conversation, None] = {}
        """Conversations that are to be shown it with their first prompt."""
        self._free = threading.Semaphore(THREADS_MAX)

    def text(self, root: str, event: HookEvent, moment: Moment = "start") -> str:
        """Return what a conversation is shown at one of its events; "" for nothing. Never raises.

        Args:
            root: The root of the project, canonical.
            event: A start or a prompt.
            moment: At which of both the agent takes a text; of the prompts at the first.
        """
        if not self._history.exists() or not _is_inside(root, event.cwd):
            return ""
        is_due = self._is_due(event, moment)
        return self._within_time(root) if is_due else ""

    def _is_due(self, event: HookEvent, moment: Moment) -> bool:
        """Return whether this is the event, and the first of its kind: hooks may be there twice."""
        conversation = (event.context.harness, event.context.session)
        with self._lock:
            if event.moment == "prompt":
                return moment == "prompt" and _removed(self._awaiting, conversation)
            if not _is_new(event) or (conversation[1] and conversation in self._begun):
                return False
            _add(self._begun, conversation)
            if moment == "prompt":
                _add(self._awaiting, conversation)
            return moment == "start"

    def _within_time(self, root: str) -> str:
        """Return the text, or "" after `ANSWER_S`: SQLite waits longer for a lock."""
        if not self._free.acquire(blocking=False):
            return ""
        texts: list[str] = []

        def read() -> None:
            try:
                with budget.limited(ANSWER_S):
                    texts.append(self._history.session_context(root, self._budget_tokens))
            except (OSError, TriseekError) as error:
                logger.info("no context of the history", extra={"reason": str(error)})
            except Exception:
                logger.exception("no context of the history")
            finally:
                self._free.release()

        thread = threading.Thread(target=read, name="triseek-history-context", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads
            self._free.release()
            return ""
        thread.join(ANSWER_S)
        return texts[0] if texts else ""


def _add(conversations: dict[Conversation, None], new: Conversation) -> None:
    """Add one, and remove the oldest of too many."""
    conversations[new] = None
    if len(conversations) > CONVERSATIONS_MAX:
        del conversations[next(iter(conversations))]


def _removed(conversations: dict[Conversation, None], conversation: Conversation) -> bool:
    """Remove one; whether it was there."""
    if conversation not in conversations:
        return False
    del conversations[conversation]
    return True


def _is_new(event: HookEvent) -> bool:
    """Whether a person begins a conversation; a sub-agent is told what it needs by its agent."""
    return event.source in _NEW and not event.context.agent and not event.parent


def _is_inside(root: str, folder: str) -> bool:
    real = os.path.realpath(folder)
    return os.path.commonpath((real, root)) == root
