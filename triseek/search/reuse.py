"""Whether a conversation has an answer already: checked before a search, recorded after it.

The clock is taken before a search, and covers everything that happened earlier: what the search
finds can be newer than the clock says, never older.

`reusable` decides from the journal whether an earlier answer would be the same now. The order of
its checks is that of the reference implementation, with two faults fixed: an edit of a file does
not affect a query for paths, and if file contents can be checked (`may_match`), an edit that does
not concern the pattern does not affect a query for contents.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from triseek.engine.search.backends.file import FileSearch
from triseek.engine.search.query import Query
from triseek.files.tree.ignore import IGNORE_NAMES, REPOSITORY
from triseek.query.globs.scope import Scope
from triseek.search import envelopes
from triseek.search.context import RememberedAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from collections.abc import Set as AbstractSet

    from triseek.engine.freshness.journal import ChangesSince, Clock, What
    from triseek.model.call import Call
    from triseek.model.search import Freshness, Route, ScopeSpec, SearchRequest
    from triseek.search.context import Answers, Key, SearchContext
    from triseek.search.results import MatchCounts, NewAnswer, ReusedAnswer


Verdict: TypeAlias = Literal[
    "unchanged", "changed_elsewhere", "changed_matched_path", "changed_search_scope",
    "changed_rules", "changed_everything",
]  # fmt: skip
"""The reason of a decision if the journal's data is complete; else the journal's own reason."""

_RULES = (*IGNORE_NAMES, *REPOSITORY, b"exclude")  # exclude: of .git/info


class Reuse(NamedTuple):
    """Whether an earlier answer still holds."""

    fresh: bool
    reason: str
    """A `Verdict`, or the journal's `Reason` if the changes are unknown."""
    path: bytes = b""
    """The first change that invalidates the answer; empty if there is none."""


class Bearing(NamedTuple):
    """Which changes of the tree may affect an answer."""

    in_scope: Callable[[bytes], bool]
    """Whether a file is in the scope of the question."""
    may_match: Callable[[bytes], bool] | None
    """Whether it may have a match as it is now; None for questions about paths alone."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of one conversation."""

    root: str
    answers: Answers
    key: Key | None
    prior: RememberedAnswer | None
    clock: Clock | None
    since: ChangesSince
    hydration: int
    scope: ScopeSpec
    also: Hashable
    forced: bool
    has_in_view: Callable[[str], bool] | None

    def known(self, bearing: Callable[[], Bearing]) -> ReusedAnswer | None:
        """Return the reuse envelope if the conversation has this answer and it still holds."""
        prior = self.prior
        if prior is None or self.clock is None or self.since.kind == "unknown":
            return None
        if (prior.hydration, prior.scope, prior.also) != (self.hydration, self.scope, self.also):
            return None
        if self.since.kind == "changed" and not self._still_holds(prior, bearing()):
            return None
        if self.has_in_view is not None and not self.has_in_view(prior.search_id):
            return None
        return {
            **envelopes.head(self.root),
            "strategy": envelopes.STRATEGIES["indexed"],
            "fallback_used": False,
            "cache": "hit",
            "search_id": prior.search_id,
            "prior_search_id": prior.search_id,
            "reuse_status": "fresh_duplicate",
            "reuse_reason": "unchanged",
            "generation": self.clock.generation,
            "context_epoch": self.clock.epoch,
            "files_with_matches": prior.files_with_matches,
            "total_line_matches": prior.total_line_matches,
            "results": [],
            "results_omitted": True,
            "truncated": False,
        }

    def _still_holds(self, prior: RememberedAnswer, bearing: Bearing) -> bool:
        every, may_match = prior.matched, bearing.may_match
        return reusable(
            self.since,
            matched=prior.shown if every is None else every,
            in_scope=bearing.in_scope,
            may_match=None if every is None else may_match,
            contents=may_match is not None,
        ).fresh

    def answer(
        self,
        route: Route,
        freshness: Freshness,
        *,
        matched: frozenset[bytes] | None,
        shown: Iterable[bytes],
        files: int,
        lines: int = 0,
        counts_lines: bool = True,
        complete: bool = True,
    ) -> NewAnswer:
        """Remember a new answer; return the fields of its envelope, but for its results.

        Only complete answers of the index are remembered, and only if the journal reports every
        file in scope, as it does those not ignored or hidden.

        matched, shown, files, lines: as in `RememberedAnswer`.
        counts_lines: whether all matching lines were counted, so that their number is told.
        """
        clock, search_id = self.clock, self.answers.next_id()
        is_sure = route.backend == "indexed" and complete and freshness == "synced"
        if self.key is not None:
            if clock is not None and is_sure and not Scope.compile(self.scope).brings_back:
                self.answers.put(
                    self.key,
                    RememberedAnswer(
                        search_id, clock, matched, frozenset(shown), files, lines, self.hydration,
                        self.scope, self.also,
                    ),
                )  # fmt: skip
            else:
                self.answers.forget(self.key)
        counts: MatchCounts = {"files_with_matches": files}
        if counts_lines:
            counts["total_line_matches"] = lines
        return {
            **envelopes.head(self.root),
            **envelopes.routed(route, force_refreshed=self.forced),
            **counts,
            "search_id": search_id,
            "freshness": freshness,
            "generation": clock.generation if clock else None,
            "context_epoch": clock.epoch if clock else None,
        }


