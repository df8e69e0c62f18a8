"""Decide from the journal whether an earlier answer would be the same now.

The order of the checks is that of the reference implementation, with two faults fixed: an edit of a
file does not affect a query for paths, and if file contents can be checked (`may_match`), an edit
that does not concern the pattern does not affect a query for contents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from triseek.files.tree.ignore import REPOSITORY
from triseek.index.tree import IGNORE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from triseek.engine.freshness.journal import ChangeBatch, ChangesSince, What

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
    seen = False
    for path, what, everything in _changes(since.batches):
        if everything:
            return Reuse(fresh=False, reason="changed_everything")
        seen = True
        if what == "modified" and not contents and not _is_rule(path):
            continue
        verdict = _against(path, what, matched, in_scope, may_match if contents else None)
        if verdict is not None:
            return Reuse(fresh=False, reason=verdict, path=path)
    return Reuse(fresh=True, reason="changed_elsewhere" if seen else "unchanged")


def _changes(batches: tuple[ChangeBatch, ...]) -> Iterator[tuple[bytes, What, bool]]:
    for batch in batches:
        if batch.everything:
            yield b"", "created", True
        for path, what in batch.changes.items():
            yield path, what, False


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
