"""The answers of memo_check, memo_status and memo_session, as the contract specifies them.

Keys are in the contract's order; keys that the contract does not have come last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.model import spans

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    from triseek.model.spans import Spans

DIFF_BELOW = 0.10
"""Relative change of a file's size, in estimated tokens, below which a diff is worth giving."""

NOT_OBSERVED = "File not observed in this session."
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
    in_context = seen.known(conversation.sure(now_s, in_view))
    report = _Said(seen.tokens, seen.reads, max(0, int(now_s - seen.read_s)))
    if not seen.digest:
        return report.unknown(_NOT_SHOWN)
    if look is None or look.digest != seen.digest:
        whole = spans.covers(in_context, spans.of(1, seen.lines))
        return report.stale(look, seen.digest if whole else "")
    return report.unchanged(in_context, seen.shown, look)


@dataclass(frozen=True, slots=True)
class _Said:
    """The read counts of a tracked file, which every standing of it reports."""

    tokens: int
    reads: int
    ago_s: int

    def unknown(self, message: str, lines: str = "") -> Standing:
        return Standing(
            "unknown", True, self.tokens, self.reads, self.ago_s, message=message, lines=lines
        )

    def stale(self, look: FileText | None, digest: str) -> Standing:
        if look is None:
            message, now = "Changed since last read (gone or unreadable now); re-read file.", None
        else:
            now = look.tokens
            message = f"Changed since last read (now ~{now} tokens); re-read file."
        return Standing(
            "stale", True, self.tokens, self.reads, self.ago_s, now, message, digest=digest
        )

    def unchanged(self, known: Spans, shown: Spans, look: FileText) -> Standing:
        if spans.covers(known, look.whole):
            message = f"Unchanged since last read. Skip re-read to save {self.tokens} tokens."
            return Standing("fresh", True, self.tokens, self.reads, self.ago_s, message=message)
        if not known:
            return self.unknown(_NOT_SURE)
        lines = spans.text(known)
        rest = "others" if known == shown else "others, or all that you do not see"
        return self.unknown(
            f"Of {look.lines} lines only {lines} are known to be in context, unchanged; "
            f"read the {rest}.",
            lines,
        )


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
    answer: MemoCheckAnswer = {
        "path": path,
        "status": standing.status,
        "recommendation": _recommended(standing, diff),
    }
    if standing.tracked:
        answer["tokens_at_last_read"] = standing.tokens
        if standing.current_tokens is not None:
            answer["current_tokens"] = standing.current_tokens
        answer["last_read_ago_seconds"] = standing.ago_s
    elif standing.primed:
        answer["tokens_at_last_read"] = standing.tokens
        if standing.current_tokens is not None:
            answer["current_tokens"] = standing.current_tokens
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
    result: MemoFile = {
        "path": path,
        "status": standing.status,
        **_counts(standing),
        "message": standing.message,
    }
    if standing.current_tokens is not None:
        result["current_tokens"] = standing.current_tokens
    if standing.lines:
        result["lines"] = standing.lines
    if standing.primed:
        result["primed"], result["snapshot_id"] = True, standing.primed
        result["recommendation"] = "skip_reread" if standing.is_there else "reread"
    return result


def _counts(standing: Standing) -> MemoCounts:
    """Return the tokens and the number of reads of a tracked or primed file; else nothing."""
    if not (standing.tracked or standing.primed):
        return {}
    return {"tokens": standing.tokens, "read_count": standing.reads}


def _recommended(standing: Standing, diff: str | None) -> Recommendation:
    if standing.is_there:
        return "skip_reread"
    return "reread_with_diff" if diff else "reread"


@dataclass(slots=True)
class ReadTotals:
    """Totals over all contexts of a session."""

    reads: int = 0
    prevented: int = 0
    saved: int = 0
    compactions: int = 0
    redundant: int = 0

    def add(self, one: Conversation) -> None:
        """Add the counts of one context."""
        self.reads += one.total_reads
        self.prevented += one.prevented
        self.saved += one.tokens_saved
        self.compactions += one.compactions
        self.redundant += one.redundant_reads


def session_answer(
    session: str,
    totals: ReadTotals,
    files: Sequence[tuple[str, Standing]],
    primed: Sequence[tuple[str, Standing]] = (),
) -> MemoSessionAnswer:
    """Return the answer of `memo_session`.

    Args:
        session: Id of the session.
        totals: Totals over all its contexts.
        files: Files that the context has read.
        primed: Files that it has not read and that a resume registered.
    """
    answer: MemoSessionAnswer = {
        "session_id": session,
        "tracked_files": len(files),
        "total_reads": totals.reads,
        "redundant_reads_prevented": totals.prevented,
        "tokens_saved": totals.saved,
        "compaction_count": totals.compactions,
        "files": [
            {"path": path, "status": state.status, "reads": state.reads, "tokens": state.tokens}
            for path, state in files
        ],
        "redundant_reads": totals.redundant,
    }
    if primed:
        answer["primed_files"] = [
            {"path": path, "status": state.status, "tokens": state.tokens} for path, state in primed
        ]
        answer["snapshot_id"] = primed[0][1].primed
    return answer
