"""What git knows about a tree. Everything here may be `None`: no git, no repository, no commit.

Git is asked, never told: no lock is taken, and nothing the repository's own configuration names
(hooks, monitors, external diffs) is run.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import NamedTuple

from triseek.files.containment import as_regular
from triseek.ipc import children

_TIMEOUT_S = 10
_QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Head(NamedTuple):
    """What is checked out."""

    commit: str
    """Its full hash; empty before the first commit."""
    branch: str
    """Empty when no branch is checked out."""


def head(root: str | bytes | os.PathLike[str]) -> Head | None:
    """What is checked out at `root`; `None` if that cannot be told."""
    commit = ask(root, "rev-parse", "--verify", "--quiet", "HEAD")
    branch = ask(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    if commit is None and branch is None:
        return None
    return Head(_text(commit), _text(branch))


def changed_since(root: str | bytes | os.PathLike[str], commit: str) -> list[bytes] | None:
    """Paths below `root` that differ from `commit`, untracked ones included; sorted.

    Relative to `root`, raw bytes; deleted files are among them. Files git ignores are not.
    `None` if it cannot be told, for instance because the commit is gone.
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


def exclude_sources(root: bytes, git: bytes) -> list[bytes]:
    """The files that say which `info/exclude` speaks for a repository, and that file; absolute.

    `git` is the absolute path of its `.git`. In a worktree or submodule that is a file which names
    a folder, and `commondir` in that folder names where `info` is. Any of it may be absent; what
    ends in `/.` is there once the file has become a folder.
    `files.ignore` reads them, as ripgrep does: a relative path counts from `root`.
    """
    if not os.path.isfile(git):  # noqa: PTH113
        return [os.path.join(git, b"info", b"exclude")]  # noqa: PTH118
    as_folder, line = os.path.join(git, b"."), _first_line(git)  # noqa: PTH118
    if not line.startswith(b"gitdir: "):
        return [as_folder]
    real = os.path.join(root, line[len(b"gitdir: ") :])  # noqa: PTH118
    pointer = os.path.join(real, b"commondir")  # noqa: PTH118
    common = _first_line(pointer)
    start = real if common.startswith(b".") else root
    exclude = os.path.join(start, common, b"info", b"exclude")  # noqa: PTH118
    return [as_folder, pointer, *([exclude] if common else [])]


def exclude_file(start: bytes, git: bytes) -> bytes | None:
    """Return the `info/exclude` that a `.git` leads to, relative paths counted from `start`."""
    last = exclude_sources(start, git)[-1]
    return last if last.endswith(b"/info/exclude") and os.path.isfile(last) else None  # noqa: PTH113


def _first_line(path: bytes) -> bytes:
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        with open(as_regular(os.open(path, flags)), "rb") as file:  # noqa: PTH123
            return file.readline().removesuffix(b"\n").removesuffix(b"\r")
    except OSError:
        return b""


def ask(root: str | bytes | os.PathLike[str], *arguments: str) -> bytes | None:
    """What git writes when it is asked this at `root`; None if it fails, or is not there."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    try:
        done = children.run(
            ["git", *_QUIET, *arguments],
            timeout=_TIMEOUT_S,
            cwd=os.fsencode(root),
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


def _text(output: bytes | None) -> str:
    return (output or b"").decode("utf-8", "replace").strip()
