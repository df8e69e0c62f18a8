"""Which lines of a file are shown, and how much of each."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from triseek.engine.evidence import Line, is_import
from triseek.model.context_pack import PREVIEW_CHARACTERS, SNIPPETS_MAX, Snippet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.candidates import Candidate

_IMPORT_SHARE = 0.4
"""What a line is worth that only names what it imports."""
_LEAD_BYTES = 60
"""Of a line that is cut, before its first match."""
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


def snippets(candidate: Candidate, weights: list[float]) -> tuple[Snippet, ...]:
    """Return the lines of a candidate that say most, the best first; none twice.

    weights: per term of the goal, what it is worth in this tree.
    """
    text, seen, found = candidate.text, set(), []
    for line in islice(_best_first(candidate, weights), 4 * SNIPPETS_MAX):
        shown = _snippet(text, line)
        if shown.preview and shown.preview not in seen:
            seen.add(shown.preview)
            found.append(shown)
    return tuple(found[:SNIPPETS_MAX])


def _best_first(candidate: Candidate, weights: list[float]) -> Iterator[Line]:
    if candidate.line:
        named = _line_numbered(candidate.text, candidate.line)
        if named is not None:
            yield named
    if candidate.evidence is None:
        return
    text = candidate.text
    yield from sorted(
        candidate.evidence.lines,
        key=lambda line: (
            -line.score(weights) * (_IMPORT_SHARE if is_import(text, line) else 1.0),
            line.start,
        ),
    )


def _line_numbered(text: bytes, number: int) -> Line | None:
    start = 0
    for _ in range(number - 1):
        start = text.find(b"\n", start) + 1
        if start == 0:
            return None
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    blank = len(text[start:end]) - len(text[start:end].lstrip())
    return Line(start, end, start + blank)


def _snippet(text: bytes, line: Line) -> Snippet:
    return Snippet(
        line=text.count(b"\n", 0, line.start) + 1,
        column=line.first - line.start + 1,
        preview=preview(text[line.start : line.end], line.first - line.start),
    )


def preview(line: bytes, at: int) -> str:
    """Return a line on a line: without indentation and control characters, cut around byte `at`."""
    whole = _text(line)
    if len(whole) <= PREVIEW_CHARACTERS:
        return whole
    start = max(at - _LEAD_BYTES, 0)
    shown = _text(line[start : start + 4 * PREVIEW_CHARACTERS])
    shown = "…" + shown if start else shown
    return shown if len(shown) <= PREVIEW_CHARACTERS else shown[: PREVIEW_CHARACTERS - 1] + "…"


def _text(line: bytes) -> str:
    return _CONTROLS.sub("\ufffd", line.strip().decode(errors="replace"))
