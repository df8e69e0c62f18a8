"""Finds which lines of files a tool use has read, and which of them really appear in its output.

A read is credited only as far as its output confirms it. The lines it should have shown are
compared one by one with those of the output, from its beginning, and after the first difference
backwards from its end. So an output that was cut at its end, or in its middle, is credited with
what remains of it.

An output that differs may begin or end like the file by chance: blank lines and brackets do. So
if not all lines match, a stretch counts only if one of its lines occurs exactly once in its file,
and without the blank lines next to the cut.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from triseek.memo import look
from triseek.memo.difference import common_start
from triseek.model import spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.memo.look import FileText
    from triseek.model.hook_event import ToolUse
    from triseek.model.spans import Spans

FILES_MAX = 64
"""Most files of one tool use that are looked at."""
_TELLING_CHARS = 3
"""Minimum length of a line that can identify its place in a file."""


class ToolRead(NamedTuple):
    """A file that a tool has read."""

    look: FileText
    requested: Spans
    shown: Spans
    """The requested lines that appear in the tool's output."""


class Claim(NamedTuple):
    """Lines that an output should show."""

    look: FileText
    first: int
    last: int
    """At least `first`, and in the file."""

    @property
    def texts(self) -> list[str]:
        """The text of the lines."""
        return self.look.texts[self.first - 1 : self.last]


def text_digest(text: str) -> str:
    """Return the digest of a text that a tool has shown as a whole."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def whole(use: ToolUse) -> str | None:
    """Return the digest of a tool's output; None if its agent may have cut it, or it has none."""
    output, room = use.output, use.room
    if use.failed or not use.call or not output:
        return None
    lines = output.encode(errors="surrogatepass").split(b"\n")
    longest = max(map(len, lines))
    fits = (
        len(lines) <= room.lines
        and sum(map(len, lines)) + len(lines) <= room.bytes
        and (room.line_bytes is None or longest <= room.line_bytes)
    )
    return text_digest(output) if fits else None


def read(use: ToolUse) -> list[ToolRead]:
    """Read the files of a tool use, and compare them with its output."""
    looks = cache(look.look)
    claims: list[Claim] = []
    for file_read in use.reads[:FILES_MAX]:
        path = look.real(file_read.path)
        now = looks(path) if path is not None else None
        if now is not None:
            claims += [Claim(now, first, last) for first, last in now.requested(file_read)]
    if not claims:
        return []
    matches = [spans.NONE for _ in claims] if use.output is None else shown(use.output, claims)
    return [
        ToolRead(claim.look, spans.of(claim.first, claim.last), lines)
        for claim, lines in zip(claims, matches, strict=True)
    ]


def shown(output: str, claims: Sequence[Claim]) -> list[Spans]:
    """Return which lines of each claim appear in the output.

    Args:
        output: What the agent was shown.
        claims: In the order in which the output shows them.
    """
    lines = [line.removesuffix("\r") for line in output.removeprefix("\ufeff").split("\n")]
    if lines[-1] == "":
        lines.pop()
    wanted = [claim.texts for claim in claims]
    matched = [spans.NONE for _ in claims]
    at = 0
    for number, (claim, texts) in enumerate(zip(claims, wanted, strict=True)):
        at = _after_header(lines, at, texts, several=len(claims) > 1)
        same = common_start(texts, lines[at : at + len(texts)])
        matched[number] = spans.of(claim.first, claim.first + same - 1)
        at += same
        if same < len(texts):
            break
    else:
        return matched
    _from_the_end(lines, at, claims, wanted, matched, number)
    return [_believed(claim, stretches) for claim, stretches in zip(claims, matched, strict=True)]


def _from_the_end(
    lines: list[str],
    floor: int,
    claims: Sequence[Claim],
    wanted: list[list[str]],
    matched: list[Spans],
    broken: int,
) -> None:
    """Add to `matched` the lines at the end, of the broken claim and those after it."""
    end = len(lines)
    for number in range(len(claims) - 1, broken - 1, -1):
        claim = claims[number]
        before = spans.count(matched[number])
        texts = wanted[number][before:]
        same = common_start(texts[::-1], lines[floor:end][::-1])
        added = spans.of(claim.last - same + 1, claim.last)
        # Not joined with the lines matched at the beginning: each stretch is verified by itself.
        matched[number] = (*matched[number], *added)
        if same < len(texts) or not texts:
            return
        end = _before_header(lines, end - same)


def _believed(claim: Claim, stretches: Spans) -> Spans:
    if not stretches:
        return stretches
    texts = claim.look.texts
    counts = Counter(texts)
    kept = []
    for first, last in stretches:
        while first <= last and last < claim.last and not texts[last - 1].strip():
            last -= 1
        while first <= last and first > claim.first and not texts[first - 1].strip():
            first += 1
        claimed = (texts[number - 1] for number in range(first, last + 1))
        if any(counts[text] == 1 and len(text.strip()) >= _TELLING_CHARS for text in claimed):
            kept.append((first, last))
    return spans.joined(kept)


def _after_header(lines: list[str], at: int, texts: list[str], *, several: bool) -> int:
    """Skip the `==> name <==` that head and tail put before each of several files."""
    if at < len(lines) and _is_header(lines[at]):
        return at if not several and lines[at] == texts[0] else at + 1
    if at + 1 < len(lines) and lines[at] == "" and _is_header(lines[at + 1]):
        return at + 2
    return at


def _before_header(lines: list[str], end: int) -> int:
    if end > 0 and _is_header(lines[end - 1]):
        end -= 1
        if end > 0 and lines[end - 1] == "":
            end -= 1
    return end


def _is_header(line: str) -> bool:
    return line.startswith("==> ") and line.endswith(" <==")
