"""Reduction of a context pack to its token budget."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, NamedTuple

from triseek.model import token_estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.model.context_pack import PackItem


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
        fitting = [
            option
            for option in (replace(item, snippets=item.snippets[:1]), replace(item, snippets=()))
            if tokens(option) <= left
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
