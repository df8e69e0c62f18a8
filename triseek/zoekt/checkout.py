"""Compare a working tree with what a cluster has indexed of its repository.

A file is the same only if that is established: it is tracked, git sees no change since the indexed
commit, and git stores its bytes as they are here (no line ends or filters convert them). Every
other file has to be searched here. Without git, times decide.
"""

from __future__ import annotations

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidRequest
from triseek.files.tree import git
from triseek.files.tree.root import git_root
from triseek.files.tree.walk import walk
from triseek.model import budget
from triseek.model.plain_text import visible_line
from triseek.model.search import ScopeSpec
from triseek.query.regex.go import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.model.code_search import CodeSource, Repository

INDEXING_S = 600.0
"""How long an indexer may take: a file that changed within this time before its index was written
may have been read before it changed."""
NAME_MAX, NAMES_MAX = 500, 20
"""Characters of a name, and names: a repository's configuration may be anybody's."""
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REMOTE = re.compile(r"(?:[A-Za-z][\w+.-]*://)?(?:[^/@]*@)?([^/:]+)(?::\d+(?=/))?[:/]+(.+)")
_EVERYTHING = ScopeSpec(hidden=True, no_ignore=True)
_UNCONVERTED = ":(attr:!filter !ident !working-tree-encoding)"
"""The files that git stores as they are, but for line ends."""
_REGULAR = (b"100644", b"100755")


class Comparison(NamedTuple):
    """What of a working tree is as a cluster has indexed it. Paths are relative to the root."""

    same: frozenset[bytes] | None
    """The files whose content is the indexed one; None if no commit is known here to compare with.
    Then only the contents tell."""
    differing: frozenset[bytes]
    """Files here that are not the same, as far as they are known without a walk: changed, new and
    not ignored, converted by git. Deleted ones are among them."""
    stored: int
    """Files of the indexed commit in the whole repository; -1 if that is not known."""
    doubt: str
    """What could not be established, a clause; "" if nothing."""


def names_of(root: str) -> list[str]:
    """Return the names by which a cluster may know the repository of a folder, the likeliest first.

    They are git's setting `zoekt.name`, which Zoekt's indexer reads, then the remotes without
    scheme and `.git`, `origin` first, then the name of the repository's folder.
    """
    top = git_root(root) or root
    output = git.ask(root, "config", "-z", "--get-regexp", r"^(zoekt\.name|remote\..*\.url)$")
    entries = [line.partition("\n") for line in _texts(output)]
    named = [value for key, _, value in entries if key == "zoekt.name"]
    urls = sorted(
        ((key != "remote.origin.url", value) for key, _, value in entries if "url" in key),
        key=lambda entry: entry[0],
    )
    remotes = [_remote(url) for _, url in urls]
    names = (*named, *remotes, os.path.basename(top))  # noqa: PTH119
    return list(dict.fromkeys(name for name in names if 0 < len(name) <= NAME_MAX))[:NAMES_MAX]


def repository_of(root: str, source: CodeSource, name: str = "") -> Repository:
    """Return the repository of a cluster that a folder belongs to.

    name: its name on the cluster; "" for that which the folder's git repository says.

    Raises:
        InvalidRequest: The cluster knows no such repository.
        BackendFailure: No host of the cluster answered.
    """
    names = [name] if name else names_of(root)
    listed = source.repositories(f"r:^(?:{'|'.join(map(literal, names))})$").repositories
    by_name = {repository.name: repository for repository in listed}
    for candidate in names:
        if candidate in by_name:
            return by_name[candidate]
    raise InvalidRequest(
        f"the cluster has no repository named {visible_line(' or '.join(names))}, which this "
        "folder would be",
        next_step="Name it with --repo, or search the whole cluster with `triseek cluster search`.",
        tool_step="Leave out the backend: the tools search this folder without the cluster.",
    )


def _remote(url: str) -> str:
    """Return a remote as `host/org/repo`; "" for a folder."""
    match = _REMOTE.fullmatch(url.strip())
    if match is None or url.startswith(("/", ".", "file:")):
        return ""
    return f"{match[1]}/{match[2].strip('/').removesuffix('.git')}"


def prefix_of(root: str) -> bytes:
    """Return the path of a folder in its repository, `/`-ended; empty for the repository itself."""
    return (git.ask(root, "rev-parse", "--show-prefix") or b"").removesuffix(b"\n")


