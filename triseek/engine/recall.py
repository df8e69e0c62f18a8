"""Which files of a tree may have to do with a goal: many, cheaply, by searches and by their names.

Each term is searched for on its own, because what matters is how rare it is and how often each
file has it. Its stem is looked for anywhere in a line, so the counts include what only looks
alike; `engine.evidence` reads the best files and tells them apart.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine import bm25
from triseek.engine.path_names import PathNames
from triseek.errors import BackendFailure, FormatTooNew, IndexCorrupt, IndexUnavailable
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.engine.engine import Engine
    from triseek.engine.search import Search
    from triseek.engine.terms import Goal

SEARCHED_BLOCKS_MAX = 50_000
"""Blocks of an index that the searches of one goal may read together, rarest terms first; what is
left is everywhere, and says little."""
SEARCHES_WITHOUT_INDEX = 8
"""Each of them reads the whole tree."""
COMMON_FILES = 5_000
"""A term in more files than this brings no new candidates, once there are some."""
WEIGHED_FILES = 1_000
"""Of the candidates, those whose sizes are looked at."""
DIRTY_MAX = 64
"""Files the index does not know yet that are looked at whatever the searches found."""
_SHORTEST = 3
_SCOPE = ScopeSpec(allowlist=True)
_LINES = bm25.Field(weight=1.0, length_share=0.4)
_NAME_WORTH = 4.0
_FOLDER_WORTH = 1.0
_NO_INDEX = (BackendFailure, IndexCorrupt, IndexUnavailable, FormatTooNew)


@dataclass(slots=True)
class Recalled:
    """The candidates for one goal."""

    names: PathNames
    """Every file of the tree."""
    ranked: list[bytes]
    """Those that have any term in their text or path, best first."""
    dirty: list[bytes]
    """New and changed files that the index does not know, in path order; some of them."""
    idf: list[float] = field(default_factory=list)
    """One per term of the goal."""
    phrase_idf: list[float] = field(default_factory=list)
    """One per phrase of the goal; 0 for one that is nowhere."""


class _Tree(NamedTuple):
    names: PathNames
    dirty: list[bytes]
    indexed: bool


class _Found(NamedTuple):
    """What a search counted."""

    lines: dict[bytes, int]
    """By file; matching lines."""
    files: int


def recall(engine: Engine, goal: Goal, stop: Callable[[], bool]) -> Recalled:
    """Find the candidates; until `stop` says so.

    Raises:
        FallbackFailure: no road could answer.
    """
    tree = _tree(engine)
    stems = [term.stem for term in goal.terms]
    texts = [phrase.text for phrase in goal.phrases]
    found = _search(engine, [*stems, *texts], tree, stop)
    total = len(tree.names)
    idf = [bm25.idf(total, _containing(found.get(stem), tree.names, stem)) for stem in stems]
    phrases = [found.get(text) for text in texts]
    recalled = Recalled(
        names=tree.names,
        ranked=[],
        dirty=tree.dirty[:DIRTY_MAX],
        idf=idf,
        phrase_idf=[
            bm25.idf(total, each.files) if each and each.files else 0.0 for each in phrases
        ],
    )
    weights = [term.weight * each for term, each in zip(goal.terms, idf, strict=True)]
    weights += [
        phrase.weight * each for phrase, each in zip(goal.phrases, recalled.phrase_idf, strict=True)
    ]
    recalled.ranked = _ranked(engine, tree.names, [*stems, *texts], found, weights)
    return recalled


def searched_texts(goal: Goal) -> list[bytes]:
    """What is searched for, in lower case: the goal's stems and phrases that are long enough."""
    texts = [term.stem for term in goal.terms] + [phrase.text for phrase in goal.phrases]
    return [text for text in texts if len(text) >= _SHORTEST]


def _tree(engine: Engine) -> _Tree:
    """List the tree as it is now, with one sweep for this and all the searches."""
    if engine.has_index():
        try:
            dirty = engine.indexed().dirt().scan
            known = engine.list_files(_SCOPE, sweep=False)
            return _Tree(PathNames(list(dict.fromkeys([*known, *dirty]))), dirty, indexed=True)
        except _NO_INDEX:
            pass
    return _Tree(PathNames(list(engine.list_files(_SCOPE))), [], indexed=False)


