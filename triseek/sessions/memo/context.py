"""What one context has been shown.

Agents drop old outputs without a word. Claude Code, told so by its server or after a pause, clears
all results of tools but the last five once enough is to be gained, and writes that nowhere. So
lines count as being there only for so long, so many tokens, and in a context that holds much only
for the last few uses of tools; fewer than five, for some may have gone unheard.

Hooks may come late: what a tool showed before a context forgot is told after. So uses are noted
when they begin, and where that was not told, nothing counts for a while after forgetting.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from triseek.sessions.memo import spans
from triseek.sessions.memo.look import tokens_of_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.model.hook_event import Context, ToolUse
    from triseek.sessions.memo.look import Look
    from triseek.sessions.memo.reading import Read
    from triseek.sessions.memo.spans import Spans

InView: TypeAlias = "Callable[[], frozenset[str] | None]"
"""Asks an agent's own record: ids of the uses whose outputs are in the context, None if it does
not tell."""

SURE_TOKENS = 30_000
SURE_S = 30 * 60
MUCH_TOKENS = 60_000
"""Since the context was last as good as empty."""
CLEARING = frozenset(("claude-code",))
"""Agents that clear old outputs when there is much, and write that nowhere."""
LAST_USES = 3
LATE_S = 60
"""A hook that comes later than this does not come."""
RECORDING = frozenset(("claude-code", "codex", "opencode", "pi"))
"""Agents that keep a record, which they take back with the conversation. Where one has none of a
session, nothing can be taken back; of all others we would not hear if it were."""
SOON_S = 2 * 60
"""A read that is done within this time after its denial is done after all."""
_BEGUN_MAX = 256
_CALL_MAX = 256
FILES_MAX = 500
ROOTS_MAX = 8
_CREDITS_MAX = 32
_STRETCHES_MAX = 64
_DENIED_MAX = 8

_GENERATIONS = count(1)


class Credit(NamedTuple):
    """Lines that one use of a tool showed."""

    spans: Spans
    call: str
    """The agent's id of the use."""
    at_s: float
    passed: int
    """All tokens that had come into the context by then, those of this output included."""
    use: int = 0
    """How many uses of tools had been heard of before."""
    gap: bool = False
    """Whether hooks may have gone unheard since: then only the agent's own record can tell
    that the output is still there."""


class Quote(NamedTuple):
    """Lines of a file that a payload quotes."""

    sha: str
    """SHA-256 of the file."""
    spans: Spans


class Given(NamedTuple):
    """A payload of earlier work that came into the context."""

    snapshot_id: str
    quoted: Mapping[str, Quote]
    """By the file's real path."""
    credit: Credit | None = None
    """The use of a tool that showed it; None: it is part of the agent's instructions."""
    stamp: tuple[int, ...] = ()
    """Of the file with these instructions, as it was when the agent began with it."""


class Begun(NamedTuple):
    """How things stood when a use of a tool began."""

    generation: int
    at_s: float
    passed: int
    use: int


class Denied(NamedTuple):
    """Lines that were not read again because we said so."""

    spans: Spans
    tokens: int
    """Saved; at most what the lines hold."""
    at_s: float
    counted: bool = True
    """Whether the context's totals hold it."""

    @property
    def is_lost(self) -> bool:
        """Whether it stands for all that a daemon made and did not save before it was killed."""
        return not self.at_s


