"""Whether a read is worth doing: no, only if its every line is surely still in the context."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.sessions.memo import look, spans
from triseek.sessions.memo.context import Denied
from triseek.sessions.memo.reading import FILES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.model.hook_event import FileRead, Room, ToolUse
    from triseek.sessions.memo.context import Conversation
    from triseek.sessions.memo.look import Look
    from triseek.sessions.memo.spans import Spans

LEAST_TOKENS = 50
"""To refuse a smaller read would cost the agent about what the read does."""
_NUMBER_BYTES = 8
"""A tool may put the number before each line."""
_PATH_MAX = 300


class Denial(NamedTuple):
    """A read that is not worth doing, and what to tell the agent."""

    path: str
    """The first file of the read, as the read names it."""
    tokens: int
    """Of all lines that would have been read."""
    spared: tuple[int, ...]
    """The same for each file; 0 where the tool has no room for all, and would have cut them."""
    seconds_ago: int
    """Since the oldest of them were shown."""
    reason: str
    """One line."""
    context_text: str
    """One line more, for agents that take additional context."""


class Wanted(NamedTuple):
    """A file that a tool would read."""

    named: str
    """The path as the read has it."""
    look: Look
    asked: Spans

    @property
    def tokens(self) -> int:
        """An estimate for what would be read."""
        return self.look.tokens_of(self.asked)


def can_be_denied(use: ToolUse) -> bool:
    """Whether nothing is lost, but what it would show, if this use does not happen."""
    return use.only_reads and not use.edits and 0 < len(use.reads) <= FILES_MAX


def may_matter(conversation: Conversation, use: ToolUse, paths: Sequence[str | None]) -> bool:
    """Whether the files of a use are worth a look, before one is taken."""
    files = [conversation.files.get(path) if path else None for path in paths]
    if any(seen is not None and seen.denied for seen in files):
        return True
    return can_be_denied(use) and all(seen is not None and seen.credits for seen in files)


def was_denied(conversation: Conversation, files: Iterable[Wanted | None], now_s: float) -> bool:
    """Whether this is the second try of a read, which goes through."""
    again = False
    for file in files:
        seen = conversation.files.get(file.look.path) if file else None
        if file is not None and seen is not None and seen.denied:
            again = conversation.settle(seen, file.asked, now_s, over=True) or again
    return again


def is_small(files: Iterable[Wanted]) -> bool:
    """Whether a read is not worth a denial."""
    return sum(file.tokens for file in files) < LEAST_TOKENS


def edits(conversation: Conversation, paths: Iterable[str | None]) -> list[int]:
    """What tells, asked twice, whether a file was written in between."""
    files = (conversation.files.get(path) for path in paths if path)
    return [seen.edits for seen in files if seen is not None]


def wanted(reads: Iterable[FileRead], paths: Iterable[str | None]) -> list[Wanted | None]:
    """Look at each file; None for one that cannot be read, or would show nothing.

    Args:
        reads: What is to be read.
        paths: Their real paths.
    """
    looks: dict[str, Look | None] = {}
    found: list[Wanted | None] = []
    for read, path in zip(reads, paths, strict=False):
        if path is not None and path not in looks:
            looks[path] = look.look(path)
        seen = looks[path] if path is not None else None
        asked = seen.asked(read) if seen else spans.NONE
        found.append(Wanted(read.path, seen, asked) if seen and asked else None)
    return found


def shown_since(
    conversation: Conversation,
    files: Sequence[Wanted],
    now_s: float,
    in_view: frozenset[str] | None,
) -> float | None:
    """When the oldest of all wanted lines was shown; None unless each surely is in the context.

    Args:
        conversation: The context.
        files: What would be read.
        now_s: Unix time.
        in_view: The agent's own record; None to learn whether it is worth asking for.
    """
    sure = conversation.sure(now_s, in_view)
    if in_view is None:  # a gap does not matter: the record will be asked
        sure = lambda one: not conversation.is_late(one, now_s)  # noqa: E731
    oldest = now_s
    for file in files:
        seen = conversation.files.get(file.look.path)
        if seen is None or seen.digest != file.look.digest:
            return None
        there = [one for one in seen.credits if one.call and sure(one)]
        lines = spans.joined(pair for one in there for pair in one.spans)
        if not spans.covers(lines, file.asked):
            return None
        asked = [one.at_s for one in there if spans.overlap(one.spans, file.asked)]
        oldest = min(oldest, *asked)
    return oldest


def denial(files: Sequence[Wanted], room: Room, since_s: float, now_s: float) -> Denial:
    """Word it."""
    each = tuple(file.tokens for file in files)
    tokens = sum(each)
    ago = max(0, int(now_s - since_s))
    names = [_named(file) for file in files[:3]]
    if len(files) > len(names):
        names.append(f"{len(files) - len(names)} more")
    said = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    verb = "is" if len(names) == 1 else "are"
    return Denial(
        files[0].named,
        tokens,
        each if _fits(files, room) else (0,) * len(files),
        ago,
        f"TriSeek memo: {said} {verb} unchanged in this session. Reuse the content already in "
        "context instead of reading it again.",
        f"TriSeek memo: skip_reread. Last read {ago}s ago. Approximate prior read size: {tokens} "
        "tokens. If it is no longer in view, read it again: the next read goes through.",
    )


def record(conversation: Conversation, files: Sequence[Wanted], made: Denial, now_s: float) -> None:
    """Count a denial: what it spares, less what it costs to be told."""
    cost = look.tokens_of_text(made.reason + made.context_text)
    for file, tokens in zip(files, made.spared, strict=True):
        saved = max(0, tokens - cost)
        cost = max(0, cost - tokens)
        conversation.files[file.look.path].deny(Denied(file.asked, saved, now_s))
        conversation.prevented += 1
        conversation.tokens_saved += saved


def _fits(files: Iterable[Wanted], room: Room) -> bool:
    sizes = [size for file in files for size in file.look.sizes_of(file.asked)]
    return (
        len(sizes) <= room.lines
        and sum(sizes) + _NUMBER_BYTES * len(sizes) <= room.bytes
        and (room.line_bytes is None or max(sizes, default=0) <= room.line_bytes)
    )


def _named(file: Wanted) -> str:
    name = "".join(char if char.isprintable() else "?" for char in file.named)
    if len(name) > _PATH_MAX:
        name = "…" + name[-_PATH_MAX:]
    return name if file.asked == file.look.whole else f"{name} (lines {spans.text(file.asked)})"
