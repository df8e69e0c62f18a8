"""What one context has been shown.

Agents drop old outputs without notice. Claude Code, when its server says so or after a pause,
clears all tool results but the last five once that frees enough, and records this nowhere. So
lines count as in the context only for a limited time and number of tokens and, in a context that
holds much, only for the last few tool uses: fewer than five, since some uses may go unreported.

Hooks may come late: what a tool showed before a context forgot may be reported afterwards. So a
tool use is recorded when it begins. If its beginning was not reported, it does not count for a
while after the context forgot.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cachetools import FIFOCache

from triseek.agents.registry import AGENTS
from triseek.model import spans, token_estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.memo.look import FileText
    from triseek.memo.output_match import ToolRead
    from triseek.model.hook_event import Context, ToolUse
    from triseek.model.spans import Spans

InView: TypeAlias = "Callable[[], frozenset[str] | None]"
"""Queries an agent's own record: returns the ids of the uses whose outputs are in the context, or
None if the record does not say."""

SURE_TOKENS = 30_000
SURE_S = 30 * 60
MUCH_TOKENS = 60_000
"""Added since the context was last nearly empty."""
CLEARING = frozenset(agent.name for agent in AGENTS if agent.clears_silently)
"""Agents that clear old outputs when there are many, and record this nowhere."""
LAST_USES = 3
LATE_S = 60
"""No hook is expected to be later than this."""
RECORDING = frozenset(agent.name for agent in AGENTS if agent.keeps_record)
"""Agents that keep a record and rewind it with the conversation. Without a record of a session, the
session cannot be rewound; a rewind of any other agent would go unnoticed."""
SOON_S = 2 * 60
"""A denied read that happens within this time after its denial counts as not prevented."""
_BEGUN_MAX = 256
_CALL_MAX = 256
FILES_MAX = 500
ROOTS_MAX = 8
_CREDITS_MAX = 32
_ANSWERS_MAX = 64
_STRETCHES_MAX = 64
_DENIED_MAX = 8

_GENERATIONS = count(1)


class Credit(NamedTuple):
    """Lines that one tool use showed."""

    spans: Spans
    call: str
    """The agent's id of the use."""
    at_s: float
    passed: int
    """All tokens that had entered the context by then, including this output."""
    use: int = 0
    """Number of tool uses that had been reported before."""
    gap: bool = False
    """Whether hooks may have been missed since: then only the agent's own record can show that the
    output is still there."""


class Quote(NamedTuple):
    """Lines of a file that a payload quotes."""

    sha: str
    """SHA-256 of the file."""
    spans: Spans


class Given(NamedTuple):
    """A payload of earlier work that entered the context."""

    snapshot_id: str
    quoted: Mapping[str, Quote]
    """By the file's real path."""
    credit: Credit | None = None
    """The tool use that showed it; None: it is part of the agent's instructions."""
    stamp: tuple[int, ...] = ()
    """Stat values of the file with these instructions when the agent began with it."""


class Begun(NamedTuple):
    """The context's counters when a tool use began."""

    generation: int
    at_s: float
    passed: int
    use: int


class Denied(NamedTuple):
    """Lines whose reading was denied."""

    spans: Spans
    tokens: int
    """Number saved; at most what the lines hold."""
    at_s: float
    counted: bool = True
    """Whether the context's totals include it."""

    @property
    def is_lost(self) -> bool:
        """Whether it stands for all denials that a killed daemon made and did not save."""
        return not self.at_s


@dataclass(slots=True)
class SeenFile:
    """What a context has been shown of one file."""

    digest: str = ""
    """Of the content that the credits refer to."""
    lines: int = 0
    tokens: int = 0
    credits: tuple[Credit, ...] = ()
    """Oldest first; no line is in two of them."""
    reads: int = 0
    read_s: float = 0.0
    denied: tuple[Denied, ...] = ()
    edits: int = 0
    """How often the file was reported as written."""

    def credit(self, look: FileText, shown: Spans, credit: Credit) -> None:
        """Record that lines were shown, at this content; drop the credits of any other content."""
        if self.digest != look.digest:
            self.digest, self.credits = look.digest, ()
        self.lines, self.tokens = look.lines, look.tokens
        older = (old._replace(spans=spans.minus(old.spans, shown)) for old in self.credits)
        kept = [*(old for old in older if old.spans), credit]
        while len(kept) > _CREDITS_MAX or sum(len(entry.spans) for entry in kept) > _STRETCHES_MAX:
            del kept[0]
        self.credits = tuple(kept)

    def known(self, usable: Callable[[Credit], bool]) -> Spans:
        """Return the lines of all usable credits."""
        return spans.joined(
            pair for credit in self.credits if usable(credit) for pair in credit.spans
        )

    @property
    def shown(self) -> Spans:
        """The lines of all credits."""
        return self.known(lambda _: True)

    def deny(self, denied: Denied) -> None:
        """Remember a denial, so that the next such read goes through."""
        self.denied = (*self.denied, denied)[-_DENIED_MAX:]

    def settle(self, requested: Spans, *, over: bool) -> list[Denied]:
        """Update the denials of lines that are read after all; return them as they were.

        Args:
            requested: The lines.
            over: Whether the next such read may be denied again.
        """
        denials = [denied for denied in self.denied if spans.overlap(denied.spans, requested)]
        left = list(self.denied)
        for number, denied in enumerate(left):
            if denied in denials:
                lines = denied.spans
                if over:  # which were lost is unknown: the other lines may be among them
                    lines = spans.minus(lines, requested) if denied.is_lost else spans.NONE
                left[number] = denied._replace(spans=lines, counted=False)
        self.denied = tuple(denied for denied in left if denied.spans)
        return denials


