"""Put every task of a half to every ranker."""

from __future__ import annotations

import datetime as dt
import tempfile
import time
import tomllib
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import corpora
from bench.clones import cloned
from bench.model import Faulty
from bench.pack.metrics import rank_of
from bench.pack.rankers import Bm25, ContextPack, Ripgrep
from bench.pack.tasks import digest, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.pack.rankers import Ranker
    from bench.pack.tasks import Task
    from bench.progress import Progress

_FILE = Path(__file__).with_name("projects.toml")


class Project(NamedTuple):
    """A history, and the tree its tasks are put to."""

    name: str
    half: str
    git: str
    base: str
    tree: corpora.Source
    tasks_max: int


def projects(half: str) -> list[Project]:
    """All projects of a half."""
    told = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    most = told.pop("tasks_per_project")
    found = [Project(name=name, tasks_max=most, **facts) for name, facts in told.items()]
    return [project for project in found if project.half == half]


def run(half: str, clones: Mapping[str, Path], rg: str, progress: Progress) -> dict[str, Any]:
    """Measure a half; returns a record of it, without a word of any history.

    clones: by project, where its history is; others are cloned.
    """
    begun = dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")
    measured = []
    for project in projects(half):
        progress.say(f"pack: {project.name}")
        measured.append(_project(project, clones.get(project.name), rg))
    return {"begun": begun, "half": half, "projects": measured}


def _project(project: Project, clone: Path | None, rg: str) -> dict[str, Any]:
    tree, version = corpora.fetch(f"pack-{project.name}", project.tree)
    found = tasks(clone or cloned(project.name, project.git), project.base, tree, project.tasks_max)
    if not found:
        raise Faulty(f"the history of {project.name} gives no task")
    with tempfile.TemporaryDirectory() as state:
        rankers = _rankers(tree, state, rg)
        answers = {ranker.name: _asked(ranker, found) for ranker in rankers}
    return {
        "name": project.name,
        "version": version,
        "files": len(corpora.listing(tree, rg)),
        "tasks": len(found),
        "tasks_digest": digest(found),
        "files_changed": [len(task.files) for task in found],
        "rankers": answers,
    }


def _rankers(tree: Path, state: str, rg: str) -> list[Ranker]:
    from triseek.engine.engine import Engine

    engine = Engine(str(tree), index_dir=state)
    engine.build()
    return [
        ContextPack(engine),
        Bm25(tree, rg, sources_only=True),
        Bm25(tree, rg, sources_only=False),
        Ripgrep(tree, rg),
    ]


def _asked(ranker: Ranker, found: Sequence[Task]) -> dict[str, Any]:
    ranks, times_ms = [], []
    for task in found:
        started = time.perf_counter()
        ranked = ranker.rank(task.goal)
        times_ms.append((time.perf_counter() - started) * 1e3)
        ranks.append(rank_of(task.files, ranked))
    return {"about": ranker.about, "ranks": ranks, "median_ms": round(median(times_ms), 2)}
