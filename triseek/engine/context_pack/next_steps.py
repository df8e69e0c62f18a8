"""Suggested next steps for a context pack, as sentences about the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.engine.context_pack.terms import Goal
    from triseek.model.context_pack import Intent, PackItem

_WORD_CHARACTERS = 60


def next_steps(
    intent: Intent, goal: Goal, items: Sequence[PackItem], *, strongest: str, test: str
) -> tuple[str, ...]:
    """Return sentences that suggest how to continue from the items.

    strongest: The goal's word with the highest weight; empty if it has none.
    test: Path of the likeliest test of the first item; empty if none is known.
    """
    word = strongest[:_WORD_CHARACTERS]
    if not items:
        return _from_nothing(goal, word)
    first = items[0].path
    otherwise = (
        f"If that is not it, run search_content for {word!r}, the goal's most telling word."
        if word
        else "If that is not it, ask again with a symbol, an error message or a changed file."
    )
    test_step = (
        f"Read {test} for what {first} is expected to do."
        if test
        else f"No test of {first} was found by its name: run search_path_and_content for "
        f"{word or first!r} below the tests."
    )
    if intent == "review":
        changed = any("changed_file" in item.reasons for item in items)
        start = (
            "Read the changed_file items first, then the test_adjacent ones."
            if changed
            else "No changed file is known: pass changed_files, or start with the first item."
        )
        return (start, test_step, otherwise)
    return ("Start with the highest-ranked source file and its snippets.", otherwise, test_step)


def _from_nothing(goal: Goal, word: str) -> tuple[str, ...]:
    if goal.is_empty:
        return (
            "The goal names nothing to look for: give a symbol, an error message or a file.",
            "Pass changed_files to start from what was edited.",
        )
    return (
        f"Run search_content for another spelling of {word!r}, or for a symbol you know.",
        "Run find_files for a part of the file's name.",
        "Raise budget_tokens if it is very small.",
    )
