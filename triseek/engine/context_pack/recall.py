"""Candidate files for a goal: many files, found cheaply by searches and by their names.

To these come the files that somebody is working on: those that a caller names, and uncommitted
changes in git.

Each term is searched for separately, because what matters is how rare it is and how often each file
contains it. Its stem is matched anywhere in a line, so the counts include false matches;
`engine.context_pack.evidence` reads the best files and excludes those.
"""

from __future__ import annotations

import math
import os
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from triseek.engine.agent_scope import agent_scope
from triseek.engine.context_pack.candidates import Field, idf, normalised, saturated
from triseek.engine.context_pack.path_names import PathNames
from triseek.engine.context_pack.terms import PHRASE_WEIGHT
from triseek.engine.search.router import BACKEND_FAILED
from triseek.errors import InvalidRequest, OutOfTime
from triseek.files import containment
from triseek.files.tree import git
from triseek.files.tree.root import git_root
from triseek.files.tree.walk import walk_nearest
from triseek.model import budget
from triseek.model.search import PatternSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.engine.context_pack.terms import Goal
    from triseek.engine.engine import Engine
    from triseek.engine.search.search import Search

SEARCHED_BLOCKS_MAX = 50_000
"""Index blocks that all searches of one goal may read together, rarest terms first; the remaining
terms are common and carry little information."""
SEARCHES_WITHOUT_INDEX = 8
"""Searches made without an index; each of them reads the whole tree."""
LISTING_SHARE = 0.25
"""Share of the time for listing and searching in which a tree without an index is listed."""
COMMON_FILES = 5_000
"""A term in more files than this adds no new candidates, once there are `WEIGHED_FILES`."""
WEIGHED_FILES = 1_000
"""Number of candidates whose sizes are read."""
DIRTY_MAX = 64
"""Files missing in the index that are examined regardless of the search results."""
NAMED_MAX = 500
"""Paths accepted from a caller; further ones are ignored."""
UNCOMMITTED_MAX = 200
"""Uncommitted files beyond which they do not indicate what is worked on, and are ignored."""
MEANT_MAX = 4
"""Files that one path in the goal may match; if more match, it names no file."""
_SHORTEST = 3
_LINES = Field(weight=1.0, length_share=0.4)
_NAME_WORTH = 4.0
_FOLDER_WORTH = 1.0


Counts: TypeAlias = "dict[bytes, int]"
"""Path → number of its matching lines."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The candidates for one goal, and what is known of them but their text."""

    names: PathNames
    """Every file of the tree."""
    ranked: list[bytes]
    """Files with any term in their text or path, best first."""
    dirty: list[bytes]
    """New and changed files missing in the index, in path order; at most `DIRTY_MAX`."""
    weights: list[float]
    """One per term of the goal: its weight in the goal times its idf."""
    phrase_idf: list[float]
    """One per phrase of the goal; 0 for a phrase without a match."""
    changed: list[bytes]
    """Files that the caller reports as changed."""
    uncommitted: set[bytes]
    """Files that git reports as changed."""
    named: dict[bytes, int]
    """Files that the goal names → line number, 0 if none."""
    is_partial: bool
    """Whether time was up before all of the tree was listed and searched."""


class _Tree(NamedTuple):
    names: PathNames
    dirty: list[bytes]
    indexed: bool
    is_partial: bool = False


class _Hits(NamedTuple):
    by_text: dict[bytes, Counts]
    is_partial: bool


