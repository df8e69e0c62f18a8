"""Candidate files for a goal: many files, found cheaply by searches and by their names.

Each term is searched for separately, because what matters is how rare it is and how often each file
contains it. Its stem is matched anywhere in a line, so the counts include false matches;
`engine.context_pack.evidence` reads the best files and excludes those.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.context_pack import bm25
from triseek.engine.context_pack.path_names import PathNames
from triseek.engine.search.router import BACKEND_FAILED
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.engine.context_pack.terms import Goal
    from triseek.engine.engine import Engine
    from triseek.engine.search.search import Search

SEARCHED_BLOCKS_MAX = 50_000
"""Index blocks that all searches of one goal may read together, rarest terms first; the remaining
terms are common and carry little information."""
SEARCHES_WITHOUT_INDEX = 8
"""Searches made without an index; each of them reads the whole tree."""
COMMON_FILES = 5_000
"""A term in more files than this adds no new candidates, once there are `WEIGHED_FILES`."""
WEIGHED_FILES = 1_000
"""Number of candidates whose sizes are read."""
DIRTY_MAX = 64
"""Files missing in the index that are examined regardless of the search results."""
_SHORTEST = 3
_SCOPE = ScopeSpec(allowlist=True)
_LINES = bm25.Field(weight=1.0, length_share=0.4)
_NAME_WORTH = 4.0
_FOLDER_WORTH = 1.0


@dataclass(slots=True)
class Recalled:
    """The candidates for one goal."""

    names: PathNames
    """Every file of the tree."""
    ranked: list[bytes]
    """Files with any term in their text or path, best first."""
    dirty: list[bytes]
    """New and changed files missing in the index, in path order; at most `DIRTY_MAX`."""
    idf: list[float] = field(default_factory=list)
    """One per term of the goal."""
    weights: list[float] = field(default_factory=list)
    """One per term of the goal: its weight in the goal times its idf."""
    phrase_idf: list[float] = field(default_factory=list)
    """One per phrase of the goal; 0 for a phrase without a match."""


class _Tree(NamedTuple):
    names: PathNames
    dirty: list[bytes]
    indexed: bool


class _Found(NamedTuple):
    """Counts from one search."""

    lines: dict[bytes, int]
    """Path → number of matching lines."""
    files: int


def recall(engine: Engine, goal: Goal, stop: Callable[[], bool]) -> Recalled:
    """Return the candidates for a goal; no further search starts once `stop` returns True.

    Raises:
        FallbackFailure: No backend could answer.
    """
    tree = _tree(engine)
    stems = [term.stem for term in goal.terms]
    texts = [phrase.text for phrase in goal.phrases]
    hits = _search(engine, [*stems, *texts], tree, stop)
    total = len(tree.names)
    idf = [bm25.idf(total, _containing(hits.get(stem), tree.names, stem)) for stem in stems]
    phrases = [hits.get(text) for text in texts]
    recalled = Recalled(
        names=tree.names,
        ranked=[],
        dirty=tree.dirty[:DIRTY_MAX],
        idf=idf,
        weights=[term.weight * each for term, each in zip(goal.terms, idf, strict=True)],
        phrase_idf=[
            bm25.idf(total, each.files) if each and each.files else 0.0 for each in phrases
        ],
    )
    phrase_weights = [
        phrase.weight * each for phrase, each in zip(goal.phrases, recalled.phrase_idf, strict=True)
    ]
    weights = recalled.weights + phrase_weights
    recalled.ranked = _ranked(engine, tree.names, [*stems, *texts], hits, weights)
    return recalled


def searched_texts(goal: Goal) -> list[bytes]:
    """Return the texts to search for, in lower case: stems and phrases that are long enough."""
    texts = [term.stem for term in goal.terms] + [phrase.text for phrase in goal.phrases]
    return [text for text in texts if len(text) >= _SHORTEST]


def _tree(engine: Engine) -> _Tree:
    """List the current tree, with one sweep for this and all searches."""
    if engine.has_index():
        try:
            dirty = engine.indexed().tree_diff().scan
            listed = engine.list_files(_SCOPE, sweep=False)
            return _Tree(PathNames(list(dict.fromkeys([*listed, *dirty]))), dirty, indexed=True)
        except BACKEND_FAILED:
            pass
    return _Tree(PathNames(list(engine.list_files(_SCOPE))), [], indexed=False)


def _search(
    engine: Engine, texts: list[bytes], tree: _Tree, stop: Callable[[], bool]
) -> dict[bytes, _Found]:
    """Count the lines with each text by file; texts beyond the cost limit are left out."""
    searches = {
        text: engine.search(_request(text, sweep=not tree.indexed), remember=False)
        for text in texts
        if len(text) >= _SHORTEST
    }
    costs = {text: _blocks(engine, search, tree) for text, search in searches.items()}
    hits: dict[bytes, _Found] = {}
    left = SEARCHED_BLOCKS_MAX if tree.indexed else SEARCHES_WITHOUT_INDEX
    for text in sorted(searches, key=costs.__getitem__):  # stable: ties by importance
        left -= costs[text]
        if stop() or (left < 0 and hits):
            break
        hits[text] = _counted(searches[text])
    return hits


def _request(text: bytes, *, sweep: bool) -> SearchRequest:
    pattern = PatternSpec(patterns=(text.decode(),), fixed=True, case="insensitive")
    return SearchRequest(
        pattern=pattern, scope=_SCOPE, mode="count", line_numbers=False, sweep=sweep
    )


def _blocks(engine: Engine, search: Search, tree: _Tree) -> int:
    """Return the cost of a search: the blocks it may read; 1 without an index."""
    if not tree.indexed:
        return 1
    formula = search.plan.formula
    return sum(view.estimate(formula).blocks for view in engine.reader().views)


def _counted(search: Search) -> _Found:
    lines: dict[bytes, int] = {}
    for batch in search:
        lines.update(zip(batch.paths, batch.counts.tolist(), strict=True))
    return _Found(lines, len(lines))


def _containing(hits: _Found | None, names: PathNames, stem: bytes) -> int:
    """Return the number of files with a term.

    For a term that was not searched for, estimate it as half of all files; as a fourth if the stem
    is shorter than `_SHORTEST`.
    """
    if hits is not None:
        return hits.files
    return len(names) // 2 if len(stem) >= _SHORTEST else len(names) // 4


def _ranked(
    engine: Engine,
    names: PathNames,
    texts: list[bytes],
    hits: dict[bytes, _Found],
    weights: list[float],
) -> list[bytes]:
    """Return the candidates, best first, by BM25F over names, folders and lines; then by path."""
    counts = _candidates(names, texts, hits)
    rough = {path: _score(path, lines, texts, weights, 1.0) for path, lines in counts.items()}
    order = sorted(rough, key=lambda path: (-rough[path], path))
    head = order[:WEIGHED_FILES]
    sizes = _sizes(engine.root, head)
    mean = sum(sizes.values()) / max(len(sizes), 1) or 1.0
    exact = {path: _score(path, counts[path], texts, weights, sizes[path] / mean) for path in head}
    return sorted(exact, key=lambda path: (-exact[path], path)) + order[WEIGHED_FILES:]


def _candidates(
    names: PathNames, texts: list[bytes], hits: dict[bytes, _Found]
) -> dict[bytes, dict[int, int]]:
    """Return path → text number → number of lines with the text; 0 if only the path has it."""
    counts: dict[bytes, dict[int, int]] = defaultdict(dict)
    for number in sorted(range(len(texts)), key=lambda index: _files(hits, texts[index])):
        text_hits = hits.get(texts[number], _Found({}, 0))
        closed = text_hits.files > COMMON_FILES and len(counts) >= WEIGHED_FILES
        for path, lines in text_hits.lines.items():
            if not closed or path in counts:
                counts[path][number] = lines
        if len(texts[number]) >= _SHORTEST:
            for path in names.holding(texts[number]):
                if not closed or path in counts:
                    counts[path].setdefault(number, 0)
    return counts


def _files(hits: dict[bytes, _Found], text: bytes) -> int:
    return hits[text].files if text in hits else 0


def _score(
    path: bytes, counts: dict[int, int], texts: list[bytes], weights: list[float], length: float
) -> float:
    """Return a candidate's score; `length` is its size divided by the mean size."""
    folder, _, name = path.lower().rpartition(b"/")
    score = 0.0
    for number, lines in counts.items():
        text = texts[number]
        worth = bm25.normalised(_LINES, lines, length, 1.0)
        worth += _NAME_WORTH * (text in name) + _FOLDER_WORTH * (text in folder)
        score += weights[number] * bm25.saturated(worth)
    return score


def _sizes(root: str, paths: list[bytes]) -> dict[bytes, int]:
    """Return path → size in bytes; 0 for a file that no longer exists."""
    lead = os.fsencode(root) + b"/"
    sizes = {}
    for path in paths:
        try:
            sizes[path] = os.lstat(lead + path).st_size
        except OSError:
            sizes[path] = 0
    return sizes
