"""Files that an earlier session had read, registered with the memo when its work is resumed.

The context that resumes has not been shown them. So they credit no line, no read is ever denied
because of them, and only the memo's own tools report them, as unchanged. That such a file need not
be read is reported only to a context that has a payload in view which quotes the whole file.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from triseek.agents import registry
from triseek.memo import look
from triseek.memo.asking import Standing
from triseek.memo.context import Quote
from triseek.memo.decoding import decode
from triseek.model import spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from triseek.memo.context import Conversation
    from triseek.memo.look import FileText
    from triseek.memo.resolve_context import Asked
    from triseek.model.spans import Spans

FILES_MAX = 500
"""Per root; the first ones are kept."""
ALL_FILES_MAX = 2_000
"""Over all roots; those resumed longest ago are dropped first."""
ROOTS_MAX = 20
STRETCHES_MAX = 64
IDLE_S = 7 * 24 * 3600
"""Age after which a resume is no longer reported."""
INSTRUCTIONS_MAX = 32 * 1024
"""Bytes; Codex drops the rest of a longer file."""
SHOWN_MAX = 32 * 1024
"""Bytes; an agent may show the model only a part of a longer tool output."""
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
    """Estimate for the whole file."""
    lines: Spans = spans.NONE
    """The lines that the earlier session had read; empty: all."""
    in_payload: Spans = spans.NONE
    """The lines that the payload quotes verbatim."""


@dataclass(frozen=True, slots=True)
class Primed:
    """The data that a resume registers with the memo."""

    snapshot_id: str
    receiver: Asked
    """Who receives the payload, as far as that is known."""
    files: tuple[PrimedFile, ...]
    """The most valuable first."""


class Priming(NamedTuple):
    """The latest resume in a root."""

    snapshot_id: str
    at_s: float
    files: Mapping[str, PrimedFile]
    """By path."""

    @property
    def quoted(self) -> dict[str, Quote]:
        """The lines that the payload quotes, by path."""
        return {
            path: Quote(file.sha, file.in_payload)
            for path, file in self.files.items()
            if file.in_payload
        }


class Primings:
    """The latest resume of each root; not thread-safe."""

    def __init__(self) -> None:
        self._by_root: OrderedDict[str, Priming] = OrderedDict()

    def __iter__(self) -> Iterator[tuple[str, Priming]]:
        """Iterate over the roots and their resumes, the oldest first."""
        return iter(self._by_root.items())

    def put(self, root: str, priming: Priming) -> None:
        """Set the resume of a root; it replaces an earlier one."""
        self._by_root[root] = priming
        self._by_root.move_to_end(root)
        files = sum(len(resume.files) for resume in self._by_root.values())
        while len(self._by_root) > ROOTS_MAX or files > ALL_FILES_MAX:
            _, dropped = self._by_root.popitem(last=False)
            files -= len(dropped.files)

    def get(self, root: str, now_s: float) -> Priming | None:
        """Return the resume of a root; None if there is none or it is too old."""
        found = self._by_root.get(root)
        return found if found is not None and 0 <= now_s - found.at_s < IDLE_S else None

    def drop(self, folder: str | None) -> None:
        """Forget the resumes in a folder and below it; None: everywhere."""
        above = None if folder is None else folder.rstrip("/") + "/"
        gone = [root for root in self._by_root if above is None or (root + "/").startswith(above)]
        for root in gone:
            del self._by_root[root]


def priming(primed: Primed, now_s: float) -> Priming:
    """Return the part of a resume that is kept."""
    kept = [_bounded(file) for file in primed.files if len(file.path) <= _PATH_MAX][:FILES_MAX]
    return Priming(primed.snapshot_id, now_s, {file.path: file for file in kept})


def _bounded(file: PrimedFile) -> PrimedFile:
    lines, quoted = spans.joined(file.lines), spans.joined(file.in_payload)
    # If there are too many stretches, keep the first quotes and treat all lines as read.
    lines = lines if len(lines) <= STRETCHES_MAX else spans.NONE
    return replace(file, lines=lines, in_payload=quoted[:STRETCHES_MAX])


def borne_out(text: str, quoted: Mapping[str, Quote]) -> dict[str, Quote]:
    """Return the quotes of a payload that really appear in a text, for unchanged files.

    Args:
        text: What an agent was shown: the payload, or JSON that holds it.
        quoted: By path.
    """
    if len(text.encode("utf-8", "replace")) > SHOWN_MAX:
        return {}
    body = "\n" + _payload(text).replace("\r\n", "\n") + "\n"
    confirmed = {}
    for path, quote in quoted.items():
        now = look.look(path)
        if now is None or now.sha != quote.sha:
            continue
        stretches = [
            (first, last)
            for first, last in quote.spans
            if "\n" + "\n".join(now.texts[first - 1 : last]) + "\n" in body
        ]
        if stretches:
            confirmed[path] = Quote(quote.sha, spans.joined(stretches))
    return confirmed


def _payload(text: str) -> str:
    if text.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):
            match json.loads(text):
                case {"payload_markdown": str(payload)}:
                    return payload
    return text


class Instructions(NamedTuple):
    """The quotes of a payload that the file read by an agent at its beginning contains."""

    quoted: Mapping[str, Quote]
    stamp: tuple[int, ...]
    """Changes whenever the file is written, even with the same content."""


NO_QUOTES = Instructions({}, ())


def in_instructions(root: str, harness: str, resumed: Priming) -> Instructions:
    """Return the payload's quotes in the file that an agent reads when it begins."""
    agent = registry.by_name(harness)
    name = agent.instructions if agent is not None else ""
    quoted = resumed.quoted
    if not name or not quoted or any(Path(root, other).exists() for other in _INSTEAD):
        return NO_QUOTES
    real = look.real(str(Path(root, name)))
    before = _stamp(real) if real else ()
    file = look.look(real) if real else None
    if real is None or file is None or len(file.data) > INSTRUCTIONS_MAX:
        return NO_QUOTES
    text = file.data.decode("utf-8", "replace")
    # Another payload may have been written in its place since.
    names_snapshot = f"\n- snapshot_id: {resumed.snapshot_id}\n" in text.replace("\r\n", "\n")
    if not names_snapshot or not before or _stamp(real) != before:
        return NO_QUOTES
    return Instructions(borne_out(text, quoted), before)