def recall(
    engine: Engine,
    goal: Goal,
    stop: Callable[[], bool],
    changed: Iterable[str] = (),
    seconds: float = math.inf,
) -> Recalled:
    """Return the candidates for a goal.

    Args:
        engine: The engine of the repository.
        goal: The goal.
        stop: Called between searches; once it returns True, no further one starts.
        changed: Paths that a caller reports as changed.
        seconds: Time for listing and searching a tree without an index.

    Raises:
        FallbackFailure: No backend could answer.
        InvalidRequest: As `changed_files`.
    """
    changed_paths = changed_files(engine.root, changed)  # raises before any work is done
    until = time.monotonic() + seconds
    tree = _tree(engine, LISTING_SHARE * seconds)
    names, texts = tree.names, goal.texts
    hits, is_partial = _search(engine, texts, tree, until, stop)
    total = max(len(names), *map(len, hits.values()), 0)  # names may be a part of the tree's
    weights = [term.weight * idf(total, _containing(hits, names, term.stem)) for term in goal.terms]
    phrase_idf = [
        idf(total, len(hits[phrase])) if hits.get(phrase) else 0.0 for phrase in goal.phrases
    ]
    phrase_weights = [PHRASE_WEIGHT * each for each in phrase_idf]
    named: dict[bytes, int] = {}
    for place in goal.places:
        for path in _meant(place.path, names):
            named[path] = named.get(path) or place.line
    return Recalled(
        names=names,
        ranked=_ranked(engine, names, texts, hits, weights + phrase_weights),
        dirty=tree.dirty[:DIRTY_MAX],
        weights=weights,
        phrase_idf=phrase_idf,
        changed=[path for path in changed_paths if path in names],
        uncommitted={path for path in uncommitted(engine.root) if path in names},
        named=named,
        is_partial=tree.is_partial or is_partial,
    )


def changed_files(root: str, named: Iterable[str]) -> list[bytes]:
    """Return a caller's paths relative to the root, each once, in order; they need not exist.

    Links are resolved, because all other data uses the tree's own names.

    Raises:
        InvalidRequest: a path names the root itself.
        PathRefused: a path leads out of the root, or names neither a regular file nor a folder.
        RepoNotDetected: the root is gone.
    """
    paths: dict[bytes, None] = {}
    for path in filter(str.strip, list(named)[:NAMED_MAX]):
        location = containment.locate(root, path.strip())
        if location.real == ".":
            raise InvalidRequest(
                f"{path[:200]!r} is the searched folder itself",
                next_step="Name changed files inside it, relative to it.",
            )
        paths[os.fsencode(location.real)] = None
    return list(paths)


def uncommitted(root: str) -> list[bytes]:
    """Return the files that git reports as changed or added since the last commit, sorted.

    Empty without git, without a commit, or beyond `UNCOMMITTED_MAX` files.
    """
    if git_root(root) is None:
        return []
    head = git.head(root)
    changed = git.changed_since(root, head.commit) if head is not None and head.commit else None
    return changed if changed is not None and len(changed) <= UNCOMMITTED_MAX else []


def _meant(path: bytes, names: PathNames) -> list[bytes]:
    """Return the files that a path in the goal refers to.

    The path may be from another machine or folder, so leading components are dropped until it
    matches.
    """
    tail = path
    while tail:
        paths = names.ending(tail)
        if paths:
            return paths if len(paths) <= MEANT_MAX else []
        tail = tail.partition(b"/")[2]
    return []


def searched_texts(goal: Goal) -> list[bytes]:
    """Return the texts to search for, in lower case: stems and phrases that are long enough."""
    return [text for text in goal.texts if len(text) >= _SHORTEST]


def _tree(engine: Engine, seconds: float) -> _Tree:
    """List the current tree, with one sweep for this and all searches.

    seconds: For listing it without an index; then the files nearest to the root are the tree.
    """
    if engine.has_index():
        try:
            dirty = engine.indexed().tree_diff().scan
            listed = engine.list_files(agent_scope(engine.root), sweep=False)
            return _Tree(PathNames(list(dict.fromkeys([*listed, *dirty]))), dirty, indexed=True)
        except BACKEND_FAILED:
            pass
    with budget.limited(seconds):
        walked = walk_nearest(engine.root, agent_scope(engine.root))
    return _Tree(PathNames(walked.paths), [], indexed=False, is_partial=walked.is_partial)


