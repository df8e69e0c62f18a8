"""The answers of memo_check, memo_status and memo_session, as the contract specifies them.

Keys are in the contract's order; keys that the contract does not have come last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.model import spans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from triseek.memo.context import Conversation
    from triseek.memo.look import FileText
    from triseek.memo.results import (
        FileStatus,
        MemoCheckAnswer,
        MemoCounts,
        MemoFile,
        MemoSessionAnswer,
        Recommendation,
    )

DIFF_BELOW = 0.10
"""Relative change of a file's size, in estimated tokens, below which a diff is worth giving."""

NOT_OBSERVED = "File not observed in this session."
_MISSING = "There is no such file."
_NOT_SHOWN = "Read in this session, but what was shown of it is not known; re-read file."
_NOT_SURE = "Unchanged, but perhaps no longer in context; re-read file if you do not see it."
_ANOTHERS = "Read by an agent at work here, perhaps not by you; re-read file if you do not see it."


@dataclass(frozen=True, slots=True)
class Standing:
    """State of a file in a context: fresh, stale or unknown, with the figures to report."""

    status: FileStatus
    tracked: bool = False
    tokens: int = 0
    """Estimate at the last read."""
    reads: int = 0
    ago_s: int = 0
    current_tokens: int | None = None
    """Estimate for a file that changed, as it is now."""
    message: str = NOT_OBSERVED
    lines: str = ""
    """The lines known to be in the context, if not all are."""
    digest: str = ""
    """Of the content that is certainly in the context as a whole, although the file has changed."""
    primed: str = ""
    """The snapshot that the file is known from, if this context has not read it itself."""
    carried: bool = False
    """Whether a payload that is certainly in the context quotes the whole primed file."""

    @property
    def is_there(self) -> bool:
        """Whether reading the file again would gain nothing."""
        return self.status == "fresh" and (self.carried or not self.primed)


UNKNOWN = Standing("unknown")
MISSING = Standing("unknown", message=_MISSING)
"""Of a file that is not there, of which nothing is known either."""


def standing(
    conversation: Conversation | None,
    path: str,
    look: FileText | None,
    now_s: float,
    in_view: frozenset[str] | None,
) -> Standing:
    """Return the state of a file in a context.

    Args:
        conversation: The context; None if it has ended.
        path: The file's real path.
        look: The file now; None if it cannot be read.
        now_s: Unix time.
        in_view: The agent's own record of what is in its context; None if it does not say.
    """
    seen = conversation.files.get(path) if conversation else None
    if conversation is None or seen is None:
        return UNKNOWN
    known = seen.known(conversation.sure(now_s, in_view))
    tracked = Standing("unknown", True, seen.tokens, seen.reads, max(0, int(now_s - seen.read_s)))
    if not seen.digest:
        return replace(tracked, message=_NOT_SHOWN)
    if look is None or look.digest != seen.digest:
        size = f"now ~{look.tokens} tokens" if look else "gone or unreadable now"
        return replace(
            tracked,
            status="stale",
            current_tokens=look.tokens if look else None,
            message=f"Changed since last read ({size}); re-read file.",
            digest=seen.digest if spans.covers(known, spans.of(1, seen.lines)) else "",
        )
    if spans.covers(known, look.whole):
        message = f"Unchanged since last read. Skip re-read to save {seen.tokens} tokens."
        return replace(tracked, status="fresh", message=message)
    if not known:
        return replace(tracked, message=_NOT_SURE)
    lines = spans.text(known)
    rest = "others" if known == seen.shown else "others, or all that you do not see"
    message = (
        f"Of {look.lines} lines only {lines} are known to be in context, unchanged; "
        f"read the {rest}."
    )
    return replace(tracked, message=message, lines=lines)


def of_all(standings: Sequence[Standing]) -> Standing:
    """Merge a file's standings in all contexts that may be asking, the likeliest first."""
    first, *others = standings or (UNKNOWN,)
    if not others or (first.status == "fresh" and all(other.status == "fresh" for other in others)):
        return first
    if first.status == "stale":
        all_had_it = all(other.digest == first.digest for other in others)
        return replace(first, digest=first.digest if all_had_it else "")
    return replace(UNKNOWN, message=_ANOTHERS) if first.tracked else first


def wants_diff(standing: Standing) -> bool:
    """Whether a diff, if it is available, is better than reading the file again."""
    before, now = standing.tokens, standing.current_tokens
    return (
        standing.digest != ""
        and now is not None
        and before > 0
        and abs(now - before) / before < DIFF_BELOW
    )


def check_answer(path: str, standing: Standing, diff: str | None) -> MemoCheckAnswer:
    """Return the answer of `memo_check`."""
    reread: Recommendation = "reread_with_diff" if diff else "reread"
    answer: MemoCheckAnswer = {
        "path": path,
        "status": standing.status,
        "recommendation": "skip_reread" if standing.is_there else reread,
    }
    if standing.tracked or standing.primed:
        answer["tokens_at_last_read"] = standing.tokens
    if standing.current_tokens is not None:
        answer["current_tokens"] = standing.current_tokens
    if standing.tracked:
        answer["last_read_ago_seconds"] = standing.ago_s
    if standing.primed:
        answer["primed"], answer["snapshot_id"] = True, standing.primed
        answer["message"] = standing.message
    elif standing.status == "unknown" and standing.message != NOT_OBSERVED:
        answer["message"] = standing.message
    if standing.lines:
        answer["lines"] = standing.lines
    if diff:
        answer["diff"] = diff
    return answer


def status_result(path: str, standing: Standing) -> MemoFile:
    """Return the result of `memo_status` for one file."""
    counts: MemoCounts = {}
    if standing.tracked or standing.primed:
        counts = {"tokens": standing.tokens, "read_count": standing.reads}
    result: MemoFile = {
        "path": path, "status": standing.status, **counts, "message": standing.message
    }  # fmt: skip
    if standing.current_tokens is not None:
        result["current_tokens"] = standing.current_tokens
    if standing.lines:
        result["lines"] = standing.lines
    if standing.primed:
        result["primed"], result["snapshot_id"] = True, standing.primed
        result["recommendation"] = "skip_reread" if standing.is_there else "reread"
    return result


def session_answer(session: str, conversations: Sequence[Conversation]) -> MemoSessionAnswer:
    """Return the answer of `memo_session` with totals over all contexts of a session, no files."""
    return {
        "session_id": session,
        "tracked_files": 0,
        "total_reads": sum(one.total_reads for one in conversations),
        "redundant_reads_prevented": sum(one.prevented for one in conversations),
        "tokens_saved": sum(one.tokens_saved for one in conversations),
        "compaction_count": sum(one.compactions for one in conversations),
        "files": [],
        "redundant_reads": sum(one.redundant_reads for one in conversations),
    }


def add_files(answer: MemoSessionAnswer, standings: Mapping[str, Standing]) -> None:
    """Add the files that the context has read, and those that only a resume registered.

    standings: By path.
    """
    for path, state in standings.items():
        if state.tracked:
            answer["tracked_files"] += 1
            answer["files"].append(
                {"path": path, "status": state.status, "reads": state.reads, "tokens": state.tokens}
            )
        elif state.primed:
            answer.setdefault("primed_files", []).append(
                {"path": path, "status": state.status, "tokens": state.tokens}
            )
            answer["snapshot_id"] = state.primed
