"""The memo: what each context of each agent has been shown, and whether it must read it again."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from triseek.sessions.memo import asking, look, primed, reading, state, verdict
from triseek.sessions.memo.asking import Standing, Totals
from triseek.sessions.memo.changes import Changes
from triseek.sessions.memo.choosing import Announced, Asked, Askers, likely
from triseek.sessions.memo.context import Given
from triseek.sessions.memo.primed import NO_QUOTES, Asker, Primed, PrimedFile, Priming, Primings
from triseek.sessions.memo.saved import Saved
from triseek.sessions.memo.table import Table
from triseek.sessions.memo.verdict import Denial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.model.hook_event import Context, ToolUse
    from triseek.model.results import MemoCheckAnswer, MemoSessionAnswer, MemoStatusAnswer
    from triseek.sessions.memo.context import Conversation, InView
    from triseek.sessions.memo.look import Look

__all__ = ["Asked", "Denial", "Memo", "Primed", "PrimedFile"]

_DEFAULT_SESSION = "default"


class Memo:
    """Thread-safe; files are read outside the lock. No method raises for what an agent sends."""

    def __init__(self, folder: str | None, clock: Callable[[], float] = time.time) -> None:
        """Take up what was saved in this folder.

        Args:
            folder: Absolute; made when first written to, mode 0700. None: nothing outlives the
                process, and no content is kept for diffs.
            clock: Unix time in seconds.
        """
        self._clock = clock
        self._lock = threading.Lock()  # guards the four below
        self._table = Table()
        self._announced = Announced()
        self._primings = Primings()
        self._changed = False
        self._saving = threading.Lock()  # one at a time; taken before the other lock, never after
        self._saved = Saved(folder)
        self._changes = Changes(folder)
        self._take_up()

    def begin(self, root: str, context: Context, in_view: InView | None = None) -> None:
        """A context is at work under this root; forgets nothing.

        Args:
            root: Of the repository, absolute.
            context: Whose work.
            in_view: Here and below, as of `verdict`: the way to ask the agent's own record, kept
                until the context's next hook. It should hold little.
        """
        with self._lock:
            conversation = self._at_work(root, context, in_view)
            if conversation is None or not conversation.is_new:
                return
            conversation.is_new = False
            generation, resumed = conversation.generation, self._primings.get(root, self._clock())
        if resumed is None:
            return
        quoted, stamp = primed.in_instructions(root, context.harness, resumed)
        with self._lock:
            if quoted and self._is_as_before(conversation, generation):
                conversation.given = Given(resumed.snapshot_id, quoted, stamp=stamp)

    def observe(
        self, root: str, context: Context, use: ToolUse, in_view: InView | None = None
    ) -> None:
        """After a use of a tool: credit what its output verifiably showed, note what it edited.

        Its output counts as tokens that passed; do not tell `passed` of it.
        """
        for path in use.edits[: reading.FILES_MAX]:
            self.edited(path)
        with self._lock:
            conversation = self._at_work(root, context, in_view)
            if conversation is None:
                return
            begun = conversation.began(use.call, self._clock())
            conversation.pass_by(look.tokens_of_text(use.output or ""))
            promised = conversation.promised(use.call)
        if promised is not None:
            self._receive(conversation, promised, use)
        if use.failed or not use.reads:
            return
        read = reading.read(use)
        with self._lock:
            generation = begun.generation if begun else conversation.generation
            if self._is_as_before(conversation, generation):
                for one in read:
                    conversation.read(one, use, begun, self._clock())
        self._changes.keep(root, read)

    def verdict(
        self,
        root: str,
        context: Context,
        use: ToolUse,
        in_view: InView,
    ) -> Denial | None:
        """Before a use of a tool: why it is not needed; None lets it happen.

        Args:
            root: Of the repository, absolute.
            context: Whose use.
            use: Only one whose reads are all it does is ever denied.
            in_view: Asked at most once, and only if all else speaks for a denial: the ids of the
                uses whose outputs are still in the context; None where that cannot be told.
        """
        paths = [look.real(read.path) for read in use.reads[: reading.FILES_MAX]]
        with self._lock:
            conversation = self._at_work(root, context, in_view)
            if conversation is None:
                return None
            conversation.begin(use.call, self._clock())
            if not verdict.may_matter(conversation, use, paths):
                return None
            generation = conversation.generation
            edits = verdict.edits(conversation, paths)
        files = verdict.wanted(use.reads, paths)
        with self._lock:
            if verdict.was_denied(conversation, files, self._clock()):
                return None
        whole = [file for file in files if file is not None]
        if not verdict.can_be_denied(use) or len(whole) < len(files) or verdict.is_small(whole):
            return None
        with self._lock:
            if verdict.shown_since(conversation, whole, self._clock(), None) is None:
                return None
        evidence = in_view()
        if evidence is None:
            return None
        with self._lock:
            now_s = self._clock()
            if not self._is_as_before(conversation, generation):
                return None
            if edits != verdict.edits(conversation, paths):
                return None
            since_s = verdict.shown_since(conversation, whole, now_s, evidence)
            # Asked again, for the same read may have been tried at once.
            if verdict.was_denied(conversation, files, now_s) or since_s is None:
                return None
            denial = verdict.denial(whole, use.room, since_s, now_s)
            verdict.record(conversation, whole, denial, now_s)
            return denial

    def forget(
        self,
        context: Context,
        *,
        whole_session: bool = False,
        compacted: bool = False,
        emptied: bool = False,
    ) -> None:
        """A context holds no more what it was shown; totals stay.

        Args:
            context: Which.
            whole_session: Every agent's context of its session as well.
            compacted: Count a compaction.
            emptied: The context surely holds next to nothing now, and not only to be careful.
        """
        with self._lock:
            # Known from now on, though it may have done nothing yet: it may be the one that asks.
            named = self._at_work("", context)
            if named is not None and compacted:
                named.compactions += 1
            gone = self._table.session(context) if whole_session else [named] if named else []
            for one in gone:
                is_it = one is named
                one.forget(
                    self._clock(),
                    to_be_sure=not (is_it and compacted),
                    emptied=is_it and emptied,
                )
            self._changed = True
        self._unsave(gone)

    def end(self, context: Context) -> None:
        """Drop a session that ended, or the one context of a sub-agent."""
        with self._lock:
            one = self._table.get(context)
            gone = ([one] if one else []) if context.agent else self._table.session(context)
            for one in gone:
                one.forget(self._clock())
                self._table.drop(one, self._clock())
            self._changed = True
        self._unsave(gone)

    def erase(self, root: str | None = None) -> int:
        """Forget contexts for good, with totals and kept contents, on disk as well.

        Args:
            root: Those that were at work in this folder or below it; None: all.

        Returns:
            How many there were.
        """
        with self._lock:
            gone = [one for one in self._table if root is None or one.was_in(root)]
            for one in gone:
                one.forget(self._clock())
                self._table.drop(one, self._clock())
            self._primings.drop(root)
            self._changed = True
        self._unsave(gone)
        self.save()
        return len(gone)

    def edited(self, path: str) -> None:
        """A file, by its absolute path, was or may have been written.

        What it holds is looked at whenever it matters; this is for the moment in between.
        """
        if not self._table:
            return
        real = look.real(path)
        if real is None:
            return
        with self._lock:
            for one in self._table:
                seen = one.files.get(real)
                if seen is not None:
                    seen.edits += 1

    def passed(self, context: Context, tokens: int, in_view: InView | None = None) -> None:
        """Something else came into a context: a prompt, the output of another tool."""
        with self._lock:
            conversation = self._at_work("", context, in_view)
            if conversation is not None:
                conversation.pass_by(tokens)

    def asking(self, context: Context, call: str, in_view: InView | None = None) -> None:
        """A context is about to use one of the memo's own tools, by the id `call`.

        Args:
            context: Which.
            call: The agent's id of the use, which `Asked.call` repeats.
            in_view: As of `verdict`, asked when the tool is; None where nothing can be told.
        """
        with self._lock:
            self._at_work("", context, in_view)
            self._announced.add(context, call, in_view, self._clock())

    def prime(self, root: str, resumed: Primed) -> None:
        """Somebody goes on with earlier work in a root; takes the place of an earlier resume.

        Answers of `check`, `status` and `session` know the files from now on, for contexts that
        have not read them. No reading is ever refused for it.

        Args:
            root: Of the repository, absolute: what questions about it name.
            resumed: The files whose content is as the earlier work knew it.
        """
        with self._lock:
            now_s = self._clock()
            found = primed.priming(resumed, now_s)
            self._primings.put(root, found)
            self._changed = True
            told = self._announced.find(resumed.receiver, now_s)
            contexts = told.contexts if told else ()
            # A call that two contexts may have made is nobody's.
            receiver = self._table.get(contexts[0]) if len(contexts) == 1 else None
            if receiver is not None:
                receiver.promise(found.snapshot_id, found.quoted, resumed.receiver.call, now_s)
        self.save()  # at once: after a kill the earlier resume would be back

    def check(self, root: str, path: str, who: Asked) -> MemoCheckAnswer:
        """The answer of `memo_check`: path, status, recommendation and what is known."""
        askers = self._askers(root, who)
        real = _absolute(root, path)
        looks: dict[str, Look | None] = {}
        [one] = self._standings(root, [real], askers, looks)
        now = looks.get(real) if real else None
        wants_diff = now is not None and asking.wants_diff(one)
        diff = self._changes.since(one.digest, now, root, path) if now and wants_diff else None
        return asking.check_answer(path, one, diff)

    def status(self, root: str, files: Sequence[str], who: Asked) -> MemoStatusAnswer:
        """The answer of `memo_status`: session_id, and one result for each file."""
        askers = self._askers(root, who)
        standings = self._standings(root, [_absolute(root, path) for path in files], askers, {})
        return {
            "session_id": _session(askers, who),
            "results": [
                asking.status_result(path, one) for path, one in zip(files, standings, strict=True)
            ],
        }

    def session(self, root: str, who: Asked) -> MemoSessionAnswer:
        """The answer of `memo_session`: totals, and every file that is tracked."""
        askers = self._askers(root, who)
        totals = Totals()
        paths: list[str] = []
        with self._lock:
            for context in askers.contexts[:1]:
                for one in self._table.session(context):
                    totals.add(one)
                first = self._table.get(context)
                paths = list(first.files) if first else []
            resumed = self._primings.get(root, self._clock())
            rest = [path for path in resumed.files if path not in paths] if resumed else []
        standings = self._standings(root, [*paths, *rest], askers, {})
        found = list(zip([*paths, *rest], standings, strict=True))
        return asking.session_answer(
            _session(askers, who),
            totals,
            [(path, one) for path, one in found if one.tracked],
            [(path, one) for path, one in found if one.primed],
        )

    def save(self) -> None:
        """Write what is known, if it changed; cheap otherwise. To be called now and then.

        What cannot be written is logged, not raised.
        """
        self._save(closed=False)

    def close(self) -> None:
        """Save for the last time."""
        with self._lock:
            self._changed = True
        self._save(closed=True)

    # What agents read. The lock is held.

    def _at_work(
        self, root: str, context: Context, in_view: InView | None = None
    ) -> Conversation | None:
        self._changed = True
        conversation = self._table.at_work(context, root, self._clock())
        if conversation is not None:
            conversation.ask_by(in_view)
        return conversation

    def _is_as_before(self, conversation: Conversation, generation: int) -> bool:
        known = self._table.get(conversation.context)
        return known is conversation and conversation.generation == generation

    def _receive(self, conversation: Conversation, promised: Given, use: ToolUse) -> None:
        """A payload has come into a context; the lock is not held."""
        shown = "" if use.failed else use.output or ""
        quoted = primed.borne_out(shown, promised.quoted)
        with self._lock:
            if conversation.waits_for is promised:
                conversation.waits_for = None
                conversation.given = promised._replace(quoted=quoted) if quoted else None

    # Questions. The lock is not held.

    def _askers(self, root: str, who: Asked) -> Askers:
        with self._lock:
            now_s = self._clock()
            return self._announced.find(who, now_s) or likely(self._table, root, who, now_s)

    def _standings(
        self,
        root: str,
        paths: Sequence[str | None],
        askers: Askers,
        looks: dict[str, Look | None],
    ) -> list[Standing]:
        """How files stand with those who may be asking.

        Args:
            root: Where they are at work.
            paths: Real; None for what is no path.
            askers: The likeliest first.
            looks: Takes the looks at those that are tracked or primed.
        """
        with self._lock:
            found = [self._table.get(context) for context in askers.contexts]
            tracked = found[0].files.keys() if found and found[0] else ()
            resumed = self._primings.get(root, self._clock())
            known = resumed.files if resumed else {}
            to_see = [path for path in paths if path in tracked or path in known]
            records = [one.in_view if one and to_see else None for one in found]
            begun_with = {
                one.context.harness for one in found if to_see and one and one.has_instructions
            }
        if records and to_see:
            records[0] = askers.in_view or records[0]
        # A record that does not tell is no leave to believe: it may be written too late.
        evidence = [(record() or frozenset()) if record else None for record in records]
        looks |= {path: look.look(path) for path in to_see if path}
        told = {name: primed.in_instructions(root, name, resumed) for name in begun_with if resumed}
        with self._lock:
            now_s = self._clock()
            found = [self._table.get(context) for context in askers.contexts]
            those = [
                Asker(one, in_view, told.get(one.context.harness, NO_QUOTES) if one else NO_QUOTES)
                for one, in_view in zip(found, evidence, strict=True)
            ]
            return [
                asking.UNKNOWN
                if path is None or path not in looks
                else self._standing(path, looks[path], those, resumed, now_s)
                for path in paths
            ]

    def _standing(
        self,
        path: str,
        now: Look | None,
        askers: Sequence[Asker],
        resumed: Priming | None,
        now_s: float,
    ) -> Standing:
        """How a file stands: what its contexts have read goes before what a resume knew."""
        one = asking.of_all(
            [asking.standing(who.one, path, now, now_s, who.in_view) for who in askers]
        )
        if resumed is None or path not in resumed.files or one != asking.UNKNOWN:
            return one
        return primed.standing(
            resumed.snapshot_id, resumed.files[path], now,
            primed.carried(resumed.snapshot_id, path, askers, now_s),
        )  # fmt: skip

    # State. The lock is not held.

    def _take_up(self) -> None:
        now_s = self._clock()
        contexts, self._primings = self._saved.load(now_s)
        for one in contexts:
            self._table.put(one)
        self._table.trim(now_s)
        self._changes.keep_only(self._digests())
        if self._table:
            self._changed = True
            self.save()  # no longer "closed": what happens from here on may be cut short

    def _save(self, *, closed: bool) -> None:
        with self._saving:
            with self._lock:
                if not self._changed:
                    return
                self._changed = False
                now_s = self._clock()
                self._table.trim(now_s)
                body = state.dump(reversed(list(self._table)), now_s, closed=closed)
                body["primed"] = primed.dump(self._primings)
                digests = self._digests()
            self._saved.write(body)
            self._changes.keep_only(digests)

    def _unsave(self, gone: Sequence[Conversation]) -> None:
        """What was forgotten must not come back after a kill: better remember nothing."""
        if gone:
            with self._saving:
                self._saved.remove()

    def _digests(self) -> set[str]:
        return {seen.digest for one in self._table for seen in one.files.values()}


def _absolute(root: str, path: str) -> str | None:
    return look.real(os.path.join(root, path)) if path else None  # noqa: PTH118


def _session(askers: Askers, who: Asked) -> str:
    named = askers.contexts[0].session if askers.contexts else who.session
    return named or who.session or _DEFAULT_SESSION
