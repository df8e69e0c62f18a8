"""context_pack: select the few files to start a task from, without a model.

Searches and path names yield many candidates (`engine.context_pack.recall`). The best are read
(`candidates`) and scored by BM25F over names, definitions and text, by phrases and by how close
together the terms are. Then signals other than words are added: files that changed, that the goal
names, that are used most, tests beside sources. Same tree, same request, same answer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.engine.context_pack import candidates, terms
from triseek.engine.context_pack.candidates import Candidate
from triseek.engine.context_pack.recall import recall, searched_texts
from triseek.engine.context_pack.snippets import fit, item
from triseek.engine.ranking.path_class import PathClass, path_class
from triseek.errors import InvalidQuery
from triseek.model.context_pack import (
    BUDGET_TOKENS_MAX,
    FILES_MAX,
    GOAL_CHARACTERS,
    INTENTS,
    ContextPack,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.engine.context_pack.recall import Recalled
    from triseek.engine.context_pack.terms import Goal
    from triseek.engine.engine import Engine
    from triseek.model.context_pack import ContextPackRequest, Intent, PackItem, Reason

SEARCH_SHARE = 0.8
"""Share of the time for a pack in which a tree without an index is listed and searched."""
INCOMPLETE = "This is incomplete, as the tree could not be searched to its end in time"
READ_FILES = 100
"""Candidates that are read."""
ADJACENT_OF = 8
"""Number of best candidates whose tests or sources are looked up."""
_WORD_CHARACTERS = 60
"""Characters shown of the strongest word."""
FREQUENT = 1.0
"""Frecency from which a file counts as frequently used."""
_NAMED = 0.8
_CHANGED = {"bugfix": 0.4, "review": 1.5}
_UNCOMMITTED = 0.15
_FREQUENT = 0.1
_SOURCE_OF_TEST = 0.35
_TEST_OF_SOURCE = {"bugfix": 0.15, "review": 0.7}
"""Additions to a score, as shares of the best score by words alone (`_SOURCE_OF_TEST` and
`_TEST_OF_SOURCE`: of the neighbour's score)."""


def context_pack(
    engine: Engine,
    request: ContextPackRequest,
    stop: Callable[[], bool] = lambda: False,
    seconds: float = float("inf"),
    way_on: str = "",
) -> ContextPack:
    """Return the files to start a task from.

    A pack that was made of a part of the tree is marked as truncated, and says so.

    Args:
        engine: The engine of the repository.
        request: The task.
        stop: Called between files. Once it returns True, the pack is made of the results so far.
        seconds: Time for listing and searching a tree without an index.
        way_on: What to do if a part of the tree was not searched in time, one clause.

    Raises:
        InvalidQuery: The goal is blank, or the intent is unknown.
        InvalidRequest: A changed file is outside of the root.
        FallbackFailure: No backend could search the tree.
    """
    intent = _intent(request)
    budget = min(max(request.budget_tokens, 1), BUDGET_TOKENS_MAX)
    most = min(max(request.max_files, 1), FILES_MAX)
    goal = terms.read(request.goal)
    recalled = recall(engine, goal, stop, request.changed_files, SEARCH_SHARE * seconds)
    ranked = _ranked(engine, goal, intent, recalled, stop)
    fitted = fit([item(candidate, recalled.weights) for candidate in ranked[:most]], budget)
    return ContextPack(
        repo_root=os.fsencode(engine.root).decode(errors="replace"),
        intent=intent,
        goal=_one_line(request.goal),
        budget_tokens=budget,
        max_files=most,
        estimated_tokens=fitted.tokens,
        items=fitted.items,
        suggested_next_steps=(
            *([f"{INCOMPLETE}: {way_on}." if way_on else f"{INCOMPLETE}."] * recalled.is_partial),
            *next_steps(
                intent,
                goal,
                fitted.items,
                strongest=_strongest(goal, recalled.weights),
                test=_test_of_first(ranked, recalled) if fitted.items else "",
            ),
        ),
        truncated=fitted.cut or len(ranked) > most or recalled.is_partial or stop(),
    )


def _intent(request: ContextPackRequest) -> Intent:
    if not request.goal.strip():
        raise InvalidQuery("the goal is empty", next_step="Say what is to be done, in a sentence.")
    for intent in INTENTS:
        if request.intent == intent:
            return intent
    raise InvalidQuery(
        f"no intent {request.intent[:40]!r}", next_step=f"Give one of: {', '.join(INTENTS)}."
    )


def _ranked(
    engine: Engine, goal: Goal, intent: Intent, recalled: Recalled, stop: Callable[[], bool]
) -> list[Candidate]:
    """Return all candidates with a score, best first; equal scores in path order."""
    root = os.fsencode(engine.root)

    def read(paths: list[bytes]) -> list[Candidate]:
        return candidates.read(root, paths, goal, recalled.weights, stop)

    def rate(pool: list[Candidate]) -> None:
        candidates.rate(pool, goal, intent, recalled.weights, recalled.phrase_idf)

    wanted = [*recalled.changed, *recalled.named, *recalled.ranked[:READ_FILES]]
    wanted += sorted(recalled.uncommitted)[:READ_FILES]
    pool = read(wanted)
    # Changed files without a term are left out, as they would be once indexed. Otherwise the answer
    # would depend on when the tree was indexed.
    texts, others = searched_texts(goal), set(wanted)
    dirty = read([path for path in recalled.dirty if path not in others])
    pool += [candidate for candidate in dirty if candidate.holds(texts)]
    rate(pool)
    pool.sort(key=_order)
    read_paths = {candidate.path for candidate in pool}
    more = read([path for path in _adjacent(pool, recalled) if path not in read_paths])
    rate(more)
    pool += more
    _add_other_signals(engine, pool, intent, recalled)
    rest = [Candidate(path, 1e-6) for path in recalled.ranked[READ_FILES:]]
    return sorted((candidate for candidate in pool if candidate.score > 0), key=_order) + rest


def _order(candidate: Candidate) -> tuple[float, bytes]:
    return (-candidate.score, candidate.path)


def _adjacent(pool: list[Candidate], recalled: Recalled) -> list[bytes]:
    beside: list[bytes] = []
    for path in [*recalled.changed, *(candidate.path for candidate in pool[:ADJACENT_OF])]:
        beside += recalled.names.neighbours(path)[:1]
    return beside


def _add_other_signals(
    engine: Engine, pool: list[Candidate], intent: Intent, recalled: Recalled
) -> None:
    """Add the score components that do not come from words."""
    by_path = {candidate.path: candidate for candidate in pool}
    best = max((candidate.score for candidate in pool), default=0.0) or 1.0
    by_words = {candidate.path: candidate.score for candidate in pool}

    def add(path: bytes, score: float, reason: Reason) -> None:
        if path in by_path:
            by_path[path].score += score
            by_path[path].reasons.add(reason)

    for path in recalled.changed:
        add(path, _CHANGED[intent] * best, "changed_file")
    whole = intent == "review" and not recalled.changed
    for path in sorted(recalled.uncommitted - set(recalled.changed)):
        add(path, (_CHANGED[intent] if whole else _UNCOMMITTED) * best, "changed_file")
    for path, line in recalled.named.items():
        add(path, _NAMED * best, "named_in_goal")
        if path in by_path:
            by_path[path].line = line
    for path, used in _frequent(engine, list(by_path)):
        add(path, _FREQUENT * used * by_words[path], "frequently_used")
    for candidate in sorted(pool, key=_order)[:ADJACENT_OF]:
        for path in recalled.names.neighbours(candidate.path)[:1]:
            if path_class(candidate.path) is PathClass.TEST:
                add(path, _SOURCE_OF_TEST * candidate.score, "source_adjacent")
            else:
                add(path, _TEST_OF_SOURCE[intent] * candidate.score, "test_adjacent")


def _frequent(engine: Engine, paths: list[bytes]) -> list[tuple[bytes, float]]:
    """Return the frequently used files, each with its degree of use between 0 and 1."""
    frecency = engine.frecency
    if frecency is None:
        return []
    scores = frecency.score(paths).tolist()
    return [
        (path, score / (score + 5.0))
        for path, score in zip(paths, scores, strict=True)
        if score >= FREQUENT
    ]


def _strongest(goal: Goal, weights: list[float]) -> str:
    if not goal.terms:
        return goal.phrases[0].decode() if goal.phrases else ""
    return max(zip(weights, goal.terms, strict=True), key=lambda pair: pair[0])[1].word


def _test_of_first(ranked: list[Candidate], recalled: Recalled) -> str:
    first = ranked[0].path
    if path_class(first) is PathClass.TEST:
        return ""
    return next(iter(recalled.names.neighbours(first)), b"").decode(errors="replace")


def _one_line(goal: str) -> str:
    text = "".join(char if char.isprintable() else " " for char in goal[: 4 * GOAL_CHARACTERS])
    text = " ".join(text.split())
    return text if len(text) <= GOAL_CHARACTERS else text[: GOAL_CHARACTERS - 1] + "…"


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
    if not (goal.texts or goal.places):
        return (
            "The goal names nothing to look for: give a symbol, an error message or a file.",
            "Pass changed_files to start from what was edited.",
        )
    return (
        f"Run search_content for another spelling of {word!r}, or for a symbol you know.",
        "Run find_files for a part of the file's name.",
        "Raise budget_tokens if it is very small.",
    )