def _search(
    engine: Engine, texts: list[bytes], tree: _Tree, until: float, stop: Callable[[], bool]
) -> _Hits:
    """Count the lines with each text by file; texts beyond the cost limit are left out.

    until: When searches without an index have to end. They share the time, and count what each has
        searched in its part.
    """
    searches = {
        text: engine.search(
            SearchRequest(
                pattern=PatternSpec(patterns=(text.decode(),), fixed=True, case="insensitive"),
                scope=agent_scope(engine.root),
                mode="count",
                line_numbers=False,
                sweep=not tree.indexed,
            ),
            count_hits=False,
        )
        for text in texts
        if len(text) >= _SHORTEST
    }
    # The cost of a search: the blocks it may read; 1 without an index.
    views = engine.reader().views if tree.indexed else []
    costs = {
        text: sum(view.estimate(search.query.plan.formula).blocks for view in views) if views else 1
        for text, search in searches.items()
    }
    hits: dict[bytes, Counts] = {}
    is_partial = False
    left = SEARCHED_BLOCKS_MAX if tree.indexed else SEARCHES_WITHOUT_INDEX
    order = sorted(searches, key=costs.__getitem__)  # stable: ties by importance
    for number, text in enumerate(order):
        left -= costs[text]
        if stop() or (left < 0 and hits):
            break
        share_s = (until - time.monotonic()) / (min(len(order), SEARCHES_WITHOUT_INDEX) - number)
        with budget.limited(math.inf if tree.indexed else share_s):
            hits[text], is_whole = _counted(searches[text])
        is_partial = is_partial or not is_whole
    return _Hits(hits, is_partial)


def _counted(search: Search) -> tuple[Counts, bool]:
    """Return the counts of a search by file, and whether it came to its end."""
    counts: Counts = {}
    try:
        for batch in search:
            counts.update(zip(batch.paths, batch.counts.tolist(), strict=True))
    except OutOfTime:
        return counts, False
    finally:
        search.close()
    return counts, not search.totals.incomplete


def _containing(hits: dict[bytes, Counts], names: PathNames, stem: bytes) -> int:
    """Return the number of files with a term.

    For a term that was not searched for, estimate it as half of all files; as a fourth if the stem
    is shorter than `_SHORTEST`.
    """
    if stem in hits:
        return len(hits[stem])
    return len(names) // 2 if len(stem) >= _SHORTEST else len(names) // 4


def _ranked(
    engine: Engine,
    names: PathNames,
    texts: list[bytes],
    hits: dict[bytes, Counts],
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
    names: PathNames, texts: list[bytes], hits: dict[bytes, Counts]
) -> dict[bytes, dict[int, int]]:
    """Return path → text number → number of lines with the text; 0 if only the path has it."""
    counts: dict[bytes, dict[int, int]] = defaultdict(dict)
    by_text = [hits.get(text, {}) for text in texts]
    for number in sorted(range(len(texts)), key=lambda index: len(by_text[index])):
        text, files = texts[number], by_text[number]
        closed = len(files) > COMMON_FILES and len(counts) >= WEIGHED_FILES
        for path in (*files, *(names.holding(text) if len(text) >= _SHORTEST else ())):
            if not closed or path in counts:
                counts[path][number] = files.get(path, 0)
    return counts


def _score(
    path: bytes, counts: dict[int, int], texts: list[bytes], weights: list[float], length: float
) -> float:
    """Return a candidate's score; `length` is its size divided by the mean size."""
    folder, _, name = path.lower().rpartition(b"/")
    score = 0.0
    for number, lines in counts.items():
        text = texts[number]
        worth = normalised(_LINES, lines, length, 1.0)
        worth += _NAME_WORTH * (text in name) + _FOLDER_WORTH * (text in folder)
        score += weights[number] * saturated(worth)
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