@dataclass(slots=True)
class Seen:
    """A file in a context."""

    digest: str = ""
    """Of the content that the credits are of."""
    lines: int = 0
    tokens: int = 0
    credits: tuple[Credit, ...] = ()
    """Oldest first; no line is in two of them."""
    reads: int = 0
    read_s: float = 0.0
    denied: tuple[Denied, ...] = ()
    edits: int = 0
    """How often we were told that the file was written."""

    def credit(self, look: Look, shown: Spans, credit: Credit) -> None:
        """Lines were shown, at this content; what is known of another content is dropped."""
        if self.digest != look.digest:
            self.digest, self.credits = look.digest, ()
        self.lines, self.tokens = look.lines, look.tokens
        older = (old._replace(spans=spans.minus(old.spans, shown)) for old in self.credits)
        kept = [*(old for old in older if old.spans), credit]
        while len(kept) > _CREDITS_MAX or sum(len(one.spans) for one in kept) > _STRETCHES_MAX:
            del kept[0]
        self.credits = tuple(kept)

    def known(self, usable: Callable[[Credit], bool]) -> Spans:
        """The lines of all usable credits."""
        return spans.joined(pair for one in self.credits if usable(one) for pair in one.spans)

    @property
    def shown(self) -> Spans:
        """The lines of all credits."""
        return self.known(lambda _: True)

    def deny(self, denied: Denied) -> None:
        """Remember a denial, so that the next such read goes through."""
        self.denied = (*self.denied, denied)[-_DENIED_MAX:]

    def settle(self, asked: Spans, *, over: bool) -> list[Denied]:
        """The denials of any of these lines, which are read after all.

        Args:
            asked: The lines.
            over: Whether the next such read may be denied again.
        """
        found = [one for one in self.denied if spans.overlap(one.spans, asked)]
        if found:
            left = (
                self._left(one, asked, over=over) if one in found else one for one in self.denied
            )
            self.denied = tuple(one for one in left if one.spans)
        return found

    @staticmethod
    def _left(denied: Denied, asked: Spans, *, over: bool) -> Denied:
        """What is left of a denial when some of its lines are read."""
        if not over:
            return denied._replace(counted=False)
        # Which denials were lost with a daemon is not known: of the other lines it may be one.
        lines = spans.minus(denied.spans, asked) if denied.is_lost else spans.NONE
        return denied._replace(spans=lines, counted=False)


