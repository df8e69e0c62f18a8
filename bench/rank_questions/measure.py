"""Put the questions of a half to checkouts of triseek, by MCP over stdio, as an agent does."""

from __future__ import annotations

import datetime as dt
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from bench import corpora
from bench.agents.client import connected
from bench.agents.measure import Checkout
from bench.rank_questions import make, source_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.progress import Progress
    from bench.rank_questions.make import Question

_FILE = Path(__file__).with_name("projects.toml")


class Project(NamedTuple):
    """A repository that questions are made from."""

    name: str
    half: str
    language: str
    tree: corpora.Source


def run(
    half: str, places: Mapping[str, Path], against: Path | None, progress: Progress
) -> dict[str, Any]:
    """Measure a half; returns a record of it: for each question the place of the right file.

    places: by project, where its tree is; others are fetched.
    against: another checkout with its own `.venv`, which is measured too.

    Raises:
        Faulty: a tree cannot be fetched, ctags is missing, or an answer was an error.
    """
    facts = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    amounts = facts.pop("searches"), facts.pop("find_files")
    begun = dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")
    measured = []
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        checkouts = _checkouts(Path(scratch), against)
        for project in (Project(name, **each) for name, each in facts.items()):
            if project.half == half:
                progress.say(f"rank: {project.name}")
                root = places.get(project.name) or corpora.fetch(project.name, project.tree)[0]
                measured.append(_project(project, root.resolve(), amounts, checkouts))
    return {"begun": begun, "half": half, "projects": measured}


def _checkouts(scratch: Path, against: Path | None) -> dict[str, Checkout]:
    """What is measured; without a daemon, which would outlive the run."""
    checkouts = {"this": Checkout.this(scratch)}
    if against:
        checkouts["other"] = Checkout.peer(against.resolve(), scratch / "peer")
    return {
        name: each._replace(environ={**each.environ, "TRISEEK_NO_DAEMON": "1"})
        for name, each in checkouts.items()
    }


def _project(
    project: Project, root: Path, amounts: tuple[int, int], checkouts: Mapping[str, Checkout]
) -> dict[str, Any]:
    tree = source_tree.read(root, project.language)
    asked = make.questions(project.name, tree, *amounts)
    places = {}
    for name, checkout in checkouts.items():
        checkout.run("build", str(root), cwd=root)
        places[name] = anyio.run(_places, checkout, root, asked)
    questions = [
        question._asdict() | {name: found[number] for name, found in places.items()}
        for number, question in enumerate(asked)
    ]
    return {
        "name": project.name,
        "language": project.language,
        "version": project.tree["version"],
        "sources": len(tree.sources),
        "digest": make.digest(asked),
        "questions": questions,
    }


async def _places(checkout: Checkout, root: Path, asked: Sequence[Question]) -> list[int]:
    """Ask in order, in one session; the place of each right file from 1, 0 if it is not shown."""
    places = []
    async with connected(root, checkout.environ, checkout.python) as client:
        for question in asked:
            answer = await client.call(question.tool, {"query": question.query})
            paths = [result["path"] for result in answer.envelope["results"]]
            places.append(paths.index(question.path) + 1 if question.path in paths else 0)
    return places
