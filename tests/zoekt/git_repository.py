"""Git repositories of tests."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def git(tree: Path, *words: str) -> str:
    """Run git and return what it prints."""
    done = subprocess.run(
        ["git", *_IDENTITY, *words], cwd=tree, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit_all(tree: Path) -> str:
    """Commit everything that is not ignored, in a repository that is made if need be."""
    if not (tree / ".git").exists():
        git(tree, "init", "-q", "-b", "main")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "--allow-empty", "-m", "change")
    return git(tree, "rev-parse", "HEAD")
