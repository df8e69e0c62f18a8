"""A context pack for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.model.context_pack import ContextPack, PackItem

_GOAL_CHARACTERS = 80


def pack_text(pack: ContextPack) -> str:
    """The files with their lines, then what to do next."""
    goal = pack.goal
    if len(goal) > _GOAL_CHARACTERS:
        goal = goal[: _GOAL_CHARACTERS - 1] + "…"
    count = f"{len(pack.items)} item" + ("" if len(pack.items) == 1 else "s")
    used = f"~{pack.estimated_tokens}/{pack.budget_tokens} tokens"
    lines = [f'context_pack: "{goal}" ({pack.intent}) — {count}, {used}']
    for item in pack.items:
        lines += ["", *_item(item)]
    if not pack.items:
        lines += [
            "",
            "no strong candidates — try a more specific symbol, error message, or changed file",
        ]
    lines += ["", "next:", *(f"- {step}" for step in pack.suggested_next_steps)]
    if pack.truncated:
        lines += ["", "[truncated: more matched — raise budget_tokens or max_files]"]
    return "\n".join(lines)


def _item(item: PackItem) -> list[str]:
    places = [f"L{snippet.line}:{snippet.column}" for snippet in item.snippets]
    width = max(map(len, places), default=0)
    return [
        f"{item.path} (score {item.score})",
        f"  reasons: {', '.join(item.reasons)}",
        *(
            f"  {place:<{width}}  {snippet.preview}"
            for place, snippet in zip(places, item.snippets, strict=True)
        ),
    ]
