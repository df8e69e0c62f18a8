"""Whether the context that calls a search has an earlier answer still in view.

Agents use one connection for several contexts and drop old answers without notice. So it takes
proof, of the kind by which the memo refuses reads, and all of it: a hook of one context announced
this very call, by its id; a hook of the same context reported, after the earlier call, the text of
that answer as what the model was shown; the agent's own record lists that earlier call as in view.
Otherwise the search is made. Whether the answer still holds is up to `search.reuse`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache

from triseek.memo.output_match import text_digest
from triseek.memo.resolve_context import Asked
from triseek.model import token_estimate

if TYPE_CHECKING:
    from triseek.memo.memo import Memo
    from triseek.memo.resolve_context import Askers
    from triseek.model.call import Call

ANSWERS_MAX = 256
LEAST_TOKENS = 30
"""To say that a shorter answer is known would cost about as much as the answer."""


class AnswersInView:
    """The answers that one agent was given, and which of them are in view. Thread-safe."""

    def __init__(self, memo: Memo | None) -> None:
        """Ask `memo`, which hooks report to; None outside of the daemon: nothing is proven."""
        self._memo = memo
        self._lock = Lock()
        self._digests: LRUCache[str, str] = LRUCache(ANSWERS_MAX)

    def proven(self, call: Call) -> Call:
        """Return a call with the context that it certainly comes from, if there is proof of it."""
        if call.conversation is not None or self._memo is None or not call.who.get("call"):
            return call
        askers = self._memo.announced(Asked.read(call.who))
        if askers is None:
            return call
        context = askers.contexts[0]
        return replace(
            call,
            conversation=f"session/{context.session}/{context.agent}",
            has_in_view=partial(self._has_in_view, self._memo, askers),
        )

    def note(self, search_id: str, text: str) -> None:
        """Remember an answer as the text that the agent gets."""
        if token_estimate.of_source_text(text) >= LEAST_TOKENS:
            with self._lock:
                self._digests[search_id] = text_digest(text)

    def _has_in_view(self, memo: Memo, askers: Askers, search_id: str) -> bool:
        with self._lock:
            digest = self._digests.get(search_id)
        return digest is not None and memo.has_shown(askers, digest)
