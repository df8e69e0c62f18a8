"""Commits → tasks, by a rule that is written down and looks at no answer.

A commit is a task if

- it is not a merge, and came after the release whose tree is searched;
- it modifies between one and six source files, all of them in that tree, and neither adds,
  deletes nor renames any (tests, documentation and data beside them do not count);
- its subject, which becomes the goal, has at least four words of letters and does not say that it
  is a release, a revert, a bump of a version, formatting, documentation alone or what a reviewer
  asked for; nor does it hold the path of a file it changed;
- no earlier task of the project has the same subject.

The oldest come first, up to a number per project: they are nearest to the tree.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_SOURCE = re.compile(
    r"\.(?:c|cc|cpp|cs|cxx|go|h|hpp|hxx|java|jsx?|kt|m|mjs|php|pl|pyi?|pyx|rb|rs|scala|swift|tsx?|vue)$"
)
_NOT_SOURCE = re.compile(
    r"(?:^|/)(?:tests?|testing|testdata|fixtures?|docs?|examples?|vendor|node_modules)/"
    r"|(?:^|/)(?:test_|conftest\.)[^/]*$|[_.-](?:test|tests|spec)\.[^/.]+$"
)
_TRIVIAL = re.compile(
    r"(?i)^(?:merge|revert|bump|release|prepare|update (?:dep|change|readme|version)|typo|"
    r"docs?[:(]|\[?docs?\b|build[:(]|ci[:(]|test[s:(]|chore\(deps|build\(deps)"
    r"|\b(?:gofmt|gofumpt|ruff|black|isort|flake8|mypy|pyupgrade|lint(?:er|ing)?|whitespace|"
    r"typos?|spelling|copyright|changelog|pre-commit|dependabot|renovate|formatting|reviews?)\b"
)
_WORDS_MIN = 4
_FILES_MAX = 6
_COMMIT = "\x01"


class Task(NamedTuple):
    """A goal, and the files that were changed to reach it."""

    goal: str
    files: frozenset[str]
    """Relative to the tree's root."""


def is_source(path: str) -> bool:
    """Whether a path is one of the files that tasks are about."""
    return bool(_SOURCE.search(path)) and not _NOT_SOURCE.search(path)


def tasks(repository: Path, base: str, tree: Path, most: int) -> list[Task]:
    """Return the first tasks of a history after `base`.

    Args:
        repository: a clone, bare or not.
        base: the commit or tag that `tree` was released from.
        tree: what is searched.
        most: tasks at most.

    Raises:
        Faulty: it is no clone, or lacks the base.
    """
    found: dict[str, Task] = {}
    for subject, changes in _commits(repository, base):
        goal = subject.strip()
        task = Task(goal, _files(changes, tree))
        named = any(path in goal for path in task.files)
        if task.files and is_telling(goal) and not named and goal not in found:
            found[goal] = task
            if len(found) == most:
                break
    return list(found.values())


def digest(found: Sequence[Task]) -> str:
    """A name for exactly these tasks, so that two runs can be known to have had the same."""
    text = "\n".join("\t".join((task.goal, *sorted(task.files))) for task in found)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def is_telling(subject: str) -> bool:
    """Whether a subject is enough to go by."""
    words = re.findall(r"[^\W\d_]{2,}", subject)
    return len(words) >= _WORDS_MIN and not _TRIVIAL.search(subject)


def _files(changes: Sequence[tuple[str, str]], tree: Path) -> frozenset[str]:
    """The sources a commit modified; none if it is not of the kind we look for."""
    sources = [(how, path) for how, path in changes if is_source(path)]
    if any(how != "M" for how, _ in sources) or not 1 <= len(sources) <= _FILES_MAX:
        return frozenset()
    if not all((tree / path).is_file() for _, path in sources):
        return frozenset()
    return frozenset(path for _, path in sources)


def _commits(repository: Path, base: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Subjects and changes after `base`, oldest first."""
    log = [
        "git", "-C", str(repository), "-c", "core.quotePath=false", "log", "--reverse",
        "--no-merges", "--name-status", "--no-renames", f"--format={_COMMIT}%s",
        f"{base}..HEAD", "--",
    ]  # fmt: skip
    done = subprocess.run(log, capture_output=True, check=False)
    if done.returncode:
        raise Faulty(f"no history after {base} in {repository}: {done.stderr.decode()[:200]}")
    for entry in done.stdout.decode("utf-8", "surrogateescape").split(_COMMIT)[1:]:
        subject, *rows = entry.splitlines()
        yield subject, [(row[:1], row.split("\t", 1)[1]) for row in rows if "\t" in row]
