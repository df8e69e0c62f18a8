"""Whether a conversation has an answer already: asked before a search, noted after it.

The clock is taken before a search, and everything that happened earlier is in it: what the search
finds can be newer than the clock says, never older.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.backends.file import FileSearch
from triseek.engine.reuse import reusable
from triseek.query.pattern import compile as compile_pattern
from triseek.query.scope import Scope
from triseek.service import envelopes
from triseek.sessions.reuse import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from triseek.engine.journal import Clock, Since
    from triseek.model.results import Executed, ReusedAnswer
    from triseek.model.search import Freshness, SearchRequest
    from triseek.service.desk import Call, Desk
    from triseek.sessions.reuse import Key


class Outcome(NamedTuple):
    """What there is to remember of an answer."""

    freshness: Freshness
    indexed: bool
    """Whether the index answered; other answers are not remembered."""
    told: bool
    """Whether the journal is told of every file asked about, as of those not ignored or hidden."""
    matched: frozenset[bytes] | None
    shown: frozenset[bytes]
    files: int
    lines: int


class Bearing(NamedTuple):
    """Which changes of the tree may bear on an answer."""

    in_scope: Callable[[bytes], bool]
    """Whether a file is one that was asked about."""
    may_match: Callable[[bytes], bool] | None
    """Whether it may have a match as it is now; None for questions about paths alone."""


class Turn:
    """One question of one conversation."""

    def __init__(
        self, desk: Desk, key: Key | None, prior: Answer | None, clock: Clock | None, since: Since
    ) -> None:
        self._desk = desk
        self._key = key
        self._prior = prior
        self._clock = clock
        self._since = since
        self._hydration = desk.lending.hydration

    def known(self, root: str, bearing: Callable[[], Bearing]) -> ReusedAnswer | None:
        """The envelope that says so, if the conversation has this answer and it still holds."""
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

    def _still_holds(self, prior: Answer, bearing: Bearing) -> bool:
        every = prior.matched
        return reusable(
            self._since,
            matched=prior.shown if every is None else every,
            in_scope=bearing.in_scope,
            may_match=None if every is None else bearing.may_match,
            contents=bearing.may_match is not None,
        ).fresh

    def executed(self, outcome: Outcome) -> Executed:
        """Remember a new answer; what the envelope says of when it was true."""
        search_id = self._desk.answers.next_id()
        if self._key is not None:
            is_sure = outcome.indexed and outcome.told and outcome.freshness == "synced"
            if self._clock is not None and is_sure:
                self._desk.answers.put(
                    self._key,
                    Answer(
                        search_id, self._clock, outcome.matched, outcome.shown,
                        outcome.files, outcome.lines, self._hydration,
                    ),
                )  # fmt: skip
            else:
                self._desk.answers.forget(self._key)
        clock = self._clock
        return {
            "search_id": search_id,
            "freshness": outcome.freshness,
            "generation": clock.generation if clock else None,
            "context_epoch": clock.epoch if clock else None,
        }


def begin(desk: Desk, call: Call, question: Hashable, *, forced: bool) -> Turn:
    """Take the clock, and look up what this conversation was told."""
    key = None if call.conversation is None else (call.conversation, question)
    prior = None if key is None or forced else desk.answers.get(key)
    clock, since = desk.lending.now(prior.clock if prior else None)
    return Turn(desk, key, prior, clock, since)


def of_contents(root: str, request: SearchRequest) -> Bearing:
    """Which changes bear on a search of contents."""
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
