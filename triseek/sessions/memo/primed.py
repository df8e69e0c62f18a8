"""Files that an earlier session had read, told to the memo when its work is resumed.

Whoever resumes has not been shown them. So nothing here credits a line, no reading is ever refused
for it, and only the memo's own tools tell of it: that a file is what it was. That it need not be
read either is said to a context alone in whose view the payload stands that quotes all of it.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import asdict, dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.sessions.memo import look, spans
from triseek.sessions.memo.asking import Standing
from triseek.sessions.memo.context import Quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from triseek.sessions.memo.choosing import Asked
    from triseek.sessions.memo.context import Conversation
    from triseek.sessions.memo.look import Look
    from triseek.sessions.memo.spans import Spans

FILES_MAX = 500
"""Of one root; the first ones are kept."""
ALL_FILES_MAX = 2_000
"""Of all roots; those resumed longest ago go first."""
ROOTS_MAX = 20
STRETCHES_MAX = 64
IDLE_S = 7 * 24 * 3600
"""What was resumed so long ago is not told of any more."""
INSTRUCTIONS = {"claude-code": "CLAUDE.md", "codex": "AGENTS.md", "pi": "AGENTS.md"}
"""The file at a repository's root that an agent surely has, wherever in it it began."""
INSTRUCTIONS_MAX = 32 * 1024
"""Bytes; of a longer one Codex leaves out the rest."""
SHOWN_MAX = 32 * 1024
"""Bytes; of a longer output of a tool an agent may show the model a part."""
_INSTEAD = ("AGENTS.override.md",)
_PATH_MAX = 4_096


@dataclass(frozen=True, slots=True)
class PrimedFile:
    """A file whose content is still what the earlier session knew."""

    path: str
    """Absolute, links resolved."""
    sha: str
    """SHA-256 of that content, in hex."""
    tokens: int
    """An estimate for all of it."""
    lines: Spans = spans.NONE
    """What the earlier session had read of it; none: all."""
    in_payload: Spans = spans.NONE
    """What the payload quotes of it, word for word."""


@dataclass(frozen=True, slots=True)
class Primed:
    """What a resume knows."""

    snapshot_id: str
    receiver: Asked
    """Who is given the payload, as far as that is known."""
    files: tuple[PrimedFile, ...]
    """Those worth most first."""


class Priming(NamedTuple):
    """The latest resume on a root."""

    snapshot_id: str
    at_s: float
    files: Mapping[str, PrimedFile]
    """By path."""

    @property
    def quoted(self) -> dict[str, Quote]:
        """What the payload quotes of each file."""
        return {
            path: Quote(one.sha, one.in_payload)
            for path, one in self.files.items()
            if one.in_payload
        }


class Primings:
    """By root, one each; not thread-safe."""

    def __init__(self) -> None:
        self._by_root: OrderedDict[str, Priming] = OrderedDict()

    def __iter__(self) -> Iterator[tuple[str, Priming]]:
        """Roots and what they are primed with, the oldest first."""
        return iter(self._by_root.items())

    def put(self, root: str, priming: Priming) -> None:
        """A resume; it takes the place of an earlier one."""
        self._by_root[root] = priming
        self._by_root.move_to_end(root)
        while len(self._by_root) > ROOTS_MAX or self._files > ALL_FILES_MAX:
            self._by_root.popitem(last=False)

    @property
    def _files(self) -> int:
        return sum(len(one.files) for one in self._by_root.values())

    def get(self, root: str, now_s: float) -> Priming | None:
        """What a root is primed with."""
        found = self._by_root.get(root)
        return found if found is not None and 0 <= now_s - found.at_s < IDLE_S else None

    def drop(self, folder: str | None) -> bool:
        """Forget what was primed in a folder and below it; None: everywhere."""
        above = None if folder is None else folder.rstrip("/") + "/"
        gone = [root for root in self._by_root if above is None or (root + "/").startswith(above)]
        for root in gone:
            del self._by_root[root]
        return bool(gone)


def priming(primed: Primed, now_s: float) -> Priming:
    """What is kept of a resume."""
    kept = [_bounded(one) for one in primed.files if len(one.path) <= _PATH_MAX][:FILES_MAX]
    return Priming(primed.snapshot_id, now_s, {one.path: one for one in kept})


def _bounded(file: PrimedFile) -> PrimedFile:
    lines, quoted = spans.joined(file.lines), spans.joined(file.in_payload)
    # Of lines that are too scattered, fewer are known to be quoted, and all to have been read.
    lines = lines if len(lines) <= STRETCHES_MAX else spans.NONE
    return replace(file, lines=lines, in_payload=quoted[:STRETCHES_MAX])


def borne_out(text: str, quoted: Mapping[str, Quote]) -> dict[str, Quote]:
    """What of a payload's quotes really stands in a text, of files that are as they were.

    Args:
        text: What an agent was shown: the payload, or JSON that holds it.
        quoted: By path.
    """
    if len(text.encode("utf-8", "replace")) > SHOWN_MAX:
        return {}
    body = "\n" + _payload(text).replace("\r\n", "\n") + "\n"
    found = {}
    for path, quote in quoted.items():
        now = look.look(path)
        if now is None or now.sha != quote.sha:
            continue
        there = [
            (first, last)
            for first, last in quote.spans
            if "\n" + "\n".join(now.texts[first - 1 : last]) + "\n" in body
        ]
        if there:
            found[path] = Quote(quote.sha, spans.joined(there))
    return found


def _payload(text: str) -> str:
    if text.lstrip().startswith("{"):
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(told, dict) and isinstance(told.get("payload_markdown"), str):
            return str(told["payload_markdown"])
    return text


