"""Which folder a server answers for."""

from __future__ import annotations

import os

from triseek.files.root import git_root

VARIABLES = ("TRISEEK_REPO_ROOT", "CLAUDE_PROJECT_DIR")


def choose(given: str | None) -> str:
    """The first there is of: `--repo`, the variables, the repository around the working folder, it.

    Absolute; need not exist.
    """
    for chosen in (given, *map(os.environ.get, VARIABLES)):
        if chosen:
            return os.path.realpath(os.path.expanduser(chosen))  # noqa: PTH111
    here = os.getcwd()  # noqa: PTH109
    return git_root(here) or os.path.realpath(here)
