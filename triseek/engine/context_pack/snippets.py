"""Selection and shortening of the lines of a file to show."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from triseek.engine.context_pack.evidence import EvidenceLine, is_import
from triseek.model.context_pack import PREVIEW_CHARACTERS, SNIPPETS_MAX, Snippet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.context_pack.candidates import Candidate

_IMPORT_SHARE = 0.4
"""Score factor of an import line."""
_LEAD_BYTES = 60
"""Bytes shown before the first match of a shortened line."""
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


def snippets(candidate: Candidate, weights: list[float]) -> tuple[Snippet, ...]:
    """Return snippets of a candidate's best lines, best first, without duplicates.

    weights: Weight of each term of the goal in this tree.
    """
    text, seen, chosen = candidate.text, set(), []
    for line in islice(_best_first(candidate, weights), 4 * SNIPPETS_MAX):
        snippet = _snippet(text, line)
        if snippet.preview and snippet.preview not in seen:
            seen.add(snippet.preview)
            chosen.append(snippet)
    return tuple(chosen[:SNIPPETS_MAX])


def _best_first(candidate: Candidate, weights: list[float]) -> Iterator[EvidenceLine]:
    if candidate.line:
        named_line = _line_numbered(candidate.text, candidate.line)
        if named_line is not None:
            yield named_line
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


def _line_numbered(text: bytes, number: int) -> EvidenceLine | None:
    start = 0
    for _ in range(number - 1):
        start = text.find(b"\n", start) + 1
        if start == 0:
            return None
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    blank = len(text[start:end]) - len(text[start:end].lstrip())
    return EvidenceLine(start, end, start + blank)


def _snippet(text: bytes, line: EvidenceLine) -> Snippet:
    return Snippet(
        line=text.count(b"\n", 0, line.start) + 1,
        column=line.first - line.start + 1,
        preview=preview(text[line.start : line.end], line.first - line.start),
    )


def preview(line: bytes, at: int) -> str:
    """Return a line for display: no indentation, control characters replaced, cut around `at`.

    at: Byte offset in `line` that must be visible.
    """
    whole = _text(line)
    if len(whole) <= PREVIEW_CHARACTERS:
        return whole
    start = max(at - _LEAD_BYTES, 0)
    part = _text(line[start : start + 4 * PREVIEW_CHARACTERS])
    part = "…" + part if start else part
    return part if len(part) <= PREVIEW_CHARACTERS else part[: PREVIEW_CHARACTERS - 1] + "…"


def _text(line: bytes) -> str:
    return _CONTROLS.sub("\ufffd", line.strip().decode(errors="replace"))
