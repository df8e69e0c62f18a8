"""Read-only git queries. Each may return `None`: no git, no repository, no commit.

Git never writes to the repository for us: no lock is taken, and no program that the repository's
own configuration names (hooks, monitors, external diffs) is run.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import NamedTuple

from triseek.ipc import children

_TIMEOUT_S = 10
_QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Head(NamedTuple):
    """The checked-out commit and branch."""

    commit: str
    """The full hash; empty before the first commit."""
    branch: str
    """Empty if no branch is checked out."""


def head(root: str | bytes | os.PathLike[str]) -> Head | None:
    """Return the commit and branch checked out at `root`; `None` if git cannot tell."""
    commit = ask(root, "rev-parse", "--verify", "--quiet", "HEAD")
    branch = ask(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    if commit is None and branch is None:
        return None
    return Head(_text(commit), _text(branch))


def changed_since(root: str | bytes | os.PathLike[str], commit: str) -> list[bytes] | None:
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


def ask(root: str | bytes | os.PathLike[str], *arguments: str) -> bytes | None:
    """Run git at `root` and return its output; None if it fails or is not installed."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    try:
        process = children.run(
            ["git", *_QUIET, *arguments],
            timeout=_TIMEOUT_S,
            cwd=os.fsencode(root),
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout if process.returncode == 0 else None


def _text(output: bytes | None) -> str:
    return (output or b"").decode("utf-8", "replace").strip()
