"""The memo: what each context of each agent has been shown, and whether it must read it again."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from triseek.agents.payloads import tools
from triseek.memo import asking, look, output_match, primed, state, verdict
from triseek.memo.content_store import ShownChanges
from triseek.memo.context import Given
from triseek.memo.primed import NO_QUOTES, Asker, Primed, PrimedFile, Priming
from triseek.memo.resolve_context import Announced, Asked, Askers, likely
from triseek.memo.state import Saved
from triseek.memo.table import ContextTable
from triseek.memo.verdict import Denial
from triseek.model import token_estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.memo.asking import Standing
    from triseek.memo.context import Conversation, InView
    from triseek.memo.look import FileText
    from triseek.memo.results import MemoCheckAnswer, MemoSessionAnswer, MemoStatusAnswer
    from triseek.model.hook_event import Context, ToolUse

__all__ = ["Asked", "Denial", "Memo", "Primed", "PrimedFile"]

_DEFAULT_SESSION = "default"


class Memo:
    """State of all contexts. Thread-safe; files are read outside the lock.

    No method raises because of what an agent sends.
    """

    def __init__(self, folder: str | None, clock: Callable[[], float] = time.time) -> None:
        """Load what was saved in this folder.

        Args:
            folder: Absolute; made when first written to, mode 0700. None: nothing outlives the
                process, and no content is kept for diffs.
            clock: Unix time in seconds.
        """
        self._clock = clock
        self._lock = threading.Lock()  # guards the four below
        self._table = ContextTable()
        self._announced = Announced()
        self._changed = False
        self._saving = threading.Lock()  # serializes saves; acquired before `_lock`, never after
        self._saved = Saved(folder)
        self._changes = ShownChanges(folder)
        contexts, self._primings = self._saved.load(clock())
        for conversation in contexts:
            self._table.put(conversation)
        self._table.trim(clock())
        self._changes.keep_only(self._digests())
        if self._table:
            self._changed = True
            self.save()  # no longer "closed": a kill may lose what happens from here on

    def begin(self, root: str, context: Context, in_view: InView | None = None) -> None:
        """Record that a context is active under this root; forget nothing.

        Args:
            root: Of the repository, absolute.
            context: The active context.
            in_view: Here and below, as for `verdict`: the function that queries the agent's own
                record, kept until the context's next hook. It should hold little.
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
        """After a tool use: credit the lines that its output verifiably showed, record its edits.

        Its output is counted as tokens that passed; do not report it to `passed` as well.
        """
        for path in use.edits[: output_match.FILES_MAX]:
            self.edited(path)
        answer = output_match.whole(use) if use.search and tools.is_ours(use.name) else None
        with self._lock:
            conversation = self._at_work(root, context, in_view)
            if conversation is None:
                return
            begun = conversation.began(use.call, self._clock())
            self._announced.drop(use.call)
            conversation.pass_by(token_estimate.of_source_text(use.output or ""))
            promised = conversation.promised(use.call)
            conversation.show(use, answer, begun)
        if promised is not None:
            self._receive(conversation, promised, use)
        if use.failed or not use.reads:
            return
        read = output_match.read(use)
        with self._lock:
            generation = begun.generation if begun else conversation.generation
            if self._is_as_before(conversation, generation):
                for file_read in read:
                    conversation.read(file_read, use, begun, self._clock())
        self._changes.keep(root, read)

    def verdict(
        self,
        root: str,
        context: Context,
        use: ToolUse,
        in_view: InView,
    ) -> Denial | None:
        """Before a tool use: return a denial if it is not needed; None lets it happen.

        Args:
            root: Of the repository, absolute.
            context: The context that uses the tool.
            use: Denied only if it does nothing but read.
            in_view: Called at most once, and only if all else allows a denial: returns the ids of
                the uses whose outputs are still in the context, or None if that is unknown.
        """
        paths = [look.real(read.path) for read in use.reads[: output_match.FILES_MAX]]
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
        if not verdict.can_be_denied(use) or len(whole) < len(files):
            return None
        if sum(file.tokens for file in whole) < verdict.LEAST_TOKENS:
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
            # Checked again: the same read may have been tried concurrently.
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
        """Stop counting what a context was shown as still there; keep totals.

        Args:
            context: The context.
            whole_session: Forget every agent's context of its session as well.
            compacted: Count a compaction.
            emptied: The context certainly holds next to nothing now; this is not just a precaution.
        """
        with self._lock:
            # Register it even if it has done nothing yet: it may be the one that asks.
            named = self._at_work("", context)
            if named is not None and compacted:
                named.compactions += 1
            gone = self._table.session(context) if whole_session else [named] if named else []
            for conversation in gone:
                is_it = conversation is named
                conversation.forget(
                    self._clock(),
                    to_be_sure=not (is_it and compacted),
                    emptied=is_it and emptied,
                )
            self._changed = True
        self._unsave(gone)

    def end(self, context: Context) -> None:
        """Drop a session that ended, or the one context of a sub-agent."""
        with self._lock:
            conversation = self._table.get(context)
            gone = (
                ([conversation] if conversation else [])
                if context.agent
                else self._table.session(context)
            )
            self._drop(gone)
        self._unsave(gone)

    def erase(self, root: str | None = None) -> int:
        """Erase contexts with their totals and kept contents, on disk as well.

        Args:
            root: Only contexts that were active in this folder or below it; None: all.

        Returns:
            The number of contexts erased.
        """
        with self._lock:
            gone = [
                conversation
                for conversation in self._table
                if root is None or conversation.was_in(root)
            ]
            self._drop(gone)
            self._primings.drop(root)
        self._unsave(gone)
        self.save()
        return len(gone)

    def edited(self, path: str) -> None:
        """Record that a file, given by its absolute path, was or may have been written.

        Its content is checked whenever it matters; this covers the moment in between.
        """
        if not self._table:
            return
        real = look.real(path)
        if real is None:
            return
        with self._lock:
            for conversation in self._table:
                seen = conversation.files.get(real)
                if seen is not None:
                    seen.edits += 1

    def passed(self, context: Context, tokens: int, in_view: InView | None = None) -> None:
        """Count another input to a context: a prompt, the output of another tool."""
        with self._lock:
            conversation = self._at_work("", context, in_view)
            if conversation is not None:
                conversation.pass_by(tokens)

    def asking(self, context: Context, call: str, in_view: InView | None = None) -> None:
        """Record that a context is about to use one of our own tools, by the id `call`.

        Args:
            context: The context.
            call: The agent's id of the use, which `Asked.call` repeats.
            in_view: As for `verdict`, called when the tool is; None if nothing is known.
        """
        with self._lock:
            conversation = self._at_work("", context, in_view)
            if conversation is not None:
                conversation.begin(call, self._clock())
            self._announced.add(context, call, in_view, self._clock())

    def announced(self, who: Asked) -> Askers | None:
        """Return the context whose hook announced this very call; None if that is not certain.

        It is returned once.
        """
        with self._lock:
            askers = self._announced.find(who, self._clock())
            self._announced.drop(who.call)
        return askers if askers is not None and len(askers.contexts) == 1 else None

    def has_shown(self, askers: Askers, digest: str) -> bool:
        """Whether a text that our tool has shown is certainly still in a context, as a whole.

        Args:
            askers: The context, from `announced`.
            digest: The text's, by `output_match.text_digest`.
        """
        context = askers.contexts[0]
        with self._lock:
            conversation = self._table.get(context)
            credit = conversation.answers.get(digest) if conversation else None
            if conversation is None or credit is None:
                return False
            generation, is_late = conversation.generation, conversation.is_late
            if askers.in_view is None or is_late(credit, self._clock()):
                return False
        evidence = askers.in_view()
        if evidence is None:
            return False
        with self._lock:
            if not self._is_as_before(conversation, generation):
                return False
            is_same = conversation.answers.get(digest) is credit
            return is_same and conversation.sure(self._clock(), evidence)(credit)

    def prime(self, root: str, resumed: Primed) -> None:
        """Register a resume of earlier work in a root; it replaces an earlier resume.

        Answers of `check`, `status` and `session` include the files from now on, for contexts that
        have not read them. No read is ever denied because of it.

        Args:
            root: Of the repository, absolute: as calls about it name it.
            resumed: The files whose content is as the earlier work knew it.
        """
        with self._lock:
            now_s = self._clock()
            priming = primed.priming(resumed, now_s)
            self._primings.put(root, priming)
            self._changed = True
            announced = self._announced.find(resumed.receiver, now_s)
            contexts = announced.contexts if announced else ()
            # A call that two contexts may have made is assigned to neither.
            receiver = self._table.get(contexts[0]) if len(contexts) == 1 else None
            if receiver is not None:
                receiver.promise(priming.snapshot_id, priming.quoted, resumed.receiver.call, now_s)
        self.save()  # at once: after a kill the earlier resume would come back

    def check(self, root: str, path: str, who: Asked) -> MemoCheckAnswer:
        """Return the answer of `memo_check`: path, status, recommendation and further details."""
        askers = self._askers(root, who)
        real = _absolute(root, path)
        looks: dict[str, FileText | None] = {}
        [standing] = self._standings(root, [real], askers, looks)
        now = looks.get(real) if real else None
        wants_diff = now is not None and asking.wants_diff(standing)
        diff = self._changes.since(standing.digest, now, root, path) if now and wants_diff else None
        return asking.check_answer(path, standing, diff)

    def status(self, root: str, files: Sequence[str], who: Asked) -> MemoStatusAnswer:
        """Return the answer of `memo_status`: session_id, and one result for each file."""
        askers = self._askers(root, who)
        standings = self._standings(root, [_absolute(root, path) for path in files], askers, {})
        return {
            "session_id": _session(askers, who),
            "results": [
                asking.status_result(path, standing)
                for path, standing in zip(files, standings, strict=True)
            ],
        }

    def session(self, root: str, who: Asked) -> MemoSessionAnswer:
        """Return the answer of `memo_session`: totals, and every file that is tracked."""
        askers = self._askers(root, who)
        with self._lock:
            likeliest = askers.contexts[0] if askers.contexts else None
            conversations = self._table.session(likeliest) if likeliest else []
            answer = asking.session_answer(_session(askers, who), conversations)
            first = self._table.get(likeliest) if likeliest else None
            resumed = self._primings.get(root, self._clock())
            known = [*(first.files if first else ()), *(resumed.files if resumed else ())]
        paths = list(dict.fromkeys(known))
        standings = self._standings(root, paths, askers, {})
        asking.add_files(answer, dict(zip(paths, standings, strict=True)))
        return answer

    def save(self, *, closed: bool = False) -> None:
        """Write the state if it changed; cheap otherwise. To be called now and then.

        If the state cannot be written, that is logged, not raised.

        closed: Whether nothing happens after this.
        """
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

    def close(self) -> None:
        """Save for the last time."""
        with self._lock:
            self._changed = True
        self.save(closed=True)

    # Contexts. The lock is held.

    def _at_work(
        self, root: str, context: Context, in_view: InView | None = None
    ) -> Conversation | None:
        self._changed = True
        conversation = self._table.at_work(context, root, self._clock())
        if conversation is not None:
            conversation.ask_by(in_view)
        return conversation

    def _drop(self, gone: Sequence[Conversation]) -> None:
        for conversation in gone:
            conversation.forget(self._clock())
            self._table.drop(conversation, self._clock())
        self._changed = True

    def _is_as_before(self, conversation: Conversation, generation: int) -> bool:
        current = self._table.get(conversation.context)
        return current is conversation and conversation.generation == generation

    def _receive(self, conversation: Conversation, promised: Given, use: ToolUse) -> None:
        """Record a payload that has come into a context; the lock is not held."""
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
        looks: dict[str, FileText | None],
    ) -> list[Standing]:
        """Return how files stand in the contexts that may be asking.

        Args:
            root: Where they are active.
            paths: Real; None for an invalid path.
            askers: The likeliest first.
            looks: Receives the texts of the files that are tracked or primed.
        """
        with self._lock:
            conversations = [self._table.get(context) for context in askers.contexts]
            tracked = conversations[0].files.keys() if conversations and conversations[0] else ()
            resumed = self._primings.get(root, self._clock())
            primed_files = resumed.files if resumed else {}
            to_see = [path for path in paths if path in tracked or path in primed_files]
            records = [
                conversation.in_view if conversation else None for conversation in conversations
            ]
            begun_with = {
                conversation.context.harness
                for conversation in conversations
                if conversation and conversation.has_instructions
            }
        others = {path: _unseen(path) for path in paths if path not in to_see}
        if not to_see:
            return [others[path] for path in paths]
        if records:
            records[0] = askers.in_view or records[0]
        # A record that does not say proves nothing: it may be written too late.
        evidence = [(record() or frozenset()) if record else None for record in records]
        looks |= {path: look.look(path) for path in to_see if path}
        instructions = {
            name: primed.in_instructions(root, name, resumed) for name in begun_with if resumed
        }
        with self._lock:
            now_s = self._clock()
            candidates = [
                Asker(
                    self._table.get(context), in_view, instructions.get(context.harness, NO_QUOTES)
                )
                for context, in_view in zip(askers.contexts, evidence, strict=True)
            ]
            return [
                others[path]
                if path is None or path in others
                else self._standing(path, looks[path], candidates, resumed, now_s)
                for path in paths
            ]

    def _standing(
        self,
        path: str,
        now: FileText | None,
        askers: Sequence[Asker],
        resumed: Priming | None,
        now_s: float,
    ) -> Standing:
        """Return how a file stands: its contexts' own reads take precedence over a resume."""
        each = [asking.standing(who.one, path, now, now_s, who.in_view) for who in askers]
        standing = asking.of_all(each)
        if resumed is None or path not in resumed.files or standing != asking.UNKNOWN:
            return standing
        return primed.standing(
            resumed.snapshot_id, resumed.files[path], now,
            primed.carried(resumed.snapshot_id, path, askers, now_s),
        )  # fmt: skip

    # State. The lock is not held.

    def _unsave(self, gone: Sequence[Conversation]) -> None:
        """Remove the saved state: what was forgotten must not come back after a kill."""
        if gone:
            with self._saving:
                self._saved.remove()

    def _digests(self) -> set[str]:
        return {seen.digest for conversation in self._table for seen in conversation.files.values()}


def _unseen(path: str | None) -> Standing:
    """Return how a file stands that no context was shown; None for an invalid path."""
    return asking.MISSING if path is not None and look.is_missing(path) else asking.UNKNOWN


def _absolute(root: str, path: str) -> str | None:
    return look.real(os.path.join(root, path)) if path else None  # noqa: PTH118


def _session(askers: Askers, who: Asked) -> str:
    named = askers.contexts[0].session if askers.contexts else who.session
    return named or who.session or _DEFAULT_SESSION
