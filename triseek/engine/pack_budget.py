"""What of a context pack fits into its budget of tokens."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.model.context_pack import PackItem

CHARACTERS_PER_TOKEN = 4
"""An estimate; code takes fewer, and what no tokenizer knows takes more tokens."""


class Fitted(NamedTuple):
    """Items as they are sent."""

    items: tuple[PackItem, ...]
    tokens: int
    cut: bool
    """Whether an item or a snippet was left out."""


def tokens(item: PackItem) -> int:
    """Estimate what sending an item costs: its compact JSON and a comma."""
    text = json.dumps(asdict(item), ensure_ascii=False, separators=(",", ":"))
    return -(-(len(text) + 1) // CHARACTERS_PER_TOKEN)


def fit(items: Sequence[PackItem], budget_tokens: int) -> Fitted:
    """Return as much of the items as the budget allows, whatever they are.

    A file is worth more than a second line of the one before it: first come all files with their
    best line each, as many as fit, then second lines, then third ones. A file whose best line does
    not fit is named without; where not even that fits, what comes after it is left out too.
    """
    kept: list[PackItem] = []
    left = budget_tokens
    for item in items:
        fitting = [
            each
            for each in (replace(item, snippets=item.snippets[:1]), replace(item, snippets=()))
            if tokens(each) <= left
        ]
        if not fitting:
            break
        kept.append(fitting[0])
        left -= tokens(fitting[0])
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
