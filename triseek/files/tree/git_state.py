"""The uncommitted state of a working tree, as a snapshot records it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.files.tree.git import ask

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping


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


def dirty(root: str | bytes | os.PathLike[str]) -> Dirty | None:
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


_FIELDS = {b"1": 7, b"u": 9, b"?": 0}
"""Blanks before the path, by the kind of record. Renames are turned off in the command."""


def _counted(root: str | bytes | os.PathLike[str]) -> Iterator[tuple[bytes, int]]:
    output = ask(
        root, "diff", "--numstat", "-z", "--relative", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--ignore-submodules=all", "HEAD", "--",
    )  # fmt: skip
    for record in (output or b"").split(b"\0"):
        added, _, rest = record.partition(b"\t")
        removed, _, path = rest.partition(b"\t")
        if path and added.isdigit() and removed.isdigit():
            yield path, int(added) + int(removed)


def identity(root: str | bytes | os.PathLike[str]) -> str:
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
