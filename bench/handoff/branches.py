"""Histories → topic branches → sessions, by a rule that is written down and looks at no answer.

A merge on the first-parent line before a tag is of use if

- what it merges is one line of 4 to 20 commits by one author, made on that first-parent line;
- every commit changes at least one file and at most 15, and all of them together 3 to 60;
- its goal, the title that the merge quotes or else the branch's name, has two words of letters and
  does not say that it is a release, a revert or a bump of a version.

A short session is one such branch; a long one is four of one author's, in the order in which they
were merged. No branch is in two sessions. The newest come first, up to a number per project.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

COMMITS_MIN, COMMITS_MAX = 4, 20
LEGS = 4
"""Branches of a long session."""
MERGES_MAX = 1_500
"""So far back one looks."""
_EACH_MAX, _FILES_MIN, _FILES_MAX = 15, 3, 60
_TRIVIAL = re.compile(
    r"(?i)^(?:merge|revert|bump|release|prepare|backport|version|origin|upstream|main|master|beta)\b"
    r"|^v?\d+\."
)
_PULL = re.compile(r"Merge (?:pull request|PR|branch|remote-tracking branch) ?(?:#\d+)? ?(.*)")


class Branch(NamedTuple):
    """An author's commits to one end."""

    merge: str
    """The commit that merged them."""
    author: str
    goal: str
    base: str
    """What the first of them was made on."""
    commits: tuple[str, ...]
    """Oldest first."""


class Series(NamedTuple):
    """A session: one branch, or several, one after the other."""

    project: str
    legs: tuple[Branch, ...]

    @property
    def kind(self) -> str:
        """branch, or branches."""
        return "branch" if len(self.legs) == 1 else "branches"

    @property
    def name(self) -> str:
        """Unique among all sessions."""
        return f"{self.project}-{self.kind}-{self.legs[-1].merge[:12]}"


def git(repository: Path, *words: str, given: str = "") -> str:
    """What git says; paths that are no text come through unharmed.

    Raises:
        Faulty: git fails.
    """
    argv = ["git", "-C", str(repository), "-c", "core.quotePath=false", *words]
    # Nobody's settings, and not the repository of whoever runs this.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    told = given.encode("utf-8", "surrogateescape")
    done = subprocess.run(argv, input=told, capture_output=True, check=False, env=environ)
    if done.returncode:
        raise Faulty(f"git {words[0]} in {repository}: {done.stderr.decode()[:200].strip()}")
    return done.stdout.decode("utf-8", "surrogateescape")


def sessions(project: str, found: Sequence[Branch], short: int, long: int) -> list[Series]:
    """The sessions of a project: so many short ones, then so many long ones.

    Args:
        project: its name.
        found: its branches, newest first.
        short: sessions of one branch, at most.
        long: sessions of several, at most.
    """
    of_author: dict[str, list[Branch]] = defaultdict(list)
    series = []
    for branch in found[short:]:
        mine = of_author[branch.author]
        mine.append(branch)
        if len(mine) == LEGS:
            series.append(Series(project, tuple(reversed(mine))))
            mine.clear()
    return [*(Series(project, (branch,)) for branch in found[:short]), *series[:long]]


def branches(repository: Path, until: str) -> list[Branch]:
    """The topic branches merged before `until`, newest first.

    Raises:
        Faulty: it is no clone, or lacks that tag.
    """
    parents, authors = _commits(repository, until)
    line = _first_parents(parents, git(repository, "rev-parse", f"{until}^{{commit}}").strip())
    main = frozenset(line)
    found = []
    for merge, goal in _merges(repository, until):
        commits = _line(parents[merge][1], parents, main)
        by = {authors[commit] for commit in commits}
        if COMMITS_MIN <= len(commits) <= COMMITS_MAX and len(by) == 1:
            base = parents[commits[0]][0]
            found.append(Branch(merge, by.pop(), goal, base, tuple(commits)))
    files = _files(repository, [commit for branch in found for commit in branch.commits])
    return [branch for branch in found if _fits([files[commit] for commit in branch.commits])]


def digest(names: Sequence[str]) -> str:
    """A name for exactly these sessions, so that two runs can be known to have had the same."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def goal_of(subject: str, body: str) -> str:
    """What a merge says it brings: the title below its subject, else the name of the branch."""
    title = next((line.strip() for line in body.splitlines() if line.strip()), "")
    if title and not title.startswith("*"):
        return title
    told = _PULL.match(subject)
    name = (told[1] if told else subject).replace("'", " ").strip()
    name = re.sub(r"^from\s+\S+?[/:]", "", name)
    return re.sub(r"[-_/]+", " ", name).removeprefix("Auto merge of ").strip()


def is_telling(goal: str) -> bool:
    """Whether a goal is enough to go by."""
    return len(re.findall(r"[^\W\d_]{2,}", goal)) >= 2 and not _TRIVIAL.search(goal)


def _commits(repository: Path, until: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Parents and authors of all commits before a tag."""
    parents, authors = {}, {}
    for row in git(repository, "log", "--format=%H%x01%P%x01%an", until, "--").splitlines():
        name, before, author = row.split("\x01")
        parents[name], authors[name] = before.split(), author
    return parents, authors


def _first_parents(parents: Mapping[str, list[str]], last: str) -> Iterator[str]:
    name: str | None = last
    while name is not None:
        yield name
        name = next(iter(parents.get(name, ())), None)


def _merges(repository: Path, until: str) -> Iterator[tuple[str, str]]:
    """Merges of two on the first-parent line, newest first, and their goals."""
    form = "--format=%H%x01%P%x01%s%x01%b%x02"
    log = git(repository, "log", "--first-parent", "--merges", f"-{MERGES_MAX}", form, until, "--")
    for entry in log.split("\x02"):
        fields = entry.strip("\n").split("\x01")
        if len(fields) == 4 and len(fields[1].split()) == 2:
            goal = goal_of(fields[2], fields[3])
            if is_telling(goal):
                yield fields[0], goal


def _line(last: str, parents: Mapping[str, list[str]], main: frozenset[str]) -> list[str]:
    """The commits from the first-parent line to `last`, oldest first; none if they are no line."""
    found: list[str] = []
    name = last
    while name not in main:
        before = parents.get(name, [])
        if len(before) != 1 or len(found) > COMMITS_MAX:
            return []
        found.append(name)
        name = before[0]
    return found[::-1]


def _files(repository: Path, commits: Sequence[str]) -> dict[str, list[str]]:
    """The files that commits change."""
    given = "".join(f"{commit}\n" for commit in commits)
    told = git(repository, "diff-tree", "--stdin", "-r", "--name-only", "--no-renames", given=given)
    found: dict[str, list[str]] = {commit: [] for commit in commits}
    last = ""
    for row in told.splitlines():
        if row in found:
            last = row
        else:
            found[last].append(row)
    return found


def _fits(files: Sequence[Sequence[str]]) -> bool:
    every = {path for each in files for path in each}
    each_fits = all(1 <= len(each) <= _EACH_MAX for each in files)
    return each_fits and _FILES_MIN <= len(every) <= _FILES_MAX
