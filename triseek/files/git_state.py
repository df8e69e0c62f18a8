"""The state of a working tree beside its commit, as a snapshot of work records it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.files.git import ask

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping


class Dirty(NamedTuple):
    """What differs from the commit."""

    commit: str
    """Full hash; empty before the first commit."""
    branch: str
    """Empty when none is checked out."""
    files: Mapping[bytes, str]
    """Path below the root to git's two letters for it, e.g. `.M`, `A.`, `R.`; `??` untracked."""
    lines: Mapping[bytes, int]
    """Lines added and removed since the commit, of the files whose lines git counts."""


def dirty(root: str | bytes | os.PathLike[str]) -> Dirty | None:
    """What differs from the commit at `root`; None where git cannot tell."""
    told = ask(
        root, "status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all",
        "--ignore-submodules=all", "--no-renames", "--", ".",
    )  # fmt: skip
    if told is None:
        return None
    prefix = (ask(root, "rev-parse", "--show-prefix") or b"").removesuffix(b"\n")
    commit = branch = b""
    files: dict[bytes, str] = {}
    for record in told.split(b"\0"):
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
"""Blanks before the path, by the kind of a record; renames are not asked for."""


def _counted(root: str | bytes | os.PathLike[str]) -> Iterator[tuple[bytes, int]]:
    told = ask(
        root, "diff", "--numstat", "-z", "--relative", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--ignore-submodules=all", "HEAD", "--",
    )  # fmt: skip
    for record in (told or b"").split(b"\0"):
        added, _, rest = record.partition(b"\t")
        removed, _, path = rest.partition(b"\t")
        if path and added.isdigit() and removed.isdigit():
            yield path, int(added) + int(removed)


def identity(root: str | bytes | os.PathLike[str]) -> str:
    """What a repository is recognised by on another machine; "" where that cannot be told.

    The hashes of its first commits, which every clone with its history has. A shallow clone does
    not have it.
    """
    if (ask(root, "rev-parse", "--is-shallow-repository") or b"true").strip() != b"false":
        return ""
    told = ask(root, "rev-list", "--max-parents=0", "HEAD")
    roots = sorted((told or b"").decode("ascii", "replace").split())
    return " ".join(roots[:8])


def is_same(one: str, other: str) -> bool | None:
    """Whether two identities are one repository's; None if one of them is not known.

    One first commit in common is enough: a history that is merged in brings others.
    """
    if not one or not other:
        return None
    return not set(one.split()).isdisjoint(other.split())
