"""context_pack: select the few files to start a task from, without a model.

Searches and path names yield many candidates (`engine.context_pack.recall`). The best are read
(`candidates`) and scored by BM25F over names, definitions and text, by phrases and by how close
together the terms are. Then signals other than words are added: files that changed, that the goal
names, that are used most, tests beside sources. Same tree, same request, same answer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.context_pack import candidates, path_names, terms
from triseek.engine.context_pack.budget import fit
from triseek.engine.context_pack.candidates import Candidate, Files
from triseek.engine.context_pack.changed_files import changed_files, uncommitted
from triseek.engine.context_pack.next_steps import next_steps
from triseek.engine.context_pack.recall import recall, searched_texts
from triseek.engine.context_pack.snippets import snippets
from triseek.engine.ranking.path_class import PathClass, path_class
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

    from triseek.engine.context_pack.recall import Recalled
    from triseek.engine.context_pack.terms import Goal
    from triseek.engine.engine import Engine
    from triseek.model.context_pack import ContextPackRequest, Intent

READ_FILES = 100
"""Candidates that are read."""
ADJACENT_OF = 8
"""Number of best candidates whose tests or sources are looked up."""
NAMED_MAX = 4
"""Files that one path in the goal may match; if more match, it names no file."""
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


class _Known(NamedTuple):
    """Facts about the tree that do not come from the text of its files."""

    recalled: Recalled
    changed: list[bytes]
    """Files that the caller reports as changed."""
    uncommitted: set[bytes]
    """Files that git reports as changed."""
    named: dict[bytes, int]
    """Files that the goal names → line number, 0 if none."""
    neighbours_of: dict[bytes, list[bytes]]
    """Cache of `neighbours`."""

    def neighbours(self, path: bytes) -> list[bytes]:
        """Return the tests of a source, or the sources of a test, likeliest first."""
        if path not in self.neighbours_of:
            names = self.recalled.names
            is_test = path_class(path) is PathClass.TEST
            look = path_names.sources_of if is_test else path_names.tests_of
            self.neighbours_of[path] = look(path, names)
        return self.neighbours_of[path]


def context_pack(
    engine: Engine, request: ContextPackRequest, stop: Callable[[], bool] = lambda: False
) -> ContextPack:
    """Return the files to start a task from.

    stop: Called between files. Once it returns True, the pack is made of the results so far and is
        marked as truncated.

    Raises:
        InvalidQuery: The goal is blank, or the intent is unknown.
        InvalidRequest: A changed file is outside of the root.
        FallbackFailure: No backend could search the tree.
    """
    intent = _intent(request)
    budget = min(max(request.budget_tokens, 1), BUDGET_TOKENS_MAX)
    most = min(max(request.max_files, 1), FILES_MAX)
    goal = terms.read(request.goal)
    facts = _known(engine, request, goal, stop)
    weights = facts.recalled.weights
    ranked = _ranked(engine, goal, intent, facts, stop)
    items = [_item(candidate, weights) for candidate in ranked[:most]]
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
            test=_test_of_first(ranked, facts) if fitted.items else "",
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
    changed = changed_files(engine.root, request.changed_files)  # raises before any work is done
    recalled = recall(engine, goal, stop)
    names = recalled.names
    named: dict[bytes, int] = {}
    for place in goal.places:
        for path in _named(place.path, recalled):
            named[path] = named.get(path) or place.line
    return _Known(
        recalled,
        [path for path in changed if path in names],
        {path for path in uncommitted(engine.root) if path in names},
        named,
        {},
    )


def _named(path: bytes, recalled: Recalled) -> list[bytes]:
    """Return the files that a path in the goal refers to.

    The path may be from another machine or folder, so leading components are dropped until it
    matches.
    """
    tail = path
    while tail:
        paths = recalled.names.ending(tail)
        if paths:
            return paths if len(paths) <= NAMED_MAX else []
        tail = tail.partition(b"/")[2]
    return []


def _ranked(
    engine: Engine, goal: Goal, intent: Intent, facts: _Known, stop: Callable[[], bool]
) -> list[Candidate]:
    """Return all candidates with a score, best first; equal scores in path order."""
    recalled, files = facts.recalled, Files(engine.root)
    wanted = [*facts.changed, *facts.named, *recalled.ranked[:READ_FILES]]
    wanted += sorted(facts.uncommitted)[:READ_FILES]
    pool = candidates.read(wanted, files, goal, recalled.weights, stop)
    pool += _dirty(goal, recalled, set(wanted), files, stop)
    candidates.rate(pool, goal, intent, recalled.weights, recalled.phrase_idf)
    pool.sort(key=_order)
    read_paths = {candidate.path for candidate in pool}
    beside = [path for path in _adjacent(pool, facts) if path not in read_paths]
    more = candidates.read(beside, files, goal, recalled.weights, stop)
    candidates.rate(more, goal, intent, recalled.weights, recalled.phrase_idf)
    pool += more
    _add_what_is_known(engine, pool, intent, facts)
    rest = [Candidate(path, 1e-6) for path in recalled.ranked[READ_FILES:]]
    return sorted((candidate for candidate in pool if candidate.score > 0), key=_order) + rest


def _dirty(
    goal: Goal, recalled: Recalled, others: set[bytes], files: Files, stop: Callable[[], bool]
) -> list[Candidate]:
    """Return candidates for the files missing in the index that contain any term.

    Files without a term are left out, as they would be once indexed. Otherwise the answer would
    depend on when the tree was indexed.
    """
    paths = [path for path in recalled.dirty if path not in others]
    pool = candidates.read(paths, files, goal, recalled.weights, stop)
    texts = searched_texts(goal)
    return [candidate for candidate in pool if candidate.holds(texts)]


def _order(candidate: Candidate) -> tuple[float, bytes]:
    return (-candidate.score, candidate.path)


def _adjacent(pool: list[Candidate], facts: _Known) -> list[bytes]:
    beside: list[bytes] = []
    for path in [*facts.changed, *(candidate.path for candidate in pool[:ADJACENT_OF])]:
        beside += facts.neighbours(path)[:1]
    return beside


def _add_what_is_known(
    engine: Engine, pool: list[Candidate], intent: Intent, facts: _Known
) -> None:
    """Add the score components that do not come from words."""
    by_path = {candidate.path: candidate for candidate in pool}
    best = max((candidate.score for candidate in pool), default=0.0) or 1.0
    by_words = {candidate.path: candidate.score for candidate in pool}
    for path in facts.changed:
        _add(by_path.get(path), _CHANGED[intent] * best, "changed_file")
    for path in sorted(facts.uncommitted - set(facts.changed)):
        whole = intent == "review" and not facts.changed
        _add(
            by_path.get(path), (_CHANGED[intent] if whole else _UNCOMMITTED) * best, "changed_file"
        )
    for path, line in facts.named.items():
        _add(by_path.get(path), _NAMED * best, "named_in_goal")
        if path in by_path:
            by_path[path].line = line
    for path, used in _frequent(engine, list(by_path)):
        _add(by_path[path], _FREQUENT * used * by_words[path], "frequently_used")
    for candidate in sorted(pool, key=_order)[:ADJACENT_OF]:
        for path in facts.neighbours(candidate.path)[:1]:
            if path_class(candidate.path) is PathClass.TEST:
                _add(by_path.get(path), _SOURCE_OF_TEST * candidate.score, "source_adjacent")
            else:
                _add(by_path.get(path), _TEST_OF_SOURCE[intent] * candidate.score, "test_adjacent")


def _add(candidate: Candidate | None, score: float, reason: str) -> None:
    if candidate is not None:
        candidate.score += score
        candidate.reasons.add(reason)  # type: ignore[arg-type]


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
    return max(zip(weights, goal.terms, strict=True), key=lambda pair: pair[0])[1].word


def _test_of_first(ranked: list[Candidate], facts: _Known) -> str:
    first = ranked[0].path
    if path_class(first) is PathClass.TEST:
        return ""
    return next(iter(facts.neighbours(first)), b"").decode(errors="replace")


def _one_line(goal: str) -> str:
    text = "".join(char if char.isprintable() else " " for char in goal[: 4 * GOAL_CHARACTERS])
    text = " ".join(text.split())
    return text if len(text) <= GOAL_CHARACTERS else text[: GOAL_CHARACTERS - 1] + "…"
