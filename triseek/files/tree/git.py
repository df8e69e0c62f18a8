"""Read-only git queries. Each may return `None`: no git, no repository, no commit.

Git never writes to the repository for us: no lock is taken, and no program that the repository's
own configuration names (hooks, monitors, external diffs, filters, transports) is run.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from triseek.ipc import children
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TIMEOUT_S = 10
_QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_LOCAL = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""What a partial clone lacks is not fetched: a configuration names the program that would do so."""
_FILTERS = r"^filter\..*\.(clean|process)$"
_OWN_SCOPES = (b"local", b"worktree")
_FIELDS = {b"1": 7, b"u": 9, b"?": 0}
"""Blanks before the path in a record of `git status`, by its kind. Renames are turned off."""
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


Folder: TypeAlias = "str | bytes | os.PathLike[str]"


class Head(NamedTuple):
    """The checked-out commit and branch."""

    commit: str
    """The full hash; empty before the first commit."""
    branch: str
    """Empty if no branch is checked out."""


class Dirty(NamedTuple):
    """The differences between a working tree and its commit."""

    commit: str
    """Full hash; empty before the first commit."""
    branch: str
    """Empty if no branch is checked out."""
    files: Mapping[bytes, str]
    """Path below the root to git's two letters for it, e.g. `.M`, `A.`, `R.`; `??` untracked."""
    lines: Mapping[bytes, int]
    """Path to the number of lines added and removed, for the files whose lines git counts."""


def head(root: Folder) -> Head | None:
    """Return the commit and branch checked out at `root`; `None` if git cannot tell."""
    commit = ask(root, "rev-parse", "--verify", "--quiet", "HEAD")
    branch = ask(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    if commit is None and branch is None:
        return None
    return Head(_text(commit), _text(branch))


def changed_since(root: Folder, commit: str) -> list[bytes] | None:
    """Return the paths below `root` that differ from `commit`, untracked ones included; sorted.

    They are raw bytes, relative to `root`. Deleted files are among them, ignored files are not.
    Returns `None` if git cannot tell, for instance because the commit is gone.
    """
    if not _COMMIT.fullmatch(commit):
        return None
    tracked = ask(
        root, "diff", "--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff",
        "--ignore-submodules=all", commit, "--",
    )  # fmt: skip
    untracked = ask(root, "ls-files", "-z", "--others", "--exclude-standard")
    if tracked is None or untracked is None:
        return None
    return sorted({path for path in (tracked + untracked).split(b"\0") if path})


def dirty(root: Folder) -> Dirty | None:
    """Return the differences between the tree at `root` and its commit; None if git cannot tell."""
    output = ask(
        root, "status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all",
        "--ignore-submodules=all", "--no-renames", "--", ".",
    )  # fmt: skip
    if output is None:
        return None
    prefix = (ask(root, "rev-parse", "--show-prefix") or b"").removesuffix(b"\n")
    commit = branch = b""
    files: dict[bytes, str] = {}
    for record in output.split(b"\0"):
        kind, _, rest = record.partition(b" ")
        if kind == b"#":
            name, _, value = rest.partition(b" ")
            commit = value if name == b"branch.oid" else commit
            branch = value if name == b"branch.head" else branch
        elif kind in _FIELDS:
            *fields, path = rest.split(b" ", _FIELDS[kind])
            letters = fields[0] if fields else b"??"
            files[path.removeprefix(prefix)] = letters.decode("ascii", "replace")
    return Dirty(
        "" if commit == b"(initial)" else commit.decode("ascii", "replace"),
        "" if branch == b"(detached)" else branch.decode("utf-8", "replace"),
        files,
        dict(_counted(root)),
    )


def _counted(root: Folder) -> Iterator[tuple[bytes, int]]:
    output = ask(
        root, "diff", "--numstat", "-z", "--relative", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--ignore-submodules=all", "HEAD", "--",
    )  # fmt: skip
    for record in (output or b"").split(b"\0"):
        added, _, rest = record.partition(b"\t")
        removed, _, path = rest.partition(b"\t")
        if path and added.isdigit() and removed.isdigit():
            yield path, int(added) + int(removed)


def identity(root: Folder) -> str:
    """Return an identity by which a repository is recognised on another machine; "" if unknown.

    It is the hashes of the first commits, which every clone with the full history has. A shallow
    clone does not have them.
    """
    if (ask(root, "rev-parse", "--is-shallow-repository") or b"true").strip() != b"false":
        return ""
    output = ask(root, "rev-list", "--max-parents=0", "HEAD")
    roots = sorted((output or b"").decode("ascii", "replace").split())
    return " ".join(roots[:8])


def is_same(one: str, other: str) -> bool | None:
    """Return whether two identities are of the same repository; None if one is unknown.

    One first commit in common is enough, because merging in another history adds first commits.
    """
    if not one or not other:
        return None
    return not set(one.split()).isdisjoint(other.split())


def ask(root: Folder, *arguments: str) -> bytes | None:
    """Run git at `root` and return its output; None if it fails or is not installed."""
    options = _without_filters(root) if arguments[0] in ("diff", "status") else []
    if options is None:
        return None
    process = _run(root, *options, *arguments)
    return process.stdout if process is not None and process.returncode == 0 else None


def _run(root: Folder, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    try:
        return children.run(
            ["git", *_QUIET, *arguments],
            timeout=min(_TIMEOUT_S, budget.left()),
            cwd=os.fsencode(root),
            env=environment | _LOCAL,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _without_filters(root: Folder) -> list[str] | None:
    """Return options that turn off the filters of the repository's own configuration.

    To compare a file with its commit, git passes it through the program that a filter names. Those
    of the user's configuration, as Git LFS has one, stay. Files of the others may seem changed.
    Returns None if there may be a filter that cannot be turned off.
    """
    names = ("config", "-z", "--show-scope", "--name-only", "--get-regexp", _FILTERS)
    listed = _run(root, *names)
    if listed is None or listed.returncode not in (0, 1):  # 1: there are none
        return None
    fields = listed.stdout.split(b"\0")
    options: list[str] = []
    for scope, key in zip(fields[::2], fields[1::2], strict=False):
        if scope not in _OWN_SCOPES:
            continue
        if b"=" in key:  # the option would name another
            return None
        driver = os.fsdecode(key.rpartition(b".")[0])
        options += ["-c", f"{os.fsdecode(key)}=", "-c", f"{driver}.required=false"]
    return options


def _text(output: bytes | None) -> str:
    return (output or b"").decode("utf-8", "replace").strip()