class Instructions(NamedTuple):
    """What of a payload's quotes stands in the file that an agent reads when it begins."""

    quoted: Mapping[str, Quote]
    stamp: tuple[int, ...]
    """Another one as soon as the file is written, be it to hold the same again."""


NO_QUOTES = Instructions({}, ())


def in_instructions(root: str, harness: str, resumed: Priming) -> Instructions:
    """What of the payload's quotes stands in the file that an agent reads when it begins."""
    name = INSTRUCTIONS.get(harness)
    quoted = resumed.quoted
    if name is None or not quoted or any(Path(root, other).exists() for other in _INSTEAD):
        return NO_QUOTES
    real = look.real(str(Path(root, name)))
    before = _stamp(real) if real else ()
    file = look.look(real) if real else None
    if real is None or file is None or len(file.data) > INSTRUCTIONS_MAX:
        return NO_QUOTES
    text = file.data.decode("utf-8", "replace")
    # Of another payload, written in its place since, it says nothing.
    told = f"\n- snapshot_id: {resumed.snapshot_id}\n" in text.replace("\r\n", "\n")
    if not told or not before or _stamp(real) != before:
        return NO_QUOTES
    return Instructions(borne_out(text, quoted), before)


def _stamp(path: str) -> tuple[int, ...]:
    try:
        found = Path(path).stat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class Asker(NamedTuple):
    """A context that may be asking, and what tells what it has."""

    one: Conversation | None
    """None if it has ended."""
    in_view: frozenset[str] | None
    """Its agent's own record; None where it does not tell."""
    instructions: Instructions
    """What of the payload the file that it begins with quotes now."""

    def has(self, snapshot_id: str, path: str, now_s: float) -> Spans:
        """The lines of a file that it surely has by a payload."""
        given = self.one.given if self.one else None
        if self.one is None or given is None or given.snapshot_id != snapshot_id:
            return spans.NONE
        lines = given.quoted[path].spans if path in given.quoted else spans.NONE
        if given.credit is not None:
            return lines if self.one.sure(now_s, self.in_view)(given.credit) else spans.NONE
        # Agents read the file again when they compact, and of that we may not have heard: what it
        # held by then is known only if nobody has written it since the beginning.
        still = self.instructions.quoted.get(path)
        if still is None or given.stamp != self.instructions.stamp:
            return spans.NONE
        return spans.both(lines, still.spans)


def carried(snapshot_id: str, path: str, askers: Sequence[Asker], now_s: float) -> Spans:
    """The lines of a file that each of these contexts surely has by the payload."""
    if not askers:
        return spans.NONE
    first, *others = (asker.has(snapshot_id, path, now_s) for asker in askers)
    return reduce(spans.both, others, first)


def standing(snapshot_id: str, file: PrimedFile, now: Look | None, carried: Spans) -> Standing:
    """How a primed file stands with a context that has not read it itself.

    Args:
        snapshot_id: What was resumed.
        file: As it was primed.
        now: The file now; None if it cannot be read.
        carried: Its lines that surely are in the context by the payload.
    """
    since = f"since the session that was resumed (snapshot {snapshot_id})"
    if now is None:
        message = f"Changed {since} (gone or unreadable now)."
        return Standing("stale", tokens=file.tokens, message=message, primed=snapshot_id)
    if now.sha != file.sha:
        message = f"Changed {since} (now ~{now.tokens} tokens); read file."
        return Standing(
            "stale", tokens=file.tokens, current_tokens=now.tokens, message=message,
            primed=snapshot_id,
        )  # fmt: skip
    if now.whole and spans.covers(carried, now.whole):
        message = (
            f"Unchanged {since}, and quoted whole in the hydration payload. Skip re-read to save "
            f"{file.tokens} tokens."
        )
        return Standing(
            "fresh", tokens=file.tokens, message=message, primed=snapshot_id, carried=True
        )
    if not carried:
        message = f"Unchanged {since}, but not in your context; read what you need of it."
        return Standing("fresh", tokens=file.tokens, message=message, primed=snapshot_id)
    lines = spans.text(carried)
    was_all = (
        " (all that session had read)" if spans.covers(carried, file.lines or now.whole) else ""
    )
    message = (
        f"Unchanged {since}. Of {now.lines} lines the hydration payload quotes only {lines}"
        f"{was_all}; read the others if you need them."
    )
    return Standing("fresh", tokens=file.tokens, message=message, primed=snapshot_id, lines=lines)


def dump(primings: Primings) -> list[dict[str, Any]]:
    """As JSON values."""
    return [
        {
            "root": root,
            "snapshot_id": one.snapshot_id,
            "at_s": one.at_s,
            "files": [asdict(file) for file in one.files.values()],
        }
        for root, one in primings
    ]


def load(body: object, now_s: float) -> Primings:
    """What `dump` made; nothing for what it cannot have made."""
    found = Primings()
    try:
        for said in body if isinstance(body, list) else ():
            files = [_file(one) for one in said["files"][:FILES_MAX]]
            by_path = {one.path: one for one in files}
            at_s = float(said["at_s"])
            if 0 <= now_s - at_s < IDLE_S:
                found.put(str(said["root"]), Priming(str(said["snapshot_id"]), at_s, by_path))
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return Primings()
    return found


def _file(said: dict[str, Any]) -> PrimedFile:
    return _bounded(
        PrimedFile(
            path=str(said["path"]),
            sha=str(said["sha"]),
            tokens=int(said["tokens"]),
            lines=_spans(said["lines"]),
            in_payload=_spans(said["in_payload"]),
        )
    )


def _spans(said: list[list[int]]) -> Spans:
    return tuple((int(first), int(last)) for first, last in said)
