"""Whether a read is needed: it is not if its every line is certainly still in the context."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from triseek.memo import look
from triseek.memo.context import Denied
from triseek.memo.output_match import FILES_MAX
from triseek.model import spans, token_estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.memo.context import Conversation
    from triseek.memo.look import FileText
    from triseek.model.hook_event import FileRead, Room, ToolUse
    from triseek.model.spans import Spans

LEAST_TOKENS = 50
"""Denying a smaller read would cost the agent about as much as the read."""
_NUMBER_BYTES = 8
"""For the number that a tool may put before each line."""
_PATH_MAX = 300


class Denial(NamedTuple):
    """The denial of a read that is not needed, and what to tell the agent."""

    path: str
    """The first file of the read, as the read names it."""
    tokens: int
    """Of all lines that would have been read."""
    spared: tuple[int, ...]
    """The same for each file; 0 if the tool has no room for all of them and would have cut them."""
    seconds_ago: int
    """Since the oldest of them were shown."""
    reason: str
    """One line."""
    context_text: str
    """One more line, for agents that accept additional context."""


class WantedFile(NamedTuple):
    """A file that a tool would read."""

    named: str
    """The path as the read names it."""
    look: FileText
    requested: Spans

    @property
    def tokens(self) -> int:
        """Estimate for the lines that would be read."""
        return self.look.tokens_of(self.requested)


def can_be_denied(use: ToolUse) -> bool:
    """Whether this use has no effect but to show what it reads."""
    return use.only_reads and not use.edits and 0 < len(use.reads) <= FILES_MAX


def may_matter(conversation: Conversation, use: ToolUse, paths: Sequence[str | None]) -> bool:
    """Whether the files of a use are worth reading, decided before any is read."""
    files = [conversation.files.get(path) if path else None for path in paths]
    if any(seen is not None and seen.denied for seen in files):
        return True
    return can_be_denied(use) and all(seen is not None and seen.credits for seen in files)


def was_denied(
    conversation: Conversation, files: Iterable[WantedFile | None], now_s: float
) -> bool:
    """Whether this repeats a denied read, which then goes through."""
    again = False
    for file in files:
        seen = conversation.files.get(file.look.path) if file else None
        if file is not None and seen is not None and seen.denied:
            again = conversation.settle(seen, file.requested, now_s, over=True) or again
    return again


def edits(conversation: Conversation, paths: Iterable[str | None]) -> list[int]:
    """Return edit counts: they differ between two calls if a file was written in between."""
    files = (conversation.files.get(path) for path in paths if path)
    return [seen.edits for seen in files if seen is not None]


def wanted(reads: Iterable[FileRead], paths: Iterable[str | None]) -> list[WantedFile | None]:
    """Read each file; None for one that cannot be read or would show nothing.

    Args:
        reads: The reads of the tool use.
        paths: Their real paths.
    """
    looks = cache(look.look)
    files: list[WantedFile | None] = []
    for read, path in zip(reads, paths, strict=False):
        seen = looks(path) if path is not None else None
        requested = seen.requested(read) if seen else spans.NONE
        files.append(WantedFile(read.path, seen, requested) if seen and requested else None)
    return files


def shown_since(
    conversation: Conversation,
    files: Sequence[WantedFile],
    now_s: float,
    in_view: frozenset[str] | None,
) -> float | None:
    """Return when the oldest wanted line was shown; None unless all are certainly in the context.

    Args:
        conversation: The context.
        files: What would be read.
        now_s: Unix time.
        in_view: The agent's own record; None to check whether it is worth querying.
    """
    sure = conversation.sure(now_s, in_view)
    if in_view is None:  # a gap does not matter: the record will be queried
        sure = lambda credit: not conversation.is_late(credit, now_s)  # noqa: E731
    oldest = now_s
    for file in files:
        seen = conversation.files.get(file.look.path)
        if seen is None or seen.digest != file.look.digest:
            return None
        there = [credit for credit in seen.credits if credit.call and sure(credit)]
        lines = spans.joined(pair for credit in there for pair in credit.spans)
        if not spans.covers(lines, file.requested):
            return None
        times = [credit.at_s for credit in there if spans.overlap(credit.spans, file.requested)]
        oldest = min(oldest, *times)
    return oldest


def denial(files: Sequence[WantedFile], room: Room, since_s: float, now_s: float) -> Denial:
    """Return the denial of a read, with its texts."""
    per_file = tuple(file.tokens for file in files)
    tokens = sum(per_file)
    ago = max(0, int(now_s - since_s))
    names = [_named(file) for file in files[:3]]
    if len(files) > len(names):
        names.append(f"{len(files) - len(names)} more")
    subject = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    verb = "is" if len(names) == 1 else "are"
    return Denial(
        files[0].named,
        tokens,
        per_file if _fits(files, room) else (0,) * len(files),
        ago,
        f"TriSeek memo: {subject} {verb} unchanged in this session. Reuse the content already in "
        "context instead of reading it again.",
        f"TriSeek memo: skip_reread. Last read {ago}s ago. Approximate prior read size: {tokens} "
        "tokens. If it is no longer in view, read it again: the next read goes through.",
    )


def record(
    conversation: Conversation, files: Sequence[WantedFile], made: Denial, now_s: float
) -> None:
    """Count a denial: the tokens it saves, less the cost of its text."""
    cost = token_estimate.of_source_text(made.reason + made.context_text)
    for file, tokens in zip(files, made.spared, strict=True):
        saved = max(0, tokens - cost)
        cost = max(0, cost - tokens)
        conversation.files[file.look.path].deny(Denied(file.requested, saved, now_s))
        conversation.prevented += 1
        conversation.tokens_saved += saved


def _fits(files: Iterable[WantedFile], room: Room) -> bool:
    sizes = [size for file in files for size in file.look.sizes_of(file.requested)]
    return (
        len(sizes) <= room.lines
        and sum(sizes) + _NUMBER_BYTES * len(sizes) <= room.bytes
        and (room.line_bytes is None or max(sizes, default=0) <= room.line_bytes)
    )


def _named(file: WantedFile) -> str:
    name = "".join(char if char.isprintable() else "?" for char in file.named)
    name = name if len(name) <= _PATH_MAX else "…" + name[-_PATH_MAX:]
    is_whole = file.requested == file.look.whole
    return name if is_whole else f"{name} (lines {spans.text(file.requested)})"
