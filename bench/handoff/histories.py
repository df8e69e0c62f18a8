"""Plays sessions of commits: a checkout of where a branch began, and its commits in their order.

Nothing is committed meanwhile, so that `git diff` shows all of the work so far.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.clones import cloned
from bench.handoff.branches import branches, git, sessions
from bench.handoff.changes import openings, work
from bench.handoff.stage import SHARES, Played, Stage, diff_of, half_of
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.handoff.branches import Series
    from triseek.engine.service import Service

_FILE = Path(__file__).with_name("projects.toml")
SEED = "handoff 1"


class Project(NamedTuple):
    """A history."""

    name: str
    git: str
    until: str
    short_max: int
    long_max: int


def projects() -> list[Project]:
    """All of them."""
    told = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    short, long = told.pop("short_per_project"), told.pop("long_per_project")
    return [
        Project(name, facts["git"], facts["until"], short, long) for name, facts in told.items()
    ]


def play_all(
    project: Project, clones: Mapping[str, Path], half: str, service: Service, folder: Path
) -> Iterator[Played]:
    """Play a project's sessions of a half.

    Raises:
        Faulty: its history cannot be had, or gives no session.
    """
    repository = clones.get(project.name) or cloned(project.name, project.git)
    found = branches(repository, project.until)
    series = sessions(project.name, found, project.short_max, project.long_max)
    if not series:
        raise Faulty(f"the history of {project.name} gives no session")
    tree = checkout(repository, folder / project.name)
    for one in series:
        if half_of(one.name) == half:
            yield play(one, tree, service, folder / "sessions" / one.name)


def checkout(repository: Path, tree: Path) -> Path:
    """A tree to work in that shares a clone's objects."""
    git(
        repository, "clone", "--quiet", "--shared", "--no-checkout", "--no-tags", "--",
        str(repository), str(tree),
    )  # fmt: skip
    return tree


def play(series: Series, tree: Path, service: Service, folder: Path) -> Played:
    """Play one in a checkout of its repository."""
    stage = Stage(service, folder, tree, series.name, series.legs[0].goal)
    cuts = points(sum(len(leg.commits) for leg in series.legs))
    number = 0
    for leg in series.legs:
        git(tree, "checkout", "--quiet", "--force", "--detach", leg.base)
        git(tree, "clean", "--quiet", "-ffdx")
        service.engine(str(tree), exact=True).update()
        stage.prompt(leg.goal)
        begin = openings(leg.goal)
        for query in begin:
            stage.search(query)
        for commit in leg.commits:
            _do(stage, tree, commit)
            number += 1
            for share in cuts.get(number, ()):
                diff = diff_of(tree, leg.base, commit)
                stage.cut(share, diff, _files(tree, commit), begin)
    entries, done = stage.end()
    return Played(series.name, series.kind, series.project, entries, done)


def points(commits: int) -> dict[int, list[float]]:
    """After which commits a session of so many is cut."""
    found: dict[int, list[float]] = {}
    for share in SHARES:
        found.setdefault(min(commits - 1, max(1, int(commits * share + 0.5))), []).append(share)
    return found


def _do(stage: Stage, tree: Path, commit: str) -> None:
    done = work(tree, commit, _files(tree, f"{commit}^"), SEED)
    for query in done.asked:
        stage.search(query)
    for path, first, last in done.read:
        stage.use("read", path, first, last)
    there = set(git(tree, "ls-tree", "-r", "-z", "--name-only", commit).split("\0"))
    _put(tree, commit, [path for path in done.edited if path in there])
    for path in done.edited:
        if path not in there:
            (tree / path).unlink(missing_ok=True)
        stage.use("edit", path)
    for query in done.checked:
        stage.search(query)


def _put(tree: Path, commit: str, paths: Sequence[str]) -> None:
    """Make files as they are in a commit, with nothing staged."""
    if paths:
        git(
            tree, "--literal-pathspecs", "restore", "--quiet", f"--source={commit}",
            "--worktree", "--", *paths,
        )  # fmt: skip


def _files(tree: Path, commit: str) -> frozenset[str]:
    told = git(tree, "ls-tree", "-r", "-z", "--name-only", commit)
    return frozenset(told.split("\0")) - {""}
