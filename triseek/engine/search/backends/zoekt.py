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
from triseek.query.regex.go import literal, wider
from triseek.zoekt import checkout

if TYPE_CHECKING:
    from collections.abc import Generator

    from triseek.engine.search.backends.base import Batch
    from triseek.engine.search.query import Query
    from triseek.model.code_search import CodeResult, CodeSource, Repository
    from triseek.model.search import Totals
    from triseek.zoekt.checkout import Comparison

FILES_MAX = 1_000_000
"""Most files that are asked for. If more match, the answer says that it is incomplete."""
SECONDS_MAX = 20.0
"""Time limit of the cluster, if the request has none."""
_UNREAD = (r"content:NOT-INDEXED:\x{20}", r"content:\A\x{FFFD}\x{FFFD}")
"""Matches the files whose text Zoekt does not search: what it has in place of the content of those
that are too large, too small or binary, and the mark of UTF-16."""


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


def repository_of(root: str, source: CodeSource, name: str = "") -> Repository:
    """Return the repository of a cluster that a folder belongs to.

    name: its name on the cluster; "" for that which the folder's git repository says.

    Raises:
        InvalidRequest: The cluster knows no such repository.
        BackendFailure: No host of the cluster answered.
    """
    names = [name] if name else checkout.names_of(root)
    query = f"r:^(?:{'|'.join(map(literal, names))})$"
    known = {each.name: each for each in source.repositories(query).repositories}
    for each in names:
        if each in known:
            return known[each]
    raise InvalidRequest(
        f"the cluster has no repository named {' or '.join(names)}, which this folder would be",
        next_step="Name it with --repo, or search the whole cluster with `triseek cluster search`.",
        tool_step="Leave out the backend: the tools search this folder without the cluster.",
    )


def _ask(query: Query, source: CodeSource) -> _Answer:
    """Compare the tree with its index, and ask which files may match."""
    request = query.request
    repository = repository_of(query.root, source, request.repository)
    branch = checkout.branch_of(query.root, repository)
    comparison = checkout.compare(query.root, repository, branch)
    prefix = checkout.prefix_of(query.root)
    pattern = wider(query.pattern.tree)
    words = [f"type:filename case:yes r:^{literal(repository.name)}$"]
    if prefix:
        words.append(f"f:^{literal(prefix.decode('utf-8', 'replace'))}")
    everything = " ".join(words)
    words.append(f"({' or '.join((f'content:{pattern}', *_UNREAD))})" if pattern else "")
    result = _files(source, " ".join(words))
    problems = [comparison.doubt, *_problems(result)]
    # An indexer may have left out files without a trace: then only its list of files tells.
    is_whole = len(repository.branches) == 1 and repository.files == comparison.stored
    if pattern and comparison.same is not None and not is_whole:
        listed = _files(source, everything)
        problems += _problems(listed)
        known = {file.path for file in listed.files if not file.branches or branch in file.branches}
        comparison = comparison._replace(
            same=frozenset(path for path in comparison.same if prefix + path in known)
        )
    commits = {commit for _, commit in repository.branches}
    if any(file.version and file.version not in commits for file in result.files):
        problems.append("the cluster's index changed during the search; search again")
    size = len(prefix)
    matched = frozenset(file.path[size:] for file in result.files if file.path.startswith(prefix))
    return _Answer(comparison, matched, tuple(dict.fromkeys(filter(None, problems))))


def _files(source: CodeSource, query: str) -> CodeResult:
    left = budget.left()
    seconds = SECONDS_MAX if left == math.inf else max(0.1, 0.8 * left)
    return source.search(
        CodeRequest(query=query, max_files=FILES_MAX, max_matches=FILES_MAX, seconds=seconds)
    )


def _problems(result: CodeResult) -> list[str]:
    cut = result.file_count > len(result.files)
    return [*result.partial, *(["the cluster cut its list of files"] if cut else ())]
