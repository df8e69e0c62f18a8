"""Real agents, each at work in a conversation, whose scripted model calls our tools.

The agents come from npm and talk to a model on loopback: the drivers of the tests, in
`tests/agents`. What is counted is what the next request to the model carries of a tool's result.
"""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import command
from bench.engines.triseek_process import command_line, environment
from bench.model import Faulty
from tests.agents import claude, codex, opencode
from tests.agents.model import serving
from tests.agents.place import Place, run
from tests.agents.script import Turn, says

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.agents.model import Model

AGENTS = (claude, codex, opencode)
GOAL = "Find what the names stand for"
_PROGRAM = """\
#!{python}
import os, sys
sys.path.insert(0, {package!r})
os.environ.update({environ!r})
from triseek.cli.main import main
sys.exit(main())
"""
_SNAPSHOT = re.compile(r"\bsnap_\w+")


class Seen(NamedTuple):
    """What a model was shown in one conversation."""

    searches: list[str]
    """The results of the searches, in order."""
    snapshot_id: str
    resume: str
    """The result of `session_resume`."""
    snapshot_get: str
    """The result of `session_snapshot_get`."""


class Installed(NamedTuple):
    """An agent with triseek installed, a home, a daemon and an index of the tree."""

    agent: Any
    place: Place
    environ: Mapping[str, str]

    def version(self) -> str:
        """Return the agent's version."""
        words = run([self.agent.PROGRAM, "--version"], self.place.tree, self.place.env()).split()
        return next(word for word in words if word[0].isdigit())

    def converse(self, names: Sequence[str]) -> Seen:
        """Have the agent search for each name in one conversation, then save and resume it.

        Raises:
            Faulty: the agent did not call a tool as it was asked to.
        """
        with serving() as model, self._session(model) as session:
            searches = [self._only_call("search_content", query=name) for name in names]
            first = self.agent.ours("search_content", query=names[0])
            asking = [*first[:-1], *searches, *self.agent.ours("session_snapshot")]
            *results, snapshot = _say(session, model, "ask", asking)[len(first) - 1 :]
            found = _SNAPSHOT.search(snapshot)
            if found is None:
                raise Faulty(f"{self.agent.NAME}: no snapshot: {snapshot[:200]}")
            results = results[: len(names)]
            get = self.agent.ours("session_snapshot_get", snapshot_id=found[0])
            resume = self.agent.ours("session_resume", snapshot_id=found[0])
            [*_, got] = _say(session, model, "get", get)
            [*_, resumed] = _say(session, model, "resume", resume)
            return Seen(results, found[0], resumed, got)

    def _session(self, model: Model) -> contextlib.AbstractContextManager[Any]:
        self.agent.configure(self.place, model.url)
        triseek = self.environ["TRISEEK_PROGRAM"]
        run([triseek, "install", self.agent.NAME], self.place.tree, self.place.env())
        session: contextlib.AbstractContextManager[Any]
        session = self.agent.session(self.place, model.url)
        return session

    def _only_call(self, tool: str, **arguments: str) -> Turn:
        """Return the call of a tool without what looks it up before."""
        turn: Turn = self.agent.ours(tool, **arguments)[-1]
        return turn


def _say(session: Any, model: Model, mark: str, turns: Sequence[Turn]) -> list[str]:  # noqa: ANN401
    """Have a session use tools; return what each use gave."""
    session.say(model.add(mark, [*turns, says("Done.")]))
    requests = model.of(mark)
    if len(requests) != len(turns) + 1:
        last = requests[-1].last if requests else ""
        raise Faulty(f"{len(requests)} requests for {len(turns)} calls; the last: {last[:200]}")
    return [request.last for request in requests[1:]]


@contextlib.contextmanager
def installed(agent: Any, tree: Path, programs: Path, scratch: Path) -> Iterator[Installed]:  # noqa: ANN401
    """Give an agent a home below `scratch`, with a daemon and an index, until the block ends.

    Raises:
        Faulty: triseek failed.
    """
    place = Place(scratch / "home", tree, programs)
    place.home.mkdir(parents=True)
    environ = environment(place.home / ".triseek") | {"HOME": str(place.home), "CI": ""}
    del environ["TRISEEK_NO_DAEMON"]
    program = _program(place.home / "bin" / "triseek", environ)
    _triseek(tree, environ, "build", str(tree))
    _triseek(tree, environ, "daemon", "start")
    try:
        yield Installed(agent, place, environ | {"TRISEEK_PROGRAM": program})
    finally:
        _triseek(tree, environ, "daemon", "stop")


def _program(path: Path, environ: Mapping[str, str]) -> str:
    """Write the `triseek` that the agent starts; most agents pass on little of an environment."""
    path.parent.mkdir()
    kept = {name: environ[name] for name in ("TRISEEK_HOME", "NUMBA_CACHE_DIR")}
    package = str(Path(__file__).parents[2])
    path.write_text(_PROGRAM.format(python=sys.executable, package=package, environ=kept))
    path.chmod(0o755)
    return str(path)


def _triseek(tree: Path, environ: Mapping[str, str], *words: str) -> None:
    ended = command.run(command_line(*words), cwd=tree, env=environ)
    if ended.code:
        raise Faulty(f"triseek {words[0]}: {ended.errors[-200:]}")
