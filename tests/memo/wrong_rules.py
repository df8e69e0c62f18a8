"""Ways to make the memo wrong, one rule each: the stream has to notice every one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triseek.app import hook_handler
from triseek.memo import asking, context, look, memo, output_match, primed, state, verdict
from triseek.model import spans

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


class Everything(frozenset):
    """Every call is in view."""

    def __contains__(self, _call: object) -> bool:
        return True


def ignore_ranges(patch: pytest.MonkeyPatch) -> None:
    """Who has seen some lines has seen them all."""
    read = output_match.read

    def whole(use: Any) -> list[Any]:
        return [one._replace(shown=one.look.whole if one.shown else ()) for one in read(use)]

    patch.setattr(output_match, "read", whole)


def believe_claims(patch: pytest.MonkeyPatch) -> None:
    """What was asked for was shown, whatever the output says."""
    patch.setattr(
        output_match,
        "shown",
        lambda _output, claims: [spans.of(one.first, one.last) for one in claims],
    )


def ignore_hash(patch: pytest.MonkeyPatch) -> None:
    """A file is what it was."""
    patch.setattr(look.FileText, "digest", property(lambda _self: "same"))


def ignore_agent(patch: pytest.MonkeyPatch) -> None:
    """A sub-agent has seen what its session has; no record says otherwise."""
    _context(patch, agent="")
    believe_everything(patch)


def ignore_session(patch: pytest.MonkeyPatch) -> None:
    """What one conversation was shown, all were."""
    _context(patch, session="one", agent="")
    believe_everything(patch)


def _context(patch: pytest.MonkeyPatch, **same: str) -> None:
    read = hook_handler.hooks.read

    def one_for_all(payload: bytes, **how: str) -> Any:
        told = read(payload, **how)
        return told and replace(told, context=replace(told.context, **same))

    patch.setattr(hook_handler.hooks, "read", one_for_all)


def believe_everything(patch: pytest.MonkeyPatch) -> None:
    """Nothing ever leaves a view but by a hook that says so."""
    evidence = hook_handler._evidence
    patch.setattr(hook_handler, "_evidence", lambda told: evidence(told) and Everything)


def forget_nothing(patch: pytest.MonkeyPatch) -> None:
    """A compaction takes nothing away, and no record says so."""
    patch.setattr(context.Conversation, "forget", lambda *_, **__: None)
    believe_everything(patch)


def deny_twice(patch: pytest.MonkeyPatch) -> None:
    """A refused read is refused again."""
    patch.setattr(verdict, "was_denied", lambda *_: False)


def deny_all_that_reads(patch: pytest.MonkeyPatch) -> None:
    """Whatever else a command does."""
    patch.setattr(verdict, "can_be_denied", lambda use: bool(use.reads))


def never_take_back(patch: pytest.MonkeyPatch) -> None:
    """What is read after all was saved all the same."""
    settle = context.SeenFile.settle

    def settled(self: Any, *how: Any, **more: Any) -> list[Any]:
        return [one._replace(counted=False) for one in settle(self, *how, **more)]

    patch.setattr(context.SeenFile, "settle", settled)


def count_whole_files(patch: pytest.MonkeyPatch) -> None:
    """A refused line saves the whole file."""
    patch.setattr(look.FileText, "tokens_of", lambda self, _asked: self.tokens)


def ignore_time(patch: pytest.MonkeyPatch) -> None:
    """Old outputs are never cleared without a word."""
    patch.setattr(context.Conversation, "is_late", lambda *_: False)


def look_once(patch: pytest.MonkeyPatch) -> None:
    """What was read of the disk once is there still."""
    seen: dict[str, Any] = {}
    patch.setattr(look, "look", _kept(look.look, seen))


def _kept(find: Callable[[str], Any], seen: dict[str, Any]) -> Callable[[str], Any]:
    return lambda path: seen[path] if path in seen else seen.setdefault(path, find(path))


def answer_for_the_latest(patch: pytest.MonkeyPatch) -> None:
    """Who does not say who it is, is whoever came last."""
    likely = memo.likely

    def latest(*how: Any) -> Any:
        found = likely(*how)
        return found._replace(contexts=found.contexts[:1])

    patch.setattr(memo, "likely", latest)


def trust_a_gap(patch: pytest.MonkeyPatch) -> None:
    """A daemon that was killed knows what it saved last, denials too."""
    load = state.load
    patch.setattr(state, "load", lambda body, now_s: load(_unbroken(body, now_s), now_s))


def _unbroken(body: Any, now_s: float) -> Any:
    return {**body, "closed": True, "saved_s": now_s} if isinstance(body, dict) else body


def call_stale_fresh(patch: pytest.MonkeyPatch) -> None:
    """Lines that are known stand for the file."""
    patch.setattr(asking.spans, "covers", lambda some, _others: bool(some))


def credit_payloads(patch: pytest.MonkeyPatch) -> None:
    """What a payload quotes was read, and need not be."""
    receive = memo.Memo._receive

    def credited(self: Any, conversation: Any, promised: Any, use: Any) -> None:
        receive(self, conversation, promised, use)
        given = conversation.given
        for path, quote in given.quoted.items() if given else ():
            credit = given.credit._replace(spans=quote.spans)
            conversation.file(path).credit(look.look(path), quote.spans, credit)

    patch.setattr(memo.Memo, "_receive", credited)


def give_payloads_to_all(patch: pytest.MonkeyPatch) -> None:
    """Whoever asks has what somebody has resumed."""
    patch.setattr(primed, "carried", lambda *_: spans.of(1, spans.END))


def believe_payloads(patch: pytest.MonkeyPatch) -> None:
    """What a payload should quote was shown."""
    patch.setattr(primed, "borne_out", lambda _text, quoted: dict(quoted))


def keep_payloads(patch: pytest.MonkeyPatch) -> None:
    """What a context was given it has until we hear that it forgot, whatever its record says."""

    def has(self: Any, snapshot_id: str, path: str, _now_s: float) -> Any:
        given = self.one.given if self.one else None
        is_it = given is not None and given.snapshot_id == snapshot_id and path in given.quoted
        return given.quoted[path].spans if is_it else spans.NONE

    patch.setattr(primed.Asker, "has", has)


def prime_for_ever(patch: pytest.MonkeyPatch) -> None:
    """What was the same when it was resumed still is."""
    standing = primed.standing

    def same(snapshot_id: str, file: Any, now: Any, carried: Any) -> Any:
        file = replace(file, sha=now.sha) if now else file
        return standing(snapshot_id, file, now, carried)

    patch.setattr(primed, "standing", same)


RULES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    rule.__name__: rule
    for rule in (
        ignore_ranges, believe_claims, ignore_hash, ignore_agent, ignore_session,
        believe_everything, forget_nothing, deny_twice, deny_all_that_reads, never_take_back,
        count_whole_files, ignore_time, look_once, answer_for_the_latest,
        trust_a_gap, call_stale_fresh, credit_payloads, give_payloads_to_all, believe_payloads,
        keep_payloads, prime_for_ever,
    )
}  # fmt: skip
QUICK = ("believe_claims", "deny_twice", "give_payloads_to_all")
"""Noticed within a few hundred events."""
