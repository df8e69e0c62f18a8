"""The memo's contexts as JSON, so that they outlive the daemon.

While no daemon runs, hooks are missed, and a daemon that is killed has received more than it saved.
So contexts that are loaded after a gap are marked: only an agent's own record then shows what it
still has. After a kill the next read of every file goes through, as it may just have been denied.

Data that is damaged, or of another version, counts as empty.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NotRequired, TypeAlias, TypedDict

from triseek.memo.context import (
    FILES_MAX,
    ROOTS_MAX,
    Conversation,
    Credit,
    Denied,
    Given,
    Quote,
    SeenFile,
)  # fmt: skip
from triseek.memo.decoding import decode
from triseek.model import spans
from triseek.model.hook_event import Context

if TYPE_CHECKING:
    from collections.abc import Iterable


SCHEMA = 1
MOST_BYTES = 64 * 1024 * 1024
GAP_S = 60
"""A daemon that restarts within this time has hardly missed a compaction."""


_Spans: TypeAlias = tuple[tuple[int, int], ...]
_Credit: TypeAlias = tuple[_Spans, str, float, int, int, bool]
_Denied: TypeAlias = tuple[_Spans, int, float, bool]


class SavedMemo(TypedDict):
    """A `SeenFile` and its path."""

    path: str
    digest: str
    lines: int
    tokens: int
    reads: int
    read_s: float
    credits: tuple[_Credit, ...]
    denied: tuple[_Denied, ...]


class SavedGiven(TypedDict):
    """A `Given`."""

    snapshot_id: str
    quoted: list[tuple[str, str, _Spans]]
    """Path, hash and lines."""
    credit: _Credit | None
    stamp: NotRequired[tuple[object, ...]]


class SavedContext(TypedDict):
    """A `Conversation`."""

    harness: str
    session: str
    agent: str
    active_s: float
    passed: int
    uses: int
    forgot_s: float
    emptied_passed: int | None
    tells: bool
    roots: list[tuple[str, float]]
    total_reads: int
    redundant_reads: int
    prevented: int
    tokens_saved: int
    compactions: int
    files: list[SavedMemo]
    given: NotRequired[SavedGiven]


class SavedState(TypedDict):
    """The file."""

    schema: int
    saved_s: float
    """Unix time."""
    closed: bool
    """Whether the daemon ended after this."""
    contexts: list[SavedContext]
    primed: NotRequired[object]
    """As `memo.primed` saves it; if that is damaged, the contexts are not."""


def dump(conversations: Iterable[Conversation], now_s: float, *, closed: bool) -> SavedState:
    """Return contexts as JSON values.

    Args:
        conversations: The least recently active first.
        now_s: Unix time.
        closed: Whether nothing happens after this.
    """
    return {
        "schema": SCHEMA,
        "saved_s": now_s,
        "closed": closed,
        "contexts": [_context(conversation) for conversation in conversations],
    }


def load(body: object, now_s: float) -> list[Conversation]:
    """Restore what `dump` returned; empty for anything else."""
    try:
        return _load(decode(SavedState, body), now_s) if is_ours(body) else []
    except (TypeError, ValueError, OverflowError):
        return []


def is_ours(body: object) -> bool:
    """Whether the data is of this version."""
    return isinstance(body, dict) and body.get("schema") == SCHEMA


def _load(saved: SavedState, now_s: float) -> list[Conversation]:
    gap = not 0 <= now_s - saved["saved_s"] <= GAP_S
    closed = saved["closed"]
    conversations = [_conversation(one, gap=gap, closed=closed) for one in saved["contexts"]]
    for conversation in conversations if not closed else ():
        _doubt(conversation)
    return conversations


def _doubt(conversation: Conversation) -> None:
    """Subtract savings of denials that a killed daemon may have learned were of no use."""
    for seen in conversation.files.values():
        for denied in seen.denied:
            if denied.counted:
                conversation.prevented = max(0, conversation.prevented - 1)
                conversation.tokens_saved = max(0, conversation.tokens_saved - denied.tokens)
        seen.denied = tuple(denied._replace(counted=False) for denied in seen.denied)


def _context(conversation: Conversation) -> SavedContext:
    saved: SavedContext = {
        "harness": conversation.context.harness,
        "session": conversation.context.session,
        "agent": conversation.context.agent,
        "active_s": conversation.active_s,
        "passed": conversation.passed,
        "uses": conversation.uses,
        "forgot_s": conversation.forgot_s,
        "emptied_passed": conversation.emptied_passed,
        "tells": conversation.tells,
        "roots": list(conversation.roots.items()),
        "total_reads": conversation.total_reads,
        "redundant_reads": conversation.redundant_reads,
        "prevented": conversation.prevented,
        "tokens_saved": conversation.tokens_saved,
        "compactions": conversation.compactions,
        "files": [_seen(path, seen) for path, seen in conversation.files.items()],
    }
    if conversation.given is not None:
        saved["given"] = _given(conversation.given)
    return saved


def _given(payload: Given) -> SavedGiven:
    return {
        "snapshot_id": payload.snapshot_id,
        "quoted": [(path, quote.sha, quote.spans) for path, quote in payload.quoted.items()],
        "credit": payload.credit,
        "stamp": payload.stamp,
    }


def _seen(path: str, seen: SeenFile) -> SavedMemo:
    return {
        "path": path,
        "digest": seen.digest,
        "lines": seen.lines,
        "tokens": seen.tokens,
        "reads": seen.reads,
        "read_s": seen.read_s,
        "credits": seen.credits,
        "denied": seen.denied,
    }


def _conversation(saved: SavedContext, *, gap: bool, closed: bool) -> Conversation:
    return Conversation(
        Context(harness=saved["harness"], session=saved["session"], agent=saved["agent"]),
        active_s=saved["active_s"],
        passed=saved["passed"],
        uses=saved["uses"],
        forgot_s=saved["forgot_s"],
        # A daemon that was killed has received more than it saved.
        emptied_passed=saved["emptied_passed"] if closed and not gap else None,
        tells=saved["tells"],
        roots=OrderedDict(saved["roots"][-ROOTS_MAX:]),
        files=OrderedDict(
            (file["path"], _file(file, gap=gap, closed=closed))
            for file in saved["files"][-FILES_MAX:]
        ),
        total_reads=saved["total_reads"],
        redundant_reads=saved["redundant_reads"],
        prevented=saved["prevented"],
        tokens_saved=saved["tokens_saved"],
        compactions=saved["compactions"],
        given=_given_before(saved["given"], gap=gap) if "given" in saved else None,
    )


def _given_before(saved: SavedGiven, *, gap: bool) -> Given | None:
    """Restore a payload, unless it was in instructions that may have been reread in a gap."""
    credit = saved["credit"]
    if gap and credit is None:
        return None
    return Given(
        saved["snapshot_id"],
        {path: Quote(sha, spans.joined(lines)) for path, sha, lines in saved["quoted"]},
        None if credit is None else _credit(credit, gap=gap),
        tuple(number for number in saved.get("stamp", ()) if type(number) is int),
    )


def _file(saved: SavedMemo, *, gap: bool, closed: bool) -> SeenFile:
    denied = tuple(
        Denied(spans.joined(lines), tokens, at_s, counted)
        for lines, tokens, at_s, counted in saved["denied"]
    )
    if not closed:
        denied = (*denied[-7:], Denied(spans.of(1, spans.END), 0, 0.0, counted=False))
    return SeenFile(
        digest=saved["digest"],
        lines=saved["lines"],
        tokens=saved["tokens"],
        credits=tuple(_credit(credit, gap=gap) for credit in saved["credits"]),
        reads=saved["reads"],
        read_s=saved["read_s"],
        denied=denied,
    )


def _credit(saved: _Credit, *, gap: bool) -> Credit:
    lines, call, at_s, passed, use, had_gap = saved
    return Credit(spans.joined(lines), call, at_s, passed, use, gap or had_gap)