@dataclass(slots=True)
class Conversation:
    """State of one context window."""

    context: Context
    generation: int = field(default_factory=lambda: next(_GENERATIONS))
    """Changes whenever the context forgets: what began before does not count afterwards."""
    active_s: float = 0.0
    passed: int = 0
    """Tokens that have entered the context, as far as they were reported."""
    uses: int = 0
    """Number of tool uses and other inputs."""
    forgot_s: float = 0.0
    """When it last forgot; 0 if never."""
    emptied_passed: int | None = None
    """Value of `passed` when it was last nearly empty; None if that was never reported."""
    begun: FIFOCache[str, Begun] = field(default_factory=lambda: FIFOCache(_BEGUN_MAX))
    """Tool uses by id."""
    in_view: InView | None = None
    """The latest function that queries the agent's own record."""
    tells: bool = False
    """Whether there ever was one: if so, what the record does not list is not in the context."""
    roots: OrderedDict[str, float] = field(default_factory=OrderedDict)
    """Where it was active, and when last; the latest at the end."""
    files: OrderedDict[str, SeenFile] = field(default_factory=OrderedDict)
    """By real path; the latest at the end."""
    answers: FIFOCache[str, Credit] = field(default_factory=lambda: FIFOCache(_ANSWERS_MAX))
    """What our own tools have shown as a whole, by `output_match.text_digest`; not saved."""
    is_new: bool = False
    """Whether it just began and holds only its instructions."""
    waits_for: Given | None = None
    """A payload that a tool is about to show."""
    given: Given | None = None
    total_reads: int = 0
    redundant_reads: int = 0
    """Reads that happened although every line was in the context already."""
    prevented: int = 0
    tokens_saved: int = 0
    compactions: int = 0

    def at_work(self, root: str, now_s: float) -> None:
        """Record activity, in this root unless it is empty."""
        self.active_s = now_s
        if root:
            self.roots[root] = now_s
            self.roots.move_to_end(root)
            if len(self.roots) > ROOTS_MAX:
                self.roots.popitem(last=False)

    def read(self, read: ToolRead, use: ToolUse, begun: Begun | None, now_s: float) -> None:
        """Record that a file was read.

        Args:
            read: The file, and which of its lines were shown.
            use: The tool use that read it.
            begun: The counters when it began; None if what it showed may be forgotten.
            now_s: Unix time.
        """
        seen = self.file(read.look.path)
        seen.reads += 1
        seen.read_s = now_s
        self.total_reads += 1
        # Not over: this may have begun before the denial, and the denied read may still be retried.
        self.settle(seen, read.requested, now_s, over=False)
        if not seen.digest:
            seen.lines, seen.tokens = read.look.lines, read.look.tokens
        if begun is None or not read.shown:
            return
        there = seen.known(lambda credit: not self.is_late(credit, now_s))
        if seen.digest == read.look.digest and spans.covers(there, read.requested):
            self.redundant_reads += 1
        call = use.call if len(use.call) <= _CALL_MAX else ""
        passed = begun.passed + token_estimate.of_source_text(use.output or "")
        seen.credit(read.look, read.shown, Credit(read.shown, call, begun.at_s, passed, begun.use))

    def show(self, use: ToolUse, answer: str | None, begun: Begun | None) -> None:
        """Record that a tool use is over, and has shown an answer as a whole.

        Args:
            use: The tool use.
            answer: The digest of its output; None if it is no whole answer of ours.
            begun: The counters when it began; None if what it showed may be forgotten.
        """
        self._reuse_id(use.call)
        if answer is not None and begun is not None:
            passed = begun.passed + token_estimate.of_source_text(use.output or "")
            self.answers[answer] = Credit(spans.NONE, use.call, begun.at_s, passed, begun.use)

    def _reuse_id(self, call: str) -> None:
        """Drop the answers of earlier uses with this id: some agents just number their uses."""
        for digest in [key for key, credit in self.answers.items() if credit.call == call]:
            del self.answers[digest]

    def was_in(self, folder: str) -> bool:
        """Whether it was active in a folder or below it."""
        above = folder.rstrip("/") + "/"
        return any((root.rstrip("/") + "/").startswith(above) for root in self.roots)

    def file(self, path: str) -> SeenFile:
        """Return the record of a file, created if need be, and make it the latest."""
        seen = self.files.setdefault(path, SeenFile())
        self.files.move_to_end(path)
        if len(self.files) > FILES_MAX:
            self.files.popitem(last=False)
        return seen

    def ask_by(self, in_view: InView | None) -> None:
        """Set the function that queries the agent's record; None leaves it unchanged."""
        if in_view is not None:
            self.in_view = in_view
            self.tells = True

    def pass_by(self, tokens: int) -> None:
        """Count an input to the context."""
        self.passed += max(0, tokens)
        self.uses += 1

    def begin(self, call: str, now_s: float) -> None:
        """Record that a tool use begins."""
        if 0 < len(call) <= _CALL_MAX:
            self._reuse_id(call)
            self.begun[call] = Begun(self.generation, now_s, self.passed, self.uses)

    def began(self, call: str, now_s: float) -> Begun | None:
        """Return the counters when a finished tool use began; None if it does not count.

        What it showed may have been forgotten before its hook arrived.
        """
        begun = self.begun.pop(call, None) if call else None
        if begun is not None:
            return begun if begun.generation == self.generation else None
        if self.forgot_s and abs(now_s - self.forgot_s) <= LATE_S:
            return None
        return Begun(self.generation, now_s, self.passed, self.uses)

    def forget(self, now_s: float, *, to_be_sure: bool = False, emptied: bool = False) -> None:
        """Stop counting anything that was shown as still in the context.

        Args:
            now_s: Unix time.
            to_be_sure: The content may still be there: a recent denial may yet save nothing.
            emptied: The context certainly holds next to nothing now.
        """
        for denied in (denial for seen in self.files.values() for denial in seen.denied):
            if to_be_sure and denied.counted and now_s - denied.at_s < SOON_S:
                self.prevented -= 1
                self.tokens_saved -= denied.tokens
        self.generation = next(_GENERATIONS)
        if self.uses or self.begun:  # otherwise nothing can come late
            self.forgot_s = now_s
        if emptied:
            self.emptied_passed = self.passed
        nothing_yet = not (self.uses or self.passed or self.compactions)
        self.is_new = emptied and nothing_yet and not self.context.agent
        self.waits_for = self.given = None
        self.files.clear()
        self.answers.clear()

    def promise(
        self, snapshot_id: str, quoted: Mapping[str, Quote], call: str, now_s: float
    ) -> None:
        """Record that the tool use with the id `call` is about to show a payload."""
        credit = Credit(spans.NONE, call, now_s, self.passed, self.uses)
        self.waits_for = Given(snapshot_id, quoted, credit)

    @property
    def has_instructions(self) -> bool:
        """Whether it began with a payload in its instructions."""
        return self.given is not None and self.given.credit is None

    def promised(self, call: str) -> Given | None:
        """Return the payload that this tool use should have shown, if any."""
        payload = self.waits_for
        return payload if payload and payload.credit and payload.credit.call == call else None

    def sure(self, now_s: float, in_view: frozenset[str] | None) -> Callable[[Credit], bool]:
        """Return a predicate: whether a credit's lines are certainly still in the context.

        Args:
            now_s: Unix time.
            in_view: The uses whose outputs are there, by the agent's own record; None if it does
                not say, and hooks have to be trusted.
        """

        def usable(credit: Credit) -> bool:
            if self.is_late(credit, now_s):
                return False
            if in_view is not None:
                return credit.call in in_view
            return not credit.gap and not self.tells and self.context.harness in RECORDING

        return usable

    def is_late(self, credit: Credit, now_s: float) -> bool:
        """Whether an agent may have dropped it since without notice."""
        if not 0 <= now_s - credit.at_s < SURE_S or self.passed - credit.passed >= SURE_TOKENS:
            return True
        return self._may_hold_much() and self.uses - credit.use > LAST_USES

    def _may_hold_much(self) -> bool:
        """Whether it may hold so much that old outputs are cleared."""
        if self.emptied_passed is None:  # its beginning was not reported
            return self.context.harness in CLEARING
        return self.passed - self.emptied_passed >= MUCH_TOKENS

    def settle(self, seen: SeenFile, requested: Spans, now_s: float, *, over: bool) -> bool:
        """Subtract what was saved by denials of lines that are read after all.

        Args:
            seen: The file.
            requested: The lines.
            now_s: Unix time.
            over: Whether the next such read may be denied again.

        Returns:
            Whether there were such denials.
        """
        denials = seen.settle(requested, over=over)
        for denied in denials:
            if denied.counted and now_s - denied.at_s < SURE_S:
                self.prevented -= 1
                self.tokens_saved -= denied.tokens
        return bool(denials)