def begin(
    context: SearchContext, call: Call, question: Hashable, scope: ScopeSpec, *, forced: bool
) -> Turn:
    """Take the clock, and look up the answer that this conversation was given."""
    key = None if call.conversation is None else (call.conversation, question)
    prior = None if key is None or forced else context.answers.get(key)
    engine = context.engine
    # An epoch ends the reuse of answers that contexts may have lost; proof makes it unnecessary.
    has_in_view = call.has_in_view
    clock, since = engine.since(prior.clock if prior else None, any_epoch=has_in_view is not None)
    resume = context.host.newest_resume(context.host.root)
    also = () if key is None else _state(engine.root, scope.also)
    return Turn(
        engine.root, context.answers, key, prior, clock, since, resume, scope, also, forced,
        has_in_view,
    )  # fmt: skip


def _state(root: str, paths: Iterable[bytes]) -> tuple[tuple[bytes, int, int, int], ...]:
    """Return path, size, change time and inode of those files that exist."""
    states = []
    for path in sorted(paths):
        with suppress(OSError):
            status = os.lstat(os.path.join(os.fsencode(root), path))  # noqa: PTH118
            states.append((path, status.st_size, status.st_ctime_ns, status.st_ino))
    return tuple(states)


def of_contents(root: str, request: SearchRequest) -> Bearing:
    """Return which changes may affect a search of contents."""
    query = Query.of(root, request)
    scope, search = query.selection.scope, FileSearch(query)
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


def reusable(
    since: ChangesSince,
    *,
    matched: AbstractSet[bytes],
    in_scope: Callable[[bytes], bool],
    may_match: Callable[[bytes], bool] | None = None,
    contents: bool = True,
) -> Reuse:
    """Return whether an answer still holds. Its clock was taken before its search began.

    Args:
        since: The journal's changes since that clock.
        matched: Every path of the answer, including those beyond a limit. A caller that does not
            know all of them may pass the shown ones and no `may_match`.
        in_scope: Whether the request's paths, globs and types include a path.
        may_match: Whether the current file may have a match; True in doubt. Not called for removed
            files. None if this cannot be determined: every change in the scope counts.
        contents: Whether the query was for contents. If False, it was for paths, and edits of
            existing files do not count.
    """
    if since.kind == "unknown":
        return Reuse(fresh=False, reason=since.reason)
    for batch in since.batches:
        if batch.everything:
            return Reuse(fresh=False, reason="changed_everything")
        for path, what in batch.changes.items():
            if what == "modified" and not contents and not _is_rule(path):
                continue
            verdict = _against(path, what, matched, in_scope, may_match if contents else None)
            if verdict is not None:
                return Reuse(fresh=False, reason=verdict, path=path)
    changed = any(batch.changes for batch in since.batches)
    return Reuse(fresh=True, reason="changed_elsewhere" if changed else "unchanged")


def _against(
    path: bytes,
    what: What,
    matched: AbstractSet[bytes],
    in_scope: Callable[[bytes], bool],
    may_match: Callable[[bytes], bool] | None,
) -> Verdict | None:
    """Return why a change of this path invalidates the answer; None if it does not."""
    if path in matched:
        return "changed_matched_path"
    if _is_rule(path):
        return "changed_rules"
    if path.endswith(b"/"):  # anything below it may have appeared or gone
        return "changed_search_scope"
    if not in_scope(path):
        return None
    # Removing a file without a match does not change the answer.
    if may_match is None or (what != "removed" and may_match(path)):
        return "changed_search_scope"
    return None


def _is_rule(path: bytes) -> bool:
    """Return whether this file's content may affect which files are listed."""
    return path.rpartition(b"/")[2] in _RULES
