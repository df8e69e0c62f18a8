"""The two that search the same transcripts: triseek as its users run it, and deja's program."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

from bench import command
from bench.agents.client import connected
from bench.engines.triseek_process import command_line, environment
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from bench.agents.client import Client
    from bench.command import Ended

MOST = 20
"""Sessions asked for; an answer behind them counts as not found."""


class Own:
    """triseek with a home folder of its own, whose conversations it imports and searches."""

    def __init__(self, home: Path, state: str = "triseek") -> None:
        """Use a home folder; its `.claude` holds transcripts, its folder `state` what is kept."""
        self.home = home
        self.state = home / state
        self._root = home / "repository"
        self._root.mkdir(exist_ok=True)
        self._environ = {
            **environment(self.state), "HOME": str(home), "CI": "", "CLAUDE_CONFIG_DIR": "",
            "CODEX_HOME": "", "TRISEEK_NO_DAEMON": "",
        }  # fmt: skip

    def bring_in(self, *agents: str, may_skip: bool = False) -> Ended:
        """Import everything that agents, by default Claude Code, left; return what that cost."""
        ended = self._run("history", "import", *(agents or ("claude-code",)), "--json")
        for counts in json.loads(ended.output)["agents"].values():
            if counts["skipped"] and not may_skip:
                raise Faulty(f"the import skipped {counts['skipped'][0]}")
        return ended

    @contextlib.asynccontextmanager
    async def served(self) -> AsyncIterator[Client]:
        """Serve the tools of the history to a client; the daemon ends with the block."""
        options = ("--toolsets", "history")
        try:
            async with connected(self._root, self._environ, options=options) as client:
                yield client
        finally:
            self._run("daemon", "stop", fails=True)

    @staticmethod
    async def by_tool(client: Client, question: str, project: str) -> tuple[list[str], float]:
        """Ask the search tool; return the sessions' ids, best first, and the seconds."""
        arguments = {"query": question, "by": "session", "limit": MOST, "project": project}
        answer = await client.call("memory_search", {k: v for k, v in arguments.items() if v})
        return [row["session"] for row in answer.envelope["results"]], answer.seconds

    def by_command(self, question: str, project: str) -> tuple[list[str], float]:
        """Ask `triseek history search`; return the sessions' ids, best first, and the seconds."""
        words = ["history", "search", "--by", "session", "--json", "--limit", str(MOST)]
        words += ["--project", project] if project else []
        ended = self._run(*words, "--", question, fails=True)
        if ended.code not in (0, 1):
            raise Faulty(f"triseek history search: {ended.errors[-200:]}")
        results = json.loads(ended.output)["results"]
        return [row["conversation"]["session"] for row in results], ended.seconds

    def start(self) -> None:
        """Start the daemon; `served` uses it and ends it."""
        self._run("daemon", "start")

    def is_warm(self) -> bool:
        """Return whether the daemon has loaded its kernels."""
        return bool(json.loads(self._run("daemon", "status", "--json").output).get("warm"))

    def size(self) -> int:
        """Return the bytes of everything that the history keeps."""
        return size_of(self.state / "history")

    def _run(self, *words: str, fails: bool = False) -> Ended:
        ended = command.run(command_line(*words), cwd=self._root, env=self._environ, keep=True)
        if ended.code and not fails:
            raise Faulty(f"triseek {' '.join(words[:2])}: {ended.errors[-300:]}")
        return ended


class Deja:
    """deja's program, with an index of its own over folders of transcripts."""

    def __init__(self, program: Path, home: Path, transcripts: Path) -> None:
        """Use a program and a folder for its index, on the projects below `transcripts`."""
        self._program = program.absolute()
        self._home = home
        home.mkdir(exist_ok=True)
        self._environ = {
            "HOME": str(home), "DEJA_CLAUDE_ROOT": str(transcripts),
            "DEJA_INDEX_DIR": str(home / "index.db"),
        }  # fmt: skip

    def bring_in(self) -> Ended:
        """Index everything; return what that cost."""
        return self._run("index", "--rebuild")

    def by_command(self, question: str) -> tuple[list[str], float]:
        """Ask a question; return the sessions' ids, best first, and the seconds."""
        ended = self._run("search", "--all", "--no-embed", "--json", "--", question)
        hits: list[dict[str, Any]] = []
        if ended.output.strip():
            hits = json.loads(ended.output)["hits"] or []
        return [_plain(hit["session"]["id"]) for hit in hits[:MOST]], ended.seconds

    def size(self) -> int:
        """Return the bytes of its index."""
        return size_of(self._home)

    def _run(self, *words: str) -> Ended:
        argv = [str(self._program), *words]
        ended = command.run(argv, cwd=self._home, env=self._environ, keep=True)
        if ended.code not in (0, 1):  # 1: nothing found
            raise Faulty(f"deja: {ended.errors[-200:]}")
        return ended


def linked(transcripts: Path, folder: Path) -> Path:
    """Make a folder with the same files as a project's, for a haystack of its own."""
    target = folder / transcripts.name
    target.mkdir(parents=True)
    for path in _files(transcripts):
        os.link(path, target / path.name)
    return folder


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _plain(name: str) -> str:
    """Return a session's id as the agent wrote it: deja puts the agent's name before it."""
    return name.rpartition(":")[2]