def compare(root: str, repository: Repository, branch: str) -> Comparison:
    """Compare a working tree with the commit that a branch was indexed at.

    root: An existing folder, inside the repository.
    branch: The name of one of `repository.branches`; "" if there are none, as for plain folders.
    """
    commit = dict(repository.branches).get(branch, "")
    head = git.head(root)
    if head is None:
        return _by_times(root, repository.indexed_at)
    compared = _by_git(root, commit) if _COMMIT.fullmatch(commit) else None
    if compared is not None:
        return compared
    changed = git.changed_since(root, head.commit) if head.commit else None
    if commit:
        shown = visible_line(commit[:12])
        doubt = f"the cluster has indexed commit {shown}, which git cannot compare with here"
    else:
        doubt = "the cluster does not say which commit it has indexed"
    doubt += (
        f" ({visible_line(repository.name)}): files may be missing that match only as they are here"
    )
    return Comparison(None, frozenset(changed or ()), -1, doubt)


def branch_of(root: str, repository: Repository) -> str:
    """Return the indexed branch that is nearest to what is checked out; "" if there is none."""
    head = git.head(root)
    names = dict(repository.branches)
    if head is not None:
        for name, commit in names.items():
            if commit and commit == head.commit:
                return name
        if head.branch in names:
            return head.branch
    return next(iter(names), "")


def _by_git(root: str, commit: str) -> Comparison | None:
    """Compare with a commit; None if git does not have it.

    In a partial clone git would fetch what it lacks, so there nothing is compared.
    """
    if git.ask(root, "config", "--get-regexp", r"^remote\..*\.promisor$") is not None:
        return None
    with ThreadPoolExecutor(3, "triseek-git") as pool:
        listing, listed, plain_listed = (
            pool.submit(budget.carried(partial(git.ask, root, *words)))
            for words in (
                ("ls-tree", "-r", "-l", "-z", "--full-tree", commit),
                ("ls-files", "-v", "-z"),
                ("ls-files", "-z", "--", _UNCONVERTED),
            )
        )
        changed = git.changed_since(root, commit)
        stored, tracked, plain = listing.result(), listed.result(), plain_listed.result()
    if changed is None or stored is None or tracked is None or plain is None:
        return None
    sizes = dict(_sizes(stored))
    prefix, other, unconverted = prefix_of(root), frozenset(changed), set(plain.split(b"\0"))
    same = set[bytes]()
    differing = set(other)
    for line in tracked.split(b"\0"):
        tag, path = line[:1], line[2:]
        if not path or path in other:
            continue
        # Any other tag than H means that git does not look at the file.
        if (
            tag == b"H"
            and path in unconverted
            and _is_of_size(root, path, sizes.get(prefix + path))
        ):
            same.add(path)
        else:
            differing.add(path)
    return Comparison(frozenset(same), frozenset(differing), stored.count(b"\0"), "")


def _sizes(stored: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the path and the stored size of the regular files of a commit."""
    for entry in stored.split(b"\0"):
        about, _, path = entry.partition(b"\t")
        fields = about.split()
        if len(fields) == 4 and fields[0] in _REGULAR and fields[3].isdigit():
            yield path, int(fields[3])


def _is_of_size(root: str, path: bytes, size: int | None) -> bool:
    """Return whether a regular file has its stored size, and a name that JSON can carry.

    Other line ends change the size.
    """
    if size is None or not _is_text(path):
        return False
    try:
        status = os.lstat(os.fsencode(root) + b"/" + path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == size


def _is_text(path: bytes) -> bool:
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True


def _by_times(root: str, indexed_at: float) -> Comparison:
    """Take the files as the same that did not change after the index was begun.

    A folder's change time says that entries came or went, or that it was moved: nothing below one
    that changed is the same.
    """
    if not indexed_at:
        doubt = (
            "it is not known when the cluster indexed this folder, which is in no git repository"
        )
        return Comparison(None, frozenset(), -1, doubt)
    walked = walk(root, _EVERYTHING)
    limit = indexed_at - INDEXING_S
    old = {b""}
    for folder in walked.directories:  # sorted: each after the one above it
        if folder and folder.rpartition(b"/")[0] in old and _is_older(root, folder, limit):
            old.add(folder)
    same = frozenset(
        path
        for path in walked.paths
        if path.rpartition(b"/")[0] in old and _is_text(path) and _is_older(root, path, limit)
    )
    return Comparison(same, frozenset(walked.paths) - same, -1, "")


def _is_older(root: str, path: bytes, limit: float) -> bool:
    try:
        status = os.lstat(os.fsencode(root) + b"/" + path)
    except OSError:
        return False
    return max(status.st_mtime, status.st_ctime) < limit


def _texts(output: bytes | None) -> list[str]:
    return [part.decode("utf-8", "replace") for part in (output or b"").split(b"\0") if part]
