"""A run: questions of three repositories, put to three real agents."""

from __future__ import annotations

import contextlib
import json
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from bench import corpora
from bench.agents.client import Told, connected
from bench.model import Faulty
from bench.tokens.answers import compare
from bench.tokens.questions import FEW, Question, questions
from bench.tokens.sessions import AGENTS, Installed, Seen, installed
from tests.e2e.mcp_clients import Unreachable
from tests.e2e.mcp_clients import installed as programs_of
from triseek.model import token_estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.corpora import Source
    from bench.progress import Progress

SEED = "tokens 1"
_FILE = Path(__file__).with_name("repositories.toml")


def repositories() -> dict[str, Source]:
    """Return the repositories that are asked about."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def run(clones: Mapping[str, str], rg: str, progress: Progress) -> dict[str, Any]:
    """Measure.

    Args:
        clones: Clones to take repositories from instead of their addresses, by name.
        rg: The program.
        progress: What is being done.

    Raises:
        Faulty: an answer lacked what rg found, or an agent or repository cannot be had here.
    """
    try:
        programs = programs_of()
    except Unreachable as error:
        raise Faulty(f"the agents come from npm: {error}") from error
    measured = []
    for name, source in repositories().items():
        url = clones.get(name, source["url"])
        root, version = corpora.fetch(name, {**source, "kind": "git", "url": url})
        figures = _repository(name, root, programs, rg, progress)
        measured.append({"name": name, "version": version, **figures})
    return {"seed": SEED, "repositories": measured}


def _repository(
    name: str, root: Path, programs: Path, rg: str, progress: Progress
) -> dict[str, Any]:
    progress.say(f"{name}: drawing questions")
    asked = questions(root, rg, f"{SEED} {name}")
    rows: list[dict[str, Any]] = [
        {
            "query": one.name,
            "lines": one.lines,
            "rg": token_estimate.of_text(one.rg),
            "seen": {},
        }
        for one in asked
    ]
    agents: dict[str, Any] = {}
    for agent in AGENTS:
        progress.say(f"{name}: {agent.NAME}")
        with _at_work(agent, root, programs) as here:
            seen = here.converse([one.name for one in asked])
            _count(agent.NAME, asked, seen, rows)
            agents[agent.NAME] = {"version": here.version(), **anyio.run(_of_session, here, seen)}
    with _at_work(AGENTS[0], root, programs) as here:  # another: what was resumed adds notes
        anyio.run(_both_forms, here, asked, rows)
    files = len(corpora.listing(root, rg))
    return {"files": files, "questions": rows, "agents": agents}


@contextlib.contextmanager
def _at_work(agent: Any, root: Path, programs: Path) -> Iterator[Installed]:  # noqa: ANN401
    with (
        tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch,
        installed(agent, root, programs, Path(scratch).resolve()) as here,
    ):
        yield here


def _count(
    agent: str, asked: Sequence[Question], seen: Seen, rows: Sequence[dict[str, Any]]
) -> None:
    for question, text, row in zip(asked, seen.searches, rows, strict=True):
        compare(question, text, whole=question.lines <= FEW)
        row["seen"][agent] = token_estimate.of_text(text)


async def _both_forms(
    here: Installed, asked: Sequence[Question], rows: Sequence[dict[str, Any]]
) -> None:
    """Count the two forms of the same answers, as a client gets them that is no agent."""
    async with connected(here.place.tree, here.environ) as client:
        for question, row in zip(asked, rows, strict=True):
            arguments = {"query": question.name, "force_refresh": True}
            row |= _forms(await client.call("search_content", arguments))


async def _of_session(here: Installed, seen: Seen) -> dict[str, Any]:
    """Count what the model saw of the tools of sessions, and both forms of the same answers."""
    async with connected(here.place.tree, here.environ) as client:
        arguments = {"snapshot_id": seen.snapshot_id}
        resume = await client.call("session_resume", arguments)
        got = await client.call("session_snapshot_get", arguments)
    return {
        "session_resume": {"seen": token_estimate.of_text(seen.resume), **_forms(resume)},
        "session_snapshot_get": {"seen": token_estimate.of_text(seen.snapshot_get), **_forms(got)},
    }


def _forms(answer: Told) -> dict[str, int]:
    document = json.dumps(answer.envelope, ensure_ascii=False, separators=(",", ":"))
    return {
        "text": token_estimate.of_text(answer.text),
        "json": token_estimate.of_text(document),
    }
