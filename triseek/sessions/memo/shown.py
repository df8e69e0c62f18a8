r"""Which lines of files really stand in an output.

A tool that reads is only believed as far as its output bears it out. The lines it should have
shown are compared one after the other with those of the output, from its beginning, and after
the first that differs from its end backwards; so an output that was cut at its end, or in its
middle, is credited with what was left of it.

An output that differs may begin or end like the file by chance: blank lines and brackets do. So
where not everything is found, a stretch counts only if one of its lines is to be found once in
its file, and not the blank lines next to what was cut.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from triseek.sessions.memo import spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.sessions.memo.look import Look
    from triseek.sessions.memo.spans import Spans

_TELLING_CHARS = 3
"""So long must a line be to tell where in its file we are."""


class Claim(NamedTuple):
    """Lines that an output should show."""

    look: Look
    first: int
    last: int
    """Not before `first`, and in the file."""

    @property
    def texts(self) -> list[str]:
        """The lines."""
        return self.look.texts[self.first - 1 : self.last]


def shown(output: str, claims: Sequence[Claim]) -> list[Spans]:
    """What of each claim stands in the output.

    Args:
        output: What the agent was shown.
        claims: In the order in which the output shows them.
    """
    lines = [line.removesuffix("\r") for line in output.removeprefix("\ufeff").split("\n")]
    if lines[-1] == "":
        lines.pop()
    wanted = [claim.texts for claim in claims]
    found = [spans.NONE for _ in claims]
    at = 0
    for number, (claim, texts) in enumerate(zip(claims, wanted, strict=True)):
        at = _after_header(lines, at, texts, several=len(claims) > 1)
        same = _same_at_start(texts, lines, at)
        found[number] = spans.of(claim.first, claim.first + same - 1)
        at += same
        if same < len(texts):
            break
    else:
        return found
    _from_the_end(lines, at, claims, wanted, found, number)
    return [_believed(claim, some) for claim, some in zip(claims, found, strict=True)]


def _from_the_end(
    lines: list[str],
    floor: int,
    claims: Sequence[Claim],
    wanted: list[list[str]],
    found: list[Spans],
    broken: int,
) -> None:
    """Add to `found` what stands at the end, of the broken claim and those after it."""
    end = len(lines)
    for number in range(len(claims) - 1, broken - 1, -1):
        claim = claims[number]
        before = spans.count(found[number])
        texts = wanted[number][before:]
        same = _same_at_end(texts, lines[floor:end])
        added = spans.of(claim.last - same + 1, claim.last)
        # Kept apart from what was found at the beginning: each has to stand on its own.
        found[number] = (*found[number], *added)
        if same < len(texts) or not texts:
            return
        end = _before_header(lines, end - same)


def _believed(claim: Claim, found: Spans) -> Spans:
    if not found:
        return found
    texts = claim.look.texts
    often = Counter(texts)
    kept = []
    for first, last in found:
        while first <= last and last < claim.last and not texts[last - 1].strip():
            last -= 1
        while first <= last and first > claim.first and not texts[first - 1].strip():
            first += 1
        told = (texts[number - 1] for number in range(first, last + 1))
        if any(often[text] == 1 and len(text.strip()) >= _TELLING_CHARS for text in told):
            kept.append((first, last))
    return spans.joined(kept)


def _same_at_start(texts: list[str], lines: list[str], at: int) -> int:
    there = lines[at : at + len(texts)]
    if there == texts:
        return len(texts)
    same = 0
    for text, line in zip(texts, there, strict=False):
        if text != line:
            break
        same += 1
    return same


def _same_at_end(texts: list[str], lines: list[str]) -> int:
    same = 0
    for text, line in zip(reversed(texts), reversed(lines), strict=False):
        if text != line:
            break
        same += 1
    return same


def _after_header(lines: list[str], at: int, texts: list[str], *, several: bool) -> int:
    """Past the `==> name <==` that head and tail put before each of several files."""
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
