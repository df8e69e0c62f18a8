"""What outlives the daemon: the memo's contexts as JSON.

While no daemon runs hooks go unheard, and one that is killed has heard more than it saved. So
what is taken up after a gap is marked: only an agent's own record then tells what it still has,
and after a kill the next read of everything goes through, for it may just have been denied.

What is damaged, or of another version, is nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from math import isfinite
from typing import TYPE_CHECKING, Any

from triseek.model.hook_event import Context
from triseek.sessions.memo import spans
from triseek.sessions.memo.context import (
    FILES_MAX,
    ROOTS_MAX,
    Conversation,
    Credit,
    Denied,
    Given,
    Quote,
    Seen,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.sessions.memo.spans import Spans

SCHEMA = 1
MOST_BYTES = 64 * 1024 * 1024
GAP_S = 60
"""A daemon that is started anew within this time has hardly missed a compaction."""


def dump(conversations: Iterable[Conversation], now_s: float, *, closed: bool) -> dict[str, Any]:
    """As JSON values.

    Args:
        conversations: The least recently active first.
        now_s: Unix time.
        closed: Whether nothing happens after this.
    """
    return {
        "schema": SCHEMA,
        "saved_s": now_s,
        "closed": closed,
        "contexts": [_context(one) for one in conversations],
    }


def load(body: object, now_s: float) -> list[Conversation]:
    """What `dump` made; nothing for what it cannot have made."""
    try:
        return _load(body, now_s) if is_ours(body) else []
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return []


def is_ours(body: object) -> bool:
    """Whether it is of this version."""
    return isinstance(body, dict) and body.get("schema") == SCHEMA


def _load(body: Any, now_s: float) -> list[Conversation]:  # noqa: ANN401 - JSON
    gap = not 0 <= now_s - _seconds(body["saved_s"]) <= GAP_S
    closed = body["closed"] is True
    found = [_conversation(one, gap=gap, closed=closed) for one in body["contexts"]]
    for one in found if not closed else ():
        _doubt(one)
    return found


def _doubt(one: Conversation) -> None:
    """Count no saving of a denial that a killed daemon may have heard was of no use."""
    for seen in one.files.values():
        for denied in seen.denied:
            if denied.counted:
                one.prevented = max(0, one.prevented - 1)
                one.tokens_saved = max(0, one.tokens_saved - denied.tokens)
        seen.denied = tuple(denied._replace(counted=False) for denied in seen.denied)


def _context(one: Conversation) -> dict[str, Any]:
    return {
        "harness": one.context.harness,
        "session": one.context.session,
        "agent": one.context.agent,
        "active_s": one.active_s,
        "passed": one.passed,
        "uses": one.uses,
        "forgot_s": one.forgot_s,
        "emptied_passed": one.emptied_passed,
        "tells": one.tells,
        "roots": list(one.roots.items()),
        "total_reads": one.total_reads,
        "redundant_reads": one.redundant_reads,
        "prevented": one.prevented,
        "tokens_saved": one.tokens_saved,
        "compactions": one.compactions,
        "files": [{"path": path, **_seen(seen)} for path, seen in one.files.items()],
        **({} if one.given is None else {"given": _given(one.given)}),
    }


def _given(given: Given) -> dict[str, Any]:
    return {
        "snapshot_id": given.snapshot_id,
        "quoted": [[path, quote.sha, quote.spans] for path, quote in given.quoted.items()],
        "credit": given.credit,
        "stamp": given.stamp,
    }


def _seen(seen: Seen) -> dict[str, Any]:
    return {
        "digest": seen.digest,
        "lines": seen.lines,
        "tokens": seen.tokens,
        "reads": seen.reads,
        "read_s": seen.read_s,
        "credits": seen.credits,
        "denied": seen.denied,
    }


def _conversation(said: dict[str, Any], *, gap: bool, closed: bool) -> Conversation:
    context = Context(
        harness=_text(said["harness"]),
        session=_text(said["session"]),
        agent=_text(said["agent"]),
    )
    return Conversation(
        context,
        active_s=_seconds(said["active_s"]),
        passed=_number(said["passed"]),
        uses=_number(said["uses"]),
        forgot_s=_seconds(said["forgot_s"]),
        # A daemon that was killed has heard of more than it saved.
        emptied_passed=_number_or_none(said["emptied_passed"]) if closed and not gap else None,
        tells=said["tells"] is True,
        roots=OrderedDict(
            (_text(root), _seconds(at_s)) for root, at_s in said["roots"][-ROOTS_MAX:]
        ),
        files=OrderedDict(
            (_text(one["path"]), _file(one, gap=gap, closed=closed))
            for one in said["files"][-FILES_MAX:]
        ),
        total_reads=_number(said["total_reads"]),
        redundant_reads=_number(said["redundant_reads"]),
        prevented=_number(said["prevented"]),
        tokens_saved=_number(said["tokens_saved"]),
        compactions=_number(said["compactions"]),
        given=_given_before(said.get("given"), gap=gap),
    )


def _given_before(said: Any, *, gap: bool) -> Given | None:  # noqa: ANN401 - JSON
    """A payload that came before; what it began with may have been read anew in a gap."""
    if said is None or (gap and said["credit"] is None):
        return None
    quoted = {_text(path): Quote(_text(sha), _spans(at)) for path, sha, at in said["quoted"]}
    told = said["credit"]
    return Given(
        _text(said["snapshot_id"]),
        quoted,
        None if told is None else _credit(told, gap=gap),
        tuple(number for number in said.get("stamp", ()) if type(number) is int),
    )


def _file(said: dict[str, Any], *, gap: bool, closed: bool) -> Seen:
    credits_ = tuple(_credit(one, gap=gap) for one in said["credits"])
    denied = tuple(
        Denied(_spans(lines), _number(tokens), _seconds(at_s), counted is True)
        for lines, tokens, at_s, counted in said["denied"]
    )
    if not closed:
        denied = (*denied[-7:], Denied(spans.of(1, spans.END), 0, 0.0, counted=False))
    return Seen(
        digest=_text(said["digest"]),
        lines=_number(said["lines"]),
        tokens=_number(said["tokens"]),
        credits=credits_,
        reads=_number(said["reads"]),
        read_s=_seconds(said["read_s"]),
        denied=denied,
    )


def _credit(said: list[Any], *, gap: bool) -> Credit:
    lines, call, at_s, passed, use, had_gap = said
    return Credit(
        _spans(lines),
        _text(call),
        _seconds(at_s),
        _number(passed),
        _number(use),
        gap or had_gap is True,
    )


def _spans(said: list[Any]) -> Spans:
    return spans.joined((_number(first), _number(last)) for first, last in said)


def _text(said: object) -> str:
    if not isinstance(said, str):
        raise TypeError
    return said


def _number(said: object) -> int:
    if type(said) is not int or said < 0:
        raise TypeError
    return said


def _number_or_none(said: object) -> int | None:
    return None if said is None else _number(said)


def _seconds(said: object) -> float:
    if not isinstance(said, float | int) or isinstance(said, bool) or not isfinite(said):
        raise TypeError
    return float(said)
