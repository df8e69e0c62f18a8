"""Narrows a query to some of the repositories that a host holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
_TYPE_REPO = re.compile(r"(?:^|\s)(?:t|type):repo(?:\s|$)")


def lists_repositories(query: str) -> bool:
    """Return whether a query asks for repositories instead of files."""
    return _TYPE_REPO.search(query) is not None


def may_match(query: str, repository: str) -> bool:
    """Return whether files of a repository can match; in doubt True."""
    return not query or bool(repository)


def without(query: str, repositories: Collection[str]) -> str:
    """Return a query that matches what `query` does, but not in some repositories."""
    return f"({query} ) -r:{_names(repositories)}"


def only(query: str, repositories: Collection[str]) -> str:
    """Return a query that matches what `query` does in some repositories."""
    return f"({query} ) r:{_names(repositories)}"


def _names(repositories: Collection[str]) -> str:
    names = "|".join(_SPECIAL.sub(r"\\\g<0>", name) for name in sorted(repositories))
    pattern = f"^(?:{names})$".replace("\\", "\\\\").replace('"', '\\"')
    return f'"{pattern}"'


def file_query(repository: str, path: str) -> str:
    """Return the query that matches one file."""
    return f"r:{_names([repository])} f:{_names([path])} case:yes"
