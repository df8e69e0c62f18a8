"""The memo's contexts as JSON in a file of the user alone, so that they outlive the daemon.

While no daemon runs, hooks are missed, and a daemon that is killed has received more than it saved.
So contexts that are loaded after a gap are marked: only an agent's own record then shows what it
still has. After a kill the next read of every file goes through, as it may just have been denied.

Data that is damaged, or of another version, counts as empty.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypeAlias, TypedDict, TypeGuard, cast

from triseek import errors, private
from triseek.memo import primed
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
from triseek.memo.primed import Primings
from triseek.model import spans
from triseek.model.hook_event import Context
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOG = logging.getLogger(__name__)
_NAME = "memo.json"
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


class SavedCounters(TypedDict):
    """The fields of a `Conversation` that are saved as they are."""

    active_s: float
    passed: int
    uses: int
    forgot_s: float
    emptied_passed: int | None
    tells: bool
    total_reads: int
    redundant_reads: int
    prevented: int
    tokens_saved: int
    compactions: int


class SavedContext(SavedCounters):
    """A `Conversation`."""

    harness: str
    session: str
    agent: str
    roots: list[tuple[str, float]]
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


def is_ours(body: object) -> TypeGuard[dict[str, object]]:
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
    saved = {
        **asdict(conversation.context),
        **_plain_fields(conversation, SavedCounters),
        "roots": list(conversation.roots.items()),
        "files": [
            {"path": path, **_plain_fields(seen, SavedMemo)}
            for path, seen in conversation.files.items()
        ],
    }
    if (payload := conversation.given) is not None:
        quoted = [(path, quote.sha, quote.spans) for path, quote in payload.quoted.items()]
        saved["given"] = {**payload._asdict(), "quoted": quoted}
    return cast("SavedContext", saved)


def _plain_fields(record: Conversation | SeenFile, kind: type) -> dict[str, object]:
    """Return the fields of a record that a saved form has under the same name."""
    names = kind.__annotations__.keys() & {field.name for field in fields(record)}
    return {name: getattr(record, name) for name in names}


def _conversation(saved: SavedContext, *, gap: bool, closed: bool) -> Conversation:
    conversation = Conversation(
        Context(harness=saved["harness"], session=saved["session"], agent=saved["agent"]),
        roots=OrderedDict(saved["roots"][-ROOTS_MAX:]),
        files=OrderedDict(
            (file["path"], _file(file, gap=gap, closed=closed))
            for file in saved["files"][-FILES_MAX:]
        ),
        given=_given_before(saved["given"], gap=gap) if "given" in saved else None,
    )
    for name, value in saved.items():
        if name in SavedCounters.__annotations__:
            setattr(conversation, name, value)
    if gap or not closed:  # a daemon that was killed has received more than it saved
        conversation.emptied_passed = None
    return conversation


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


class Saved:
    """The memo's file. Not thread-safe."""

    def __init__(self, folder: str | None) -> None:
        self._folder = None if folder is None else Path(folder)
        self._is_there = False

    def load(self, now_s: float) -> tuple[list[Conversation], Primings]:
        """Return the saved contexts, least recently active first, and resumes; empty if damaged."""
        if self._folder is None:
            return [], Primings()
        body = atomic.read_sealed(self._folder / _NAME, most_bytes=MOST_BYTES)
        self._is_there = body is not None
        saved_primed = body.get("primed") if is_ours(body) else None
        return load(body, now_s), primed.load(saved_primed, now_s)

    def write(self, body: SavedState) -> None:
        """Replace the file; a failure is logged."""
        if self._folder is None:
            return
        path = self._folder / _NAME
        try:
            private.make(self._folder)
            atomic.write_sealed(path, body)
            path.chmod(0o600)
        except (OSError, errors.StateUnwritable) as error:
            _LOG.warning("the memo is not saved: %s", error)
        else:
            self._is_there = True

    def remove(self) -> None:
        """Remove the file; a failure is logged."""
        if self._folder is None or not self._is_there:
            return
        try:
            (self._folder / _NAME).unlink(missing_ok=True)
        except OSError as error:
            _LOG.warning("what the memo saved is not removed: %s", error)
        else:
            self._is_there = False