@dataclass(slots=True)
class Conversation:
    """One context window."""

    context: Context
    generation: int = field(default_factory=lambda: next(_GENERATIONS))
    """Another one for each time it forgot: what was begun before does not count after."""
    active_s: float = 0.0
    passed: int = 0
    """Tokens that have come into the context, as far as we heard."""
    uses: int = 0
    """Uses of tools, and whatever else came into it."""
    forgot_s: float = 0.0
    """When last; 0 if never."""
    emptied_passed: int | None = None
    """What `passed` was when it last held next to nothing; None if that was never heard of."""
    begun: OrderedDict[str, Begun] = field(default_factory=OrderedDict)
    """Uses by their ids; the latest at the end."""
    in_view: InView | None = None
    """The latest way to ask the agent's own record."""
    tells: bool = False
    """Whether there ever was such a way: then what the record does not tell is not there."""
    roots: OrderedDict[str, float] = field(default_factory=OrderedDict)
    """Where it was at work, and when last; the latest at the end."""
    files: OrderedDict[str, Seen] = field(default_factory=OrderedDict)
    """By real path; the latest at the end."""
    is_new: bool = False
    """Whether it just began, with nothing but its instructions."""
    waits_for: Given | None = None
    """A payload that a tool is about to show."""
    given: Given | None = None
    total_reads: int = 0
    redundant_reads: int = 0
    """That happened, though every line was there already."""
    prevented: int = 0
    tokens_saved: int = 0
    compactions: int = 0

    def at_work(self, root: str, now_s: float) -> None:
        """Something happened in it."""
        self.active_s = now_s
        if root:
            self.roots[root] = now_s
            self.roots.move_to_end(root)
            if len(self.roots) > ROOTS_MAX:
                self.roots.popitem(last=False)

    def read(self, read: Read, use: ToolUse, begun: Begun | None, now_s: float) -> None:
        """A file was read.

        Args:
            read: What, and what of it was shown.
            use: By which use of a tool.
            begun: How things stood when it began; None if what it showed may be forgotten.
            now_s: Unix time.
        """
        seen = self.file(read.look.path)
        seen.reads += 1
        seen.read_s = now_s
        self.total_reads += 1
        # Not over: this may have begun before the denial, and the same read may yet be tried again.
        self.settle(seen, read.asked, now_s, over=False)
        if not seen.digest:
            seen.lines, seen.tokens = read.look.lines, read.look.tokens
        if begun is None or not read.shown:
            return
        there = seen.known(lambda one: not self.is_late(one, now_s))
        if seen.digest == read.look.digest and spans.covers(there, read.asked):
            self.redundant_reads += 1
        call = use.call if len(use.call) <= _CALL_MAX else ""
        passed = begun.passed + tokens_of_text(use.output or "")
        seen.credit(read.look, read.shown, Credit(read.shown, call, begun.at_s, passed, begun.use))

    def was_in(self, folder: str) -> bool:
        """Whether it was at work in a folder or below it."""
        above = folder.rstrip("/") + "/"
        return any((root.rstrip("/") + "/").startswith(above) for root in self.roots)

    def file(self, path: str) -> Seen:
        """This file, now the latest."""
        seen = self.files.get(path)
        if seen is None:
            seen = self.files[path] = Seen()
        self.files.move_to_end(path)
        if len(self.files) > FILES_MAX:
            self.files.popitem(last=False)
        return seen

    def ask_by(self, in_view: InView | None) -> None:
        """There is a way to ask the agent's record; None if it is not told this time."""
        if in_view is not None:
            self.in_view = in_view
            self.tells = True

    def pass_by(self, tokens: int) -> None:
        """Something came into the context."""
        self.passed += max(0, tokens)
        self.uses += 1

    def begin(self, call: str, now_s: float) -> None:
        """A use of a tool begins."""
        if not 0 < len(call) <= _CALL_MAX:
            return
        self.begun[call] = Begun(self.generation, now_s, self.passed, self.uses)
        if len(self.begun) > _BEGUN_MAX:
            self.begun.popitem(last=False)

    def began(self, call: str, now_s: float) -> Begun | None:
        """How things stood when a use began that is over; None if it counts for nothing.

        For what it showed may have been forgotten before we heard of it.
        """
        begun = self.begun.pop(call, None) if call else None
        if begun is not None:
            return begun if begun.generation == self.generation else None
        if self.forgot_s and abs(now_s - self.forgot_s) <= LATE_S:
            return None
        return Begun(self.generation, now_s, self.passed, self.uses)

    def forget(self, now_s: float, *, to_be_sure: bool = False, emptied: bool = False) -> None:
        """Nothing that was shown counts as being there any more.

        Args:
            now_s: Unix time.
            to_be_sure: It may be there: a denial of just now may yet turn out to save nothing.
            emptied: The context surely holds next to nothing now.
        """
        for denied in (one for seen in self.files.values() for one in seen.denied):
            if to_be_sure and denied.counted and now_s - denied.at_s < SOON_S:
                self.prevented -= 1
                self.tokens_saved -= denied.tokens
        self.generation = next(_GENERATIONS)
        if self.uses or self.begun:  # else nothing can come late
            self.forgot_s = now_s
        if emptied:
            self.emptied_passed = self.passed
        nothing_yet = not (self.uses or self.passed or self.compactions)
        self.is_new = emptied and nothing_yet and not self.context.agent
        self.waits_for = self.given = None
        self.files.clear()

    def promise(
        self, snapshot_id: str, quoted: Mapping[str, Quote], call: str, now_s: float
    ) -> None:
        """A tool, by the id `call`, is about to show a payload."""
        credit = Credit(spans.NONE, call, now_s, self.passed, self.uses)
        self.waits_for = Given(snapshot_id, quoted, credit)

    @property
    def has_instructions(self) -> bool:
        """Whether it began with a payload."""
        return self.given is not None and self.given.credit is None

    def promised(self, call: str) -> Given | None:
        """The payload that this use of a tool should have shown."""
        given = self.waits_for
        return given if given and given.credit and given.credit.call == call else None

    def sure(self, now_s: float, in_view: frozenset[str] | None) -> Callable[[Credit], bool]:
        """Which credits are of lines that are still in the context.

        Args:
            now_s: Unix time.
            in_view: The uses whose outputs are there, by the agent's own record; None where it
                does not tell, and hooks have to be believed.
        """

        def usable(credit: Credit) -> bool:
            if self.is_late(credit, now_s):
                return False
            if in_view is not None:
                return credit.call in in_view
            return not credit.gap and not self.tells and self.context.harness in RECORDING

        return usable

    def is_late(self, credit: Credit, now_s: float) -> bool:
        """Whether an agent may have dropped it since without a word."""
        if not 0 <= now_s - credit.at_s < SURE_S or self.passed - credit.passed >= SURE_TOKENS:
            return True
        return self._may_hold_much() and self.uses - credit.use > LAST_USES

    def _may_hold_much(self) -> bool:
        """Whether it may hold so much that old outputs are cleared."""
        if self.emptied_passed is None:  # its beginning was not heard of
            return self.context.harness in CLEARING
        return self.passed - self.emptied_passed >= MUCH_TOKENS

    def settle(self, seen: Seen, asked: Spans, now_s: float, *, over: bool) -> bool:
        """Take back what was saved by denials of lines that are read after all.

        Args:
            seen: The file.
            asked: The lines.
            now_s: Unix time.
            over: Whether the next such read may be denied again.

        Returns:
            Whether there were any.
        """
        found = seen.settle(asked, over=over)
        for one in found:
            if one.counted and now_s - one.at_s < SURE_S:
                self.prevented -= 1
                self.tokens_saved -= one.tokens
        return bool(found)
