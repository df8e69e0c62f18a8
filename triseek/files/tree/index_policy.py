"""Which folders get an index by themselves: repositories, and other folders of moderate size.

A person may have any folder indexed (`triseek build`), and an index that exists is kept up to date.
But a program that is started in the home folder, or in `/`, must not read a whole disk unasked. The
same holds for a repository there: the dotfiles of a home folder may be in git, and all else below
it is no part of that repository.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from triseek import config
from triseek.files.tree.root import git_root
from triseek.model import budget

COUNT_S = 3.0
"""Seconds after which a folder whose files are being counted is taken for a large one."""


class NotIndexed(NamedTuple):
    """Why a folder is not indexed by itself."""

    reason: str
    """One clause, without a full stop."""
    next_step: str
    """What to do instead, one sentence."""


def repository(folder: str) -> str | None:
    """Return the repository to work in from a folder; None if there is none.

    It is git's nearest one, unless that is the home folder or above it.
    """
    top = git_root(folder)
    return None if top is None or is_home_or_above(top) else top


def is_home_or_above(folder: str) -> bool:
    """Return whether a canonical folder is the home folder, a folder above it, or `/`."""
    home = os.path.expanduser("~")  # noqa: PTH111
    if os.path.dirname(folder) == folder or not os.path.isabs(home):  # noqa: PTH117, PTH120
        return os.path.dirname(folder) == folder  # noqa: PTH120
    home = os.path.realpath(home)
    return home == folder or home.startswith(folder + os.sep)


def refusal(root: str) -> NotIndexed | None:
    """Return why a canonical root is not indexed by itself; None if it may be.

    Raises:
        InvalidRequest: The setting of the limit is invalid.
        RepoNotDetected: There is no such folder.
    """
    reason = _too_wide(root)
    if reason is None and repository(root) is None:
        most = config.read().index_auto_max_files
        if not _has_at_most(root, most):
            reason = f"{root!r} is in no git repository and holds more than {most:,} files"
    if reason is None:
        return None
    return NotIndexed(
        reason,
        "Name a path in it, or start in the repository you mean; "
        f"`triseek build {root}` in a terminal indexes it all the same.",
    )


def _too_wide(root: str) -> str | None:
    if os.path.dirname(root) == root:  # noqa: PTH120
        return f"{root!r} is the whole file system"
    if is_home_or_above(root):
        home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
        return f"{root!r} {'is' if home == root else 'holds'} the home folder"
    return None


def _has_at_most(root: str, most: int) -> bool:
    """Return whether an index of a folder would hold at most so many files and folders."""
    # Imported here: finding a root is a part of every command, and most never count files.
    from triseek.files.tree.walk import walk_nearest
    from triseek.model.search import ScopeSpec

    with budget.limited(COUNT_S):
        return not walk_nearest(root, ScopeSpec(allowlist=True), entries_max=most).is_partial
