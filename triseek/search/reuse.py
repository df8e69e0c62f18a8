"""Whether a conversation has an answer already: checked before a search, recorded after it.

The clock is taken before a search, and covers everything that happened earlier: what the search
finds can be newer than the clock says, never older.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.freshness.reuse import reusable
from triseek.engine.search.backends.file import FileSearch
from triseek.query.globs.scope import Scope
from triseek.query.pattern import compile as compile_pattern
from triseek.search import envelopes
from triseek.search.context import RememberedAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from triseek.engine.freshness.journal import ChangesSince, Clock
    from triseek.model.call import Call
    from triseek.model.search import Freshness, SearchRequest
    from triseek.search.context import Key, SearchContext
    from triseek.search.results import Executed, ReusedAnswer


class SearchOutcome(NamedTuple):
    """The facts of an answer that are remembered."""

    freshness: Freshness
    indexed: bool
    """Whether the index answered; other answers are not remembered."""
    told: bool
    """Whether the journal reports every file in scope, as it does those not ignored or hidden."""
    matched: frozenset[bytes] | None
    shown: frozenset[bytes]
    files: int
    lines: int


class Bearing(NamedTuple):
    """Which changes of the tree may affect an answer."""

    in_scope: Callable[[bytes], bool]
    """Whether a file is in the scope of the question."""
    may_match: Callable[[bytes], bool] | None
    """Whether it may have a match as it is now; None for questions about paths alone."""


class Turn:
    """One question of one conversation."""

    def __init__(
        self,
        context: SearchContext,
        key: Key | None,
        prior: RememberedAnswer | None,
        clock: Clock | None,
        since: ChangesSince,
    ) -> None:
        self._context = context
        self._key = key
        self._prior = prior
        self._clock = clock
        self._since = since
        self._hydration = context.newest_resume

    def known(self, root: str, bearing: Callable[[], Bearing]) -> ReusedAnswer | None:
        """Return the reuse envelope if the conversation has this answer and it still holds."""
        prior = self._prior
        if prior is None or self._clock is None or self._since.kind == "unknown":
            return None
        if prior.hydration != self._hydration:
            return None
        if self._since.kind == "changed" and not self._still_holds(prior, bearing()):
            return None
        return {
            **envelopes.head(root),
            "strategy": envelopes.STRATEGIES["indexed"],
            "fallback_used": False,
            "cache": "hit",
            "search_id": prior.search_id,
            "prior_search_id": prior.search_id,
            "reuse_status": "fresh_duplicate",
            "reuse_reason": "unchanged",
            "generation": self._clock.generation,
            "context_epoch": self._clock.epoch,
            "files_with_matches": prior.files_with_matches,
            "total_line_matches": prior.total_line_matches,
            "results": [],
            "results_omitted": True,
            "truncated": False,
        }

    def _still_holds(self, prior: RememberedAnswer, bearing: Bearing) -> bool:
        every = prior.matched
        return reusable(
            self._since,
            matched=prior.shown if every is None else every,
            in_scope=bearing.in_scope,
            may_match=None if every is None else bearing.may_match,
            contents=bearing.may_match is not None,
        ).fresh

    def executed(self, outcome: SearchOutcome) -> Executed:
        """Remember a new answer; return the envelope's fields that say when it was true."""
        search_id = self._context.answers.next_id()
        if self._key is not None:
            is_sure = outcome.indexed and outcome.told and outcome.freshness == "synced"
            if self._clock is not None and is_sure:
                self._context.answers.put(
                    self._key,
                    RememberedAnswer(
                        search_id, self._clock, outcome.matched, outcome.shown,
                        outcome.files, outcome.lines, self._hydration,
                    ),
                )  # fmt: skip
            else:
                self._context.answers.forget(self._key)
        clock = self._clock
        return {
            "search_id": search_id,
            "freshness": outcome.freshness,
            "generation": clock.generation if clock else None,
            "context_epoch": clock.epoch if clock else None,
        }


def begin(context: SearchContext, call: Call, question: Hashable, *, forced: bool) -> Turn:
    """Take the clock, and look up the answer that this conversation was given."""
    key = None if call.conversation is None else (call.conversation, question)
    prior = None if key is None or forced else context.answers.get(key)
    clock, since = context.engine.since(prior.clock if prior else None)
    return Turn(context, key, prior, clock, since)


def of_contents(root: str, request: SearchRequest) -> Bearing:
    """Return which changes may affect a search of contents."""
    scope = Scope.compile(request.scope)
    search = FileSearch(root, request, compile_pattern(request.pattern))
    within = [os.fsencode(os.path.normpath(path)) for path in request.paths]

    def in_scope(path: bytes) -> bool:
        inside = not within or any(
            folder == b"." or path == folder or path.startswith(folder + b"/") for folder in within
        )
        return inside and bool(scope.select([path])[0])

    def may_match(path: bytes) -> bool:
        searched = search(path)
        return searched.found is not None or searched.skipped is not None

    return Bearing(in_scope, may_match)