def _search(
    engine: Engine, texts: list[bytes], tree: _Tree, stop: Callable[[], bool]
) -> dict[bytes, _Found]:
    """Count the lines of each text by file; a text that would cost too much is left out."""
    searches = {
        text: engine.search(_request(text, sweep=not tree.indexed), remember=False)
        for text in texts
        if len(text) >= _SHORTEST
    }
    costs = {text: _blocks(engine, search, tree) for text, search in searches.items()}
    found: dict[bytes, _Found] = {}
    left = SEARCHED_BLOCKS_MAX if tree.indexed else SEARCHES_WITHOUT_INDEX
    for text in sorted(searches, key=costs.__getitem__):  # stable: then most important first
        left -= costs[text]
        if stop() or (left < 0 and found):
            break
        found[text] = _counted(searches[text])
    return found


def _request(text: bytes, *, sweep: bool) -> SearchRequest:
    pattern = PatternSpec(patterns=(text.decode(),), fixed=True, case="insensitive")
    return SearchRequest(
        pattern=pattern, scope=_SCOPE, mode="count", line_numbers=False, sweep=sweep
    )


def _blocks(engine: Engine, search: Search, tree: _Tree) -> int:
    """What a search costs: blocks it may read; without an index 1, for each costs the same."""
    if not tree.indexed:
        return 1
    formula = search.plan.formula
    return sum(view.estimate(formula).blocks for view in engine.reader().views)


def _counted(search: Search) -> _Found:
    lines: dict[bytes, int] = {}
    for batch in search:
        lines.update(zip(batch.paths, batch.counts.tolist(), strict=True))
    return _Found(lines, len(lines))


def _containing(found: _Found | None, names: PathNames, stem: bytes) -> int:
    """How many files have a term; of one that was too common to look for, half of them all."""
    if found is not None:
        return found.files
    return len(names) // 2 if len(stem) >= _SHORTEST else len(names) // 4


def _ranked(
    engine: Engine,
    names: PathNames,
    texts: list[bytes],
    found: dict[bytes, _Found],
    weights: list[float],
) -> list[bytes]:
    """The candidates by BM25F over names, folders and lines; equal ones by path."""
    counts = _candidates(names, texts, found)
    rough = {path: _score(path, each, texts, weights, 1.0) for path, each in counts.items()}
    order = sorted(rough, key=lambda path: (-rough[path], path))
    head = order[:WEIGHED_FILES]
    sizes = _sizes(engine.root, head)
    mean = sum(sizes.values()) / max(len(sizes), 1) or 1.0
    exact = {path: _score(path, counts[path], texts, weights, sizes[path] / mean) for path in head}
    return sorted(exact, key=lambda path: (-exact[path], path)) + order[WEIGHED_FILES:]


def _candidates(
    names: PathNames, texts: list[bytes], found: dict[bytes, _Found]
) -> dict[bytes, dict[int, int]]:
    """By file, by number of the text: how many lines have it; 0 where only the path does."""
    counts: dict[bytes, dict[int, int]] = defaultdict(dict)
    for number in sorted(range(len(texts)), key=lambda each: _files(found, texts[each])):
        held = found.get(texts[number], _Found({}, 0))
        closed = held.files > COMMON_FILES and len(counts) >= WEIGHED_FILES
        for path, lines in held.lines.items():
            if not closed or path in counts:
                counts[path][number] = lines
        if len(texts[number]) >= _SHORTEST:
            for path in names.holding(texts[number]):
                if not closed or path in counts:
                    counts[path].setdefault(number, 0)
    return counts


def _files(found: dict[bytes, _Found], text: bytes) -> int:
    return found[text].files if text in found else 0


def _score(
    path: bytes, counts: dict[int, int], texts: list[bytes], weights: list[float], length: float
) -> float:
    """A candidate's score; `length` is its size as a share of the mean."""
    folder, _, name = path.lower().rpartition(b"/")
    score = 0.0
    for number, lines in counts.items():
        text = texts[number]
        worth = bm25.normalised(_LINES, lines, length, 1.0)
        worth += _NAME_WORTH * (text in name) + _FOLDER_WORTH * (text in folder)
        score += weights[number] * bm25.saturated(worth)
    return score


def _sizes(root: str, paths: list[bytes]) -> dict[bytes, int]:
    """Bytes by file; 0 for one that has gone."""
    lead = os.fsencode(root) + b"/"
    sizes = {}
    for path in paths:
        try:
            sizes[path] = os.lstat(lead + path).st_size
        except OSError:
            sizes[path] = 0
    return sizes
