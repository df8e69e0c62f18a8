"""Whether an answer given at some clock would be given again, from what the journal knows.

The order of the questions is the reference implementation's; two of its faults are mended: an
edit of a file does not matter to a question about paths, and with contents to look at (`may_match`)
an edit far from the pattern does not matter to a question about contents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from triseek.files.ignore import REPOSITORY
from triseek.index.tree import IGNORE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from triseek.engine.journal import Batch, Since, What

Verdict: TypeAlias = Literal[
    "unchanged", "changed_elsewhere", "changed_matched_path", "changed_search_scope",
    "changed_rules", "changed_everything",
]  # fmt: skip
"""Why, where the journal itself has no doubts; else the reason is the journal's."""

_RULES = (*IGNORE_NAMES, *REPOSITORY, b"exclude")  # exclude: of .git/info


class Reuse(NamedTuple):
    """Whether an earlier answer still holds."""

    fresh: bool
    reason: str
    """A `Verdict`, or the journal's `Reason` for not knowing."""
    path: bytes = b""
    """The first change that speaks against it, where there is one."""


def reusable(
    since: Since,
    *,
    matched: AbstractSet[bytes],
    in_scope: Callable[[bytes], bool],
    may_match: Callable[[bytes], bool] | None = None,
    contents: bool = True,
) -> Reuse:
    """Decide about an answer whose clock was taken before its search began.

    Args:
        since: What the journal says of the time since that clock.
        matched: Every path of the answer; all of them, also those beyond a limit. Who does not
            know them all may pass those shown and no `may_match`.
        in_scope: Whether the request's paths, globs and types let a path through.
        may_match: Whether the file as it is now may have a match; in doubt it may. Not asked of
            files that went. None where that cannot be told: every change in the scope counts.
        contents: Whether the question was about contents; else it was about paths, and edits of
            a file that stays do not count.
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


def _changes(batches: tuple[Batch, ...]) -> Iterator[tuple[bytes, What, bool]]:
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
    """Why a change of this path speaks against the answer, if it does."""
    if path in matched:
        return "changed_matched_path"
    if _is_rule(path):
        return "changed_rules"
    if path.endswith(b"/"):  # whatever lies below it came or went
        return "changed_search_scope"
    if not in_scope(path):
        return None
    # A file that had no match and went takes nothing from the answer.
    if may_match is None or (what != "removed" and may_match(path)):
        return "changed_search_scope"
    return None


def _is_rule(path: bytes) -> bool:
    """Whether what is listed may depend on this file's content."""
    return path.rpartition(b"/")[2] in _RULES
