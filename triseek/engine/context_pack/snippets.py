"""The items of a context pack: the lines shown of each file, and as many as fit the budget."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.context_pack.evidence import EvidenceLine, is_import
from triseek.model import token_estimate
from triseek.model.context_pack import PREVIEW_CHARACTERS, SNIPPETS_MAX, PackItem, Snippet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.engine.context_pack.candidates import Candidate

_IMPORT_SHARE = 0.4
"""Score factor of an import line."""
_LEAD_BYTES = 60
"""Bytes shown before the first match of a shortened line."""
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


def item(candidate: Candidate, weights: list[float]) -> PackItem:
    """Return a candidate as an item of the pack, with its best lines.

    weights: Weight of each term of the goal in this tree.
    """
    return PackItem(
        path=candidate.path.decode(errors="replace"),
        score=round(candidate.score, 1),
        reasons=tuple(sorted(candidate.reasons)),
        snippets=snippets(candidate, weights),
    )


def snippets(candidate: Candidate, weights: list[float]) -> tuple[Snippet, ...]:
    """Return snippets of a candidate's best lines, best first, without duplicates.

    weights: Weight of each term of the goal in this tree.
    """
    text, seen, chosen = candidate.text, set(), []
    for line in islice(_best_first(candidate, weights), 4 * SNIPPETS_MAX):
        at = line.first - line.start
        snippet = Snippet(
            line=text.count(b"\n", 0, line.start) + 1,
            column=at + 1,
            preview=preview(text[line.start : line.end], at),
        )
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


class Fitted(NamedTuple):
    """The items to send."""

    items: tuple[PackItem, ...]
    tokens: int
    cut: bool
    """Whether an item or a snippet was left out."""


def tokens(item: PackItem) -> int:
    """Estimate the tokens of an item as sent: its compact JSON and a comma."""
    text = json.dumps(asdict(item), ensure_ascii=False, separators=(",", ":"))
    return token_estimate.of_text(text + ",")


def fit(items: Sequence[PackItem], budget_tokens: int) -> Fitted:
    """Return as many of the items and snippets as the budget allows.

    A further file is worth more than a second line of the file before it. First all files with
    their best line are added, as many as fit, then second lines, then third ones. A file whose best
    line does not fit is added without it; if not even that fits, it and all later files are left
    out.
    """
    kept: list[PackItem] = []
    left = budget_tokens
    for item in items:
        options = (replace(item, snippets=item.snippets[:count]) for count in (1, 0))
        fitting = next((option for option in options if tokens(option) <= left), None)
        if fitting is None:
            break
        kept.append(fitting)
        left -= tokens(fitting)
    for count in range(2, max((len(item.snippets) for item in items), default=0) + 1):
        for number, item in enumerate(kept):
            longer = replace(item, snippets=items[number].snippets[:count])
            if len(longer.snippets) != len(item.snippets) + 1:
                continue
            more = tokens(longer) - tokens(item)
            if more <= left:
                kept[number] = longer
                left -= more
    return Fitted(tuple(kept), budget_tokens - left, tuple(kept) != tuple(items))
