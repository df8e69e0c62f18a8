"""A context pack as people and agents read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_GOAL_CHARACTERS = 80


def pack_lines(pack: Mapping[str, Any]) -> Iterator[str]:
    """The files of an envelope with their lines, then what to do next."""
    goal = pack["goal"]
    if len(goal) > _GOAL_CHARACTERS:
        goal = goal[: _GOAL_CHARACTERS - 1] + "…"
    count = f"{len(pack['items'])} item" + ("" if len(pack["items"]) == 1 else "s")
    used = f"~{pack['estimated_tokens']}/{pack['budget_tokens']} tokens"
    yield f'context_pack: "{goal}" ({pack["intent"]}) — {count}, {used}'
    for item in pack["items"]:
        yield from ("", *_item(item))
    if not pack["items"]:
        yield ""
        yield "no strong candidates — try a more specific symbol, error message, or changed file"
    yield from ("", "next:", *(f"- {step}" for step in pack["suggested_next_steps"]))
    if pack["truncated"]:
        yield from ("", "[truncated: more matched — raise budget_tokens or max_files]")


def _item(item: Mapping[str, Any]) -> Iterator[str]:
    places = [f"L{snippet['line']}:{snippet['column']}" for snippet in item["snippets"]]
    width = max(map(len, places), default=0)
    yield f"{item['path']} (score {item['score']})"
    yield f"  reasons: {', '.join(item['reasons'])}"
    for place, snippet in zip(places, item["snippets"], strict=True):
        yield f"  {place:<{width}}  {snippet['preview']}"
