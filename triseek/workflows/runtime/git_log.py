"""Commits that changed how often a text occurs, of repositories on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from triseek.errors import BackendFailure
from triseek.files.tree import git

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELDS = 4
_FORMAT = "--format=%H%x00%cI%x00%<(120,trunc)%an%x00%<(500,trunc)%s"
"""A subject may have any length; a cut text ends with two dots, a short one with blanks."""


class Commit(TypedDict):
    """A commit."""

    commit: str
    date: str
    """ISO 8601, of the commit."""
    author: str
    subject: str


def log(root: str, text: str, path: str, limit: int) -> list[Commit]:
    """Return the newest commits in which the number of occurrences of a text changes.

    Args:
        root: The folder of the repository.
        text: Taken literally.
        path: Of the only file whose changes count; "" for all.
        limit: Most commits.

    Raises:
        BackendFailure: git cannot say: there is none, no repository, or it takes too long.
    """
    output = git.ask(
        root, "log", f"-S{text}", f"--max-count={limit}", _FORMAT, "--no-show-signature",
        "--no-textconv", "--no-ext-diff", "--no-color", "--end-of-options", "HEAD", "--",
        *([f":(literal){path}"] if path else ["."]),
    )  # fmt: skip
    if output is None:
        raise BackendFailure(
            "git cannot list the commits of this repository: it takes too long, or a part of the "
            "history is missing; name a path, which needs less of both",
        )
    return list(_commits(output))


def _commits(output: bytes) -> Iterator[Commit]:
    for line in output.split(b"\n"):
        fields = line.decode("utf-8", "replace").split("\0", _FIELDS - 1)
        if len(fields) == _FIELDS:
            commit, date, author, subject = (field.rstrip(" ") for field in fields)
            yield Commit(commit=commit, date=date, author=author, subject=subject)