def _stamp(path: str) -> tuple[int, ...]:
    try:
        status = Path(path).stat()
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Asker(NamedTuple):
    """A context that may be asking, and the evidence of what it has."""

    one: Conversation | None
    """None if it has ended."""
    in_view: frozenset[str] | None
    """Its agent's own record; None if it does not say."""
    instructions: Instructions
    """The payload's quotes in the file that it begins with, as that file is now."""

    def has(self, snapshot_id: str, path: str, now_s: float) -> Spans:
        """Return the lines of a file that it certainly has from a payload."""
        payload = self.one.given if self.one else None
        if self.one is None or payload is None or payload.snapshot_id != snapshot_id:
            return spans.NONE
        lines = payload.quoted[path].spans if path in payload.quoted else spans.NONE
        if payload.credit is not None:
            return lines if self.one.sure(now_s, self.in_view)(payload.credit) else spans.NONE
        # Agents reread the file when they compact, which may go unreported: what it held then is
        # known only if it has not been written since the beginning.
        still = self.instructions.quoted.get(path)
        if still is None or payload.stamp != self.instructions.stamp:
            return spans.NONE
        return spans.both(lines, still.spans)


def carried(snapshot_id: str, path: str, askers: Sequence[Asker], now_s: float) -> Spans:
    """Return the lines of a file that each of these contexts certainly has from the payload."""
    if not askers:
        return spans.NONE
    first, *others = (asker.has(snapshot_id, path, now_s) for asker in askers)
    return reduce(spans.both, others, first)


def standing(snapshot_id: str, file: PrimedFile, now: FileText | None, carried: Spans) -> Standing:
    """Return how a primed file stands in a context that has not read it itself.

    Args:
        snapshot_id: The snapshot that was resumed.
        file: The file as it was primed.
        now: The file now; None if it cannot be read.
        carried: Its lines that are certainly in the context, from the payload.
    """
    since = f"since the session that was resumed (snapshot {snapshot_id})"
    primed = Standing("fresh", tokens=file.tokens, primed=snapshot_id)
    if now is None:
        message = f"Changed {since} (gone or unreadable now)."
        return replace(primed, status="stale", message=message)
    if now.sha != file.sha:
        message = f"Changed {since} (now ~{now.tokens} tokens); read file."
        return replace(primed, status="stale", current_tokens=now.tokens, message=message)
    if now.whole and spans.covers(carried, now.whole):
        message = (
            f"Unchanged {since}, and quoted whole in the hydration payload. Skip re-read to save "
            f"{file.tokens} tokens."
        )
        return replace(primed, message=message, carried=True)
    if not carried:
        message = f"Unchanged {since}, but not in your context; read what you need of it."
        return replace(primed, message=message)
    lines = spans.text(carried)
    is_all = spans.covers(carried, file.lines or now.whole)
    message = (
        f"Unchanged {since}. Of {now.lines} lines the hydration payload quotes only {lines}"
        f"{' (all that session had read)' if is_all else ''}; read the others if you need them."
    )
    return replace(primed, message=message, lines=lines)


class SavedResumes(TypedDict):
    """A `PrimedFile`."""

    path: str
    sha: str
    tokens: int
    lines: tuple[tuple[int, int], ...]
    in_payload: tuple[tuple[int, int], ...]


class SavedPriming(TypedDict):
    """A `Priming` and its root."""

    root: str
    snapshot_id: str
    at_s: float
    files: list[SavedResumes]


def dump(primings: Primings) -> list[SavedPriming]:
    """Return the resumes as JSON values."""
    return [
        {
            "root": root,
            "snapshot_id": resume.snapshot_id,
            "at_s": resume.at_s,
            "files": [cast("SavedResumes", asdict(file)) for file in resume.files.values()],
        }
        for root, resume in primings
    ]


def load(body: object, now_s: float) -> Primings:
    """Restore what `dump` returned; empty for anything else."""
    try:
        saved: list[SavedPriming] = decode(list[SavedPriming], body)
    except (TypeError, ValueError, OverflowError):
        return Primings()
    primings = Primings()
    for entry in saved:
        if 0 <= now_s - entry["at_s"] < IDLE_S:
            files = [_bounded(PrimedFile(**file)) for file in entry["files"][:FILES_MAX]]
            by_path = {file.path: file for file in files}
            primings.put(entry["root"], Priming(entry["snapshot_id"], entry["at_s"], by_path))
    return primings
