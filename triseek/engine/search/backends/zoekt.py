"""The zoekt backend: a cluster says which files may match, and their lines are read here.

The tree that is searched is on this machine, in a repository that the cluster has indexed. The
cluster is asked for the names of the files that match a wider pattern (`query.regex.go`). They are
read here, together with all files that are not established to be as they were indexed
(`zoekt.checkout`), and with those that Zoekt lists but does not index. So every line of the answer
was read during the search, and the rows are those of every other backend.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.search.backends import scan
from triseek.errors import InvalidRequest
from triseek.files.tree.walk import walk
from triseek.model import budget
from triseek.model.code_search import CodeRequest
from triseek.query.regex.go import in_any_case, literal, wider
from triseek.zoekt import checkout
from triseek.zoekt.checkout import Comparison

if TYPE_CHECKING:
    from collections.abc import Generator

    from triseek.engine.search.backends.base import Batch
    from triseek.engine.search.query import Query
    from triseek.model.code_search import CodeFile, CodeResult, CodeSource
    from triseek.model.search import Totals

FILES_MAX = 1_000_000
"""Most files that are asked for. If more match, the answer says that it is incomplete."""
SECONDS_MAX = 20.0
"""Time limit of the cluster, if the request has none."""
_UNREAD = (r"content:NOT-INDEXED:\x{20}", r"content:\A\x{FFFD}\x{FFFD}")
"""Matches the files whose text Zoekt does not search: what it has in place of the content of those
that are too large, too small or binary, and the mark of UTF-16."""

_NOTHING_SAME = Comparison(frozenset(), frozenset(), 0, "")
"""Every file is read: the pattern may match in any."""
_REPLACED = "the cluster answered from another index than it listed; search again"


class _Answer(NamedTuple):
    """What the cluster knows of a repository."""

    comparison: Comparison
    matched: frozenset[bytes]
    """Files that may match, relative to the root."""
    problems: tuple[str, ...]
    """Why files may be missing from `matched`."""


def search(query: Query, totals: Totals, source: CodeSource) -> Generator[Batch, None, None]:
    """Yield the results in path order.

    Raises:
        InvalidRequest: The cluster does not know this repository, or the request asks for what
            does not match.
        BackendFailure: No host of the cluster answered.
        InvalidQuery, OutOfTime, RepoNotDetected: As `scan.search`.
    """
    request = query.request
    if query.lists_misses:
        raise InvalidRequest(
            "the zoekt backend finds what matches: it has no use for -v, --passthru and "
            "--files-without-match, which read every file",
            next_step="Leave out --backend zoekt.",
            tool_step="Leave out the backend.",
        )
    if request.max_count == 0:
        return
    with ThreadPoolExecutor(1, "triseek-zoekt") as pool:
        asked = pool.submit(budget.carried(partial(_ask, query, source)))
        walked = walk(query.root, request.scope, within=request.paths)
        answer = asked.result()
    same = answer.comparison.same
    named = frozenset(query.selection.files)
    read = [
        path
        for path in walked.paths
        if path in answer.matched or path in named or not _is_known(path, answer.comparison)
    ]
    totals.skipped += walked.skipped
    totals.files_searched += len(walked.paths) - len(read)
    totals.incomplete = "; ".join(answer.problems)
    if same is None:
        totals.freshness = "unverified"
    yield from scan.search_files(query, totals, read)


def _is_known(path: bytes, comparison: Comparison) -> bool:
    """Return whether the cluster's answer decides about a file."""
    if comparison.same is not None:
        return path in comparison.same
    return path not in comparison.differing


def _ask(query: Query, source: CodeSource) -> _Answer:
    """Compare the tree with its index, and ask which files may match.

    If the index was replaced in between, this is done once more.
    """
    answer = _ask_once(query, source)
    return _ask_once(query, source) if _REPLACED in answer.problems else answer


def _ask_once(query: Query, source: CodeSource) -> _Answer:
    repository = checkout.repository_of(query.root, source, query.request.repository)
    pattern = _pattern(query)
    if not pattern:
        return _Answer(_NOTHING_SAME, frozenset(), ())
    branch = checkout.branch_of(query.root, repository)
    comparison = checkout.compare(query.root, repository, branch)
    prefix = checkout.prefix_of(query.root)
    words = [f"type:filename case:yes r:^{literal(repository.name)}$"]
    if prefix:
        words.append(f"f:^{literal(prefix.decode('utf-8', 'replace'))}")
    everything = " ".join(words)
    either = " or ".join((pattern, *_UNREAD, *_witness(prefix, comparison)))
    result = _files(source, f"{everything} ({either} )")
    problems = [comparison.doubt, *_problems(result)]
    # An indexer may have left out files without a trace: then only its list of files tells.
    is_whole = len(repository.branches) == 1 and repository.files == comparison.stored
    if comparison.same is not None and not is_whole:
        listed = _files(source, everything)
        problems += _problems(listed)
        indexed = {file.path for file in listed.files if _is_on(branch, file)}
        comparison = comparison._replace(
            same=frozenset(path for path in comparison.same if prefix + path in indexed)
        )
    size = len(prefix)
    matched = {
        file.path[size:]: file.version for file in result.files if file.path.startswith(prefix)
    }
    commits = {commit for _, commit in repository.branches}
    tracked = comparison.same or frozenset()  # without files of submodules, which have their own
    if commits and not {matched[path] for path in matched.keys() & tracked} <= commits:
        problems.append(_REPLACED)
    return _Answer(comparison, frozenset(matched), tuple(dict.fromkeys(filter(None, problems))))


def _pattern(query: Query) -> str:
    """Return the query for files in which the pattern may match; "" for all files."""
    expression = wider(query.pattern.tree)
    if "[" not in expression:
        return expression and f"content:{expression}"
    texts = [f"content:{literal(text)}" for text in in_any_case(query.pattern.tree)]
    return f"(case:no ({' or '.join(texts)} ))" if texts else f"content:{expression}"


def _witness(prefix: bytes, comparison: Comparison) -> list[str]:
    """Return a query for one file that is indexed: with it the answer names the commit it is of."""
    if not comparison.same:
        return []
    path = (prefix + min(comparison.same, key=lambda path: (len(path), path))).decode()
    return [f"f:^{literal(path)}$"]


def _is_on(branch: str, file: CodeFile) -> bool:
    return not file.branches or branch in file.branches


def _files(source: CodeSource, query: str) -> CodeResult:
    left = budget.left()
    seconds = SECONDS_MAX if left == math.inf else max(0.1, 0.8 * left)
    return source.search(
        CodeRequest(query=query, max_files=FILES_MAX, max_matches=FILES_MAX, seconds=seconds)
    )


def _problems(result: CodeResult) -> list[str]:
    cut = result.file_count > len(result.files)
    return [*result.partial, *(["the cluster cut its list of files"] if cut else ())]
