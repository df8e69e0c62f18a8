"""What the memo tools answer, field by field.

The docstring under a field is what the reference page says of it. A field that may be missing is
`NotRequired`.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from triseek.model.tool import ADDED

FileStatus: TypeAlias = Literal["fresh", "stale", "unknown"]
Recommendation: TypeAlias = Literal["skip_reread", "reread_with_diff", "reread"]


class MemoCounts(TypedDict):
    """What is counted of a file that the context was shown."""

    tokens: NotRequired[int]
    """Of the file when it was shown, its bytes divided by 3.5."""
    read_count: NotRequired[int]
    """How often."""


class MemoFile(MemoCounts):
    """What `memo_status` says of one file."""

    path: str
    """As it was asked for."""
    status: FileStatus
    """`fresh`: all of it was shown in this context and is unchanged; `stale`: it was shown and has
    changed since; `unknown`: neither can be said, as of a file that does not exist."""
    message: str
    """The same in a sentence."""
    current_tokens: NotRequired[int]
    """Of a stale file, as it is now."""
    lines: Annotated[NotRequired[str], ADDED]
    """Which lines were shown and are unchanged, where it is not all of them."""
    primed: Annotated[NotRequired[bool], ADDED]
    """true of a file that only the session that was [resumed](../concepts/memo.md) had read:
    `fresh` says that it is unchanged since, and not that it is in this context."""
    snapshot_id: Annotated[NotRequired[str], ADDED]
    """What was resumed."""
    recommendation: Annotated[NotRequired[str], ADDED]
    """Of a primed file, as in `memo_check`."""


class MemoStatusAnswer(TypedDict):
    """What the context has of some files."""

    session_id: str
    """Whose reads are told of; `default` where there is none."""
    results: list[MemoFile]
    """One for each file, in the order in which they were asked for."""


class MemoCheckAnswer(TypedDict):
    """Whether a file has to be read again."""

    path: str
    """As it was asked for."""
    status: FileStatus
    """As above."""
    recommendation: Recommendation
    """`skip_reread`, `reread_with_diff` or `reread`."""
    tokens_at_last_read: NotRequired[int]
    """Of the file when it was shown."""
    current_tokens: NotRequired[int]
    """Of a stale file, as it is now."""
    last_read_ago_seconds: NotRequired[int]
    """Since it was shown."""
    diff: Annotated[NotRequired[str], ADDED]
    """With `reread_with_diff`: what has changed since, as a unified diff."""
    lines: Annotated[NotRequired[str], ADDED]
    """Which lines were shown and are unchanged, where it is not all of them."""
    message: Annotated[NotRequired[str], ADDED]
    """Which that is, in a sentence."""
    primed: Annotated[NotRequired[bool], ADDED]
    """As above; `skip_reread` if the payload in this context quotes all of the file."""
    snapshot_id: Annotated[NotRequired[str], ADDED]
    """As above."""


class TrackedFile(TypedDict):
    """A file that the context was shown."""

    path: str
    status: FileStatus
    reads: int
    tokens: int


class ResumedFile(TypedDict):
    """A file that only the resumed session had read."""

    path: str
    status: FileStatus
    tokens: int


class MemoSessionAnswer(TypedDict):
    """What the context was shown, and what knowing it has saved."""

    session_id: str
    """As above."""
    tracked_files: int
    """Files this context was shown."""
    total_reads: int
    """Reads of it."""
    redundant_reads_prevented: int
    """Reads that were refused because the context had the lines, and were not asked for again."""
    tokens_saved: int
    """Of those reads; a read that happened saves nothing."""
    compaction_count: int
    """How often the context was compacted; the totals outlive that."""
    files: list[TrackedFile]
    """Each `path` (absolute), `status`, `reads` and `tokens`."""
    redundant_reads: Annotated[int, ADDED]
    """Reads that happened, though the context had every line."""
    primed_files: Annotated[NotRequired[list[ResumedFile]], ADDED]
    """After a resume: `path`, `status` and `tokens` of those that only the resumed session had
    read."""
    snapshot_id: Annotated[NotRequired[str], ADDED]
    """As above."""
