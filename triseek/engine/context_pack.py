"""context_pack: the few files to start a task from, found without a model.

Many candidates by searches and names (`engine.recall`), the best of them read (`candidates`),
scored by BM25F over names, definitions and text, by phrases and by how close the terms stand;
then what is known beside the words: files that changed, that the goal names, that are used most,
tests beside sources. Same tree, same request, same answer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine import adjacency, candidates, terms
from triseek.engine.candidates import Candidate, Files
from triseek.engine.changed import changed_files, uncommitted
from triseek.engine.next_steps import next_steps
from triseek.engine.pack_budget import fit
from triseek.engine.pathclass import PathClass, path_class
from triseek.engine.recall import recall, searched_texts
from triseek.engine.snippets import snippets
from triseek.errors import InvalidQuery
from triseek.model.context_pack import (
    BUDGET_TOKENS_MAX,
    FILES_MAX,
    GOAL_CHARACTERS,
    INTENTS,
    ContextPack,
    PackItem,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.engine.engine import Engine
    from triseek.engine.recall import Recalled
    from triseek.engine.terms import Goal
    from triseek.model.context_pack import ContextPackRequest, Intent

READ_FILES = 100
"""Candidates that are read."""
ADJACENT_OF = 8
"""Best candidates whose tests, or sources, are looked for."""
NAMED_MAX = 4
"""Files that one name of the goal may mean; if more have it, it is no name of a file."""
FREQUENT = 1.0
"""A frecency from which a file counts as used."""
_NAMED = 0.8
_CHANGED = {"bugfix": 0.4, "review": 1.5}
_UNCOMMITTED = 0.15
_FREQUENT = 0.1
_SOURCE_OF_TEST = 0.35
_TEST_OF_SOURCE = {"bugfix": 0.15, "review": 0.7}
"""What these add to a score, as shares of the best score by words alone (`_SOURCE_OF_TEST` and
`_TEST_OF_SOURCE`: of the neighbour's)."""


class _Known(NamedTuple):
    """What is known of the tree beside its text."""

    recalled: Recalled
    changed: list[bytes]
    """By the caller."""
    uncommitted: set[bytes]
    """By git."""
    named: dict[bytes, int]
    """Files the goal names, and the line; 0: none."""
    beside: dict[bytes, list[bytes]]
    """Tests of sources and sources of tests, as far as they have been looked for."""

    def neighbours(self, path: bytes) -> list[bytes]:
        """Tests of a source, sources of a test, the likeliest first."""
        if path not in self.beside:
            names = self.recalled.names
            is_test = path_class(path) is PathClass.TEST
            look = adjacency.sources_of if is_test else adjacency.tests_of
            self.beside[path] = look(path, names)
        return self.beside[path]


def _never() -> bool:
    return False


def context_pack(
    engine: Engine, request: ContextPackRequest, stop: Callable[[], bool] = _never
) -> ContextPack:
    """Choose the files to start a task from.

    stop: asked between files; once it says so the pack is made of what was found till then,
        and says that it is truncated.

    Raises:
        InvalidQuery: the goal is blank, or the intent is none.
        InvalidRequest: a changed file is outside of the root.
        FallbackFailure: the tree could not be searched on any road.
    """
    intent = _intent(request)
    budget = min(max(request.budget_tokens, 1), BUDGET_TOKENS_MAX)
    most = min(max(request.max_files, 1), FILES_MAX)
    goal = terms.read(request.goal)
    known = _known(engine, request, goal, stop)
    weights = _weights(goal, known)
    ranked = _ranked(engine, goal, intent, known, stop)
    items = [_item(each, weights) for each in ranked[:most]]
    fitted = fit(items, budget)
    return ContextPack(
        repo_root=os.fsencode(engine.root).decode(errors="replace"),
        intent=intent,
        goal=_one_line(request.goal),
        budget_tokens=budget,
        max_files=most,
        estimated_tokens=fitted.tokens,
        items=fitted.items,
        suggested_next_steps=next_steps(
            intent,
            goal,
            fitted.items,
            strongest=_strongest(goal, weights),
            test=_test_of_first(ranked, known) if fitted.items else "",
        ),
        truncated=fitted.cut or len(ranked) > most or stop(),
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


def _known(
    engine: Engine, request: ContextPackRequest, goal: Goal, stop: Callable[[], bool]
) -> _Known:
    changed = changed_files(engine.root, request.changed_files)  # refused before any work
    recalled = recall(engine, goal, stop)
    there = recalled.names
    named: dict[bytes, int] = {}
    for place in goal.places:
        for path in _named(place.path, recalled):
            named[path] = named.get(path) or place.line
    return _Known(
        recalled,
        [path for path in changed if path in there],
        {path for path in uncommitted(engine.root) if path in there},
        named,
        {},
    )


def _named(path: bytes, recalled: Recalled) -> list[bytes]:
    """The files a path of the goal means, which may be of another machine or folder."""
    tail = path
    while tail:
        found = recalled.names.ending(tail)
        if found:
            return found if len(found) <= NAMED_MAX else []
        tail = tail.partition(b"/")[2]
    return []


def _weights(goal: Goal, known: _Known) -> list[float]:
    return [term.weight * idf for term, idf in zip(goal.terms, known.recalled.idf, strict=True)]


def _ranked(
    engine: Engine, goal: Goal, intent: Intent, known: _Known, stop: Callable[[], bool]
) -> list[Candidate]:
    """All candidates with a score, best first; equal ones by path."""
    recalled, files = known.recalled, Files(engine.root)
    wanted = [*known.changed, *known.named, *recalled.ranked[:READ_FILES]]
    wanted += sorted(known.uncommitted)[:READ_FILES]
    found = candidates.read(wanted, files, goal, recalled.idf, stop)
    found += _dirty(goal, recalled, set(wanted), files, stop)
    candidates.rate(found, goal, intent, recalled.idf, recalled.phrase_idf)
    found.sort(key=_order)
    have = {each.path for each in found}
    beside = [path for path in _adjacent(found, known) if path not in have]
    more = candidates.read(beside, files, goal, recalled.idf, stop)
    candidates.rate(more, goal, intent, recalled.idf, recalled.phrase_idf)
    found += more
    _add_what_is_known(engine, found, intent, known)
    rest = [Candidate(path, 1e-6) for path in recalled.ranked[READ_FILES:]]
    return sorted((each for each in found if each.score > 0), key=_order) + rest


def _dirty(
    goal: Goal, recalled: Recalled, others: set[bytes], files: Files, stop: Callable[[], bool]
) -> list[Candidate]:
    """Files that the index does not know, if they have any term.

    The others are left out, as they are once they are indexed. Else the answer would depend on
    when the tree was indexed.
    """
    paths = [path for path in recalled.dirty if path not in others]
    found = candidates.read(paths, files, goal, recalled.idf, stop)
    texts = searched_texts(goal)
    return [each for each in found if each.holds(texts)]


def _order(candidate: Candidate) -> tuple[float, bytes]:
    return (-candidate.score, candidate.path)


def _adjacent(found: list[Candidate], known: _Known) -> list[bytes]:
    beside: list[bytes] = []
    for each in [*known.changed, *(candidate.path for candidate in found[:ADJACENT_OF])]:
        beside += known.neighbours(each)[:1]
    return beside


def _add_what_is_known(
    engine: Engine, found: list[Candidate], intent: Intent, known: _Known
) -> None:
    """Add to the scores what does not come from words."""
    by_path = {each.path: each for each in found}
    best = max((each.score for each in found), default=0.0) or 1.0
    by_words = {each.path: each.score for each in found}
    for path in known.changed:
        _add(by_path.get(path), _CHANGED[intent] * best, "changed_file")
    for path in sorted(known.uncommitted - set(known.changed)):
        whole = intent == "review" and not known.changed
        _add(
            by_path.get(path), (_CHANGED[intent] if whole else _UNCOMMITTED) * best, "changed_file"
        )
    for path, line in known.named.items():
        _add(by_path.get(path), _NAMED * best, "named_in_goal")
        if path in by_path:
            by_path[path].line = line
    for path, used in _frequent(engine, list(by_path)):
        _add(by_path[path], _FREQUENT * used * by_words[path], "frequently_used")
    for each in sorted(found, key=_order)[:ADJACENT_OF]:
        for path in known.neighbours(each.path)[:1]:
            if path_class(each.path) is PathClass.TEST:
                _add(by_path.get(path), _SOURCE_OF_TEST * each.score, "source_adjacent")
            else:
                _add(by_path.get(path), _TEST_OF_SOURCE[intent] * each.score, "test_adjacent")


def _add(candidate: Candidate | None, score: float, reason: str) -> None:
    if candidate is not None:
        candidate.score += score
        candidate.reasons.add(reason)  # type: ignore[arg-type]


def _frequent(engine: Engine, paths: list[bytes]) -> list[tuple[bytes, float]]:
    """Files that are used, and how much: between 0 and 1."""
    frecency = engine.frecency
    if frecency is None:
        return []
    scores = frecency.score(paths).tolist()
    return [
        (path, score / (score + 5.0))
        for path, score in zip(paths, scores, strict=True)
        if score >= FREQUENT
    ]


def _item(candidate: Candidate, weights: list[float]) -> PackItem:
    return PackItem(
        path=candidate.path.decode(errors="replace"),
        score=round(candidate.score, 1),
        reasons=tuple(sorted(candidate.reasons)),
        snippets=snippets(candidate, weights),
    )


def _strongest(goal: Goal, weights: list[float]) -> str:
    if not goal.terms:
        return goal.phrases[0].text.decode() if goal.phrases else ""
    return max(zip(weights, goal.terms, strict=True), key=lambda each: each[0])[1].word


def _test_of_first(ranked: list[Candidate], known: _Known) -> str:
    first = ranked[0].path
    if path_class(first) is PathClass.TEST:
        return ""
    return next(iter(known.neighbours(first)), b"").decode(errors="replace")


def _one_line(goal: str) -> str:
    text = "".join(char if char.isprintable() else " " for char in goal[: 4 * GOAL_CHARACTERS])
    text = " ".join(text.split())
    return text if len(text) <= GOAL_CHARACTERS else text[: GOAL_CHARACTERS - 1] + "…"
