"""Record workdays of real agents for `python -m bench memo`: `python -m tests.agents.workday`.

An agent works on a copy of a small package. What it does is drawn with a seed; what it is shown,
and what its hooks tell, is real. Nothing is denied while it is recorded.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from bench.memo.replay import STREAMS, packed
from tests.agents import claude, codex, opencode, pi, witness
from tests.agents.model import Model, serving
from tests.agents.place import Place, run
from tests.agents.script import Turn, says
from tests.e2e.mcp_clients import installed

if TYPE_CHECKING:
    from tests.agents.script import Request

AGENTS = (claude, codex, opencode, pi)
DELEGATING = (claude, opencode)
DAYS = 2
"""Of each agent."""
STEPS = 9
"""Of a prompt."""
AFTERWARDS = ("", "compact", "", "compact", "clear", "")
"""What a person does after each prompt."""
MARKS = 9
TEXT_MAX = 100
"""Characters of a text in a transcript."""
WEIGHTS = {"whole": 3, "part": 3, "again": 4, "part again": 3, "shell": 3, "edit": 2, "search": 1}


class Day:
    """Draws what an agent does."""

    def __init__(self, agent: Any, tree: Path, seed: str) -> None:
        self._agent = agent
        self._tree = tree
        self._draw = random.Random(seed)
        self._known: list[str] = []
        self._marks: dict[str, int] = {}
        self._files = {
            str(path.relative_to(tree)): path.read_text().count("\n")
            for path in sorted(tree.glob("src/pluggy/*.py"))
        }

    def prompt(self) -> list[Turn]:
        """What is done for one prompt."""
        return [self._step() for _ in range(STEPS)]

    def outside(self) -> None:
        """Somebody else changes a file that the agent may know."""
        path = self._tree / self._path(known=True)
        path.write_text(path.read_text() + "# somebody else was here\n")

    def _step(self) -> Turn:
        kind = self._draw.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        path = self._path(known=kind in ("again", "part again", "edit"))
        first, last = self._lines(path)
        name = str(self._tree / path)
        agent = self._agent
        turn: Turn
        match kind:
            case "whole" | "again":
                turn = agent.read(name)
            case "part" | "part again":
                turn = agent.read(name, first, last)
            case "edit":
                mark = self._marks[path] = self._marks.get(path, 0) % MARKS + 1
                file = path if agent is codex else name
                turn = agent.edit(file, f"# mark {mark}", f"# mark {mark} was here")
            case "search":
                turn = agent.shell("grep -rn 'def ' src | head -n 20")
            case _:
                said = (f"cat {path}", f"sed -n '{first},{last}p' {path}", f"head -n {last} {path}")
                turn = agent.shell(self._draw.choice(said))
        if path not in self._known:
            self._known.append(path)
        return turn

    def _path(self, *, known: bool) -> str:
        return self._draw.choice(self._known[-4:] if known and self._known else [*self._files])

    def _lines(self, path: str) -> tuple[int, int]:
        number = self._files[path]
        first = self._draw.randrange(max(1, number // 40)) * 40 + 1
        return first, min(number, first + self._draw.choice((39, 79, 119)))


def play(agent: Any, place: Place, model: Model, seed: str) -> None:
    """One day."""
    day = Day(agent, place.tree, seed)
    chance = random.Random(f"{seed} outside")

    def before(_: Request) -> None:
        if chance.random() < 0.05:
            day.outside()

    model.before = before
    with agent.session(place, model.url) as session:
        for number, afterwards in enumerate(AFTERWARDS):
            turns = day.prompt()
            if agent in DELEGATING and number % 2:
                turns[5:5] = agent.delegate(
                    model.add(f"sub{number}", [*day.prompt(), says("Seen.")])
                )
            session.say(model.add(f"p{number}", [*turns, says("Done.")]))
            if afterwards:
                getattr(session, afterwards)()


def plant(tree: Path) -> None:
    """A package of whoever runs this, with lines to edit at the end of each file."""
    source = Path(pluggy.__file__).parent
    (tree / "src/pluggy").mkdir(parents=True)
    marks = "".join(f"# mark {number}\n" for number in range(1, MARKS + 1))
    for path in source.glob("*.py"):
        (tree / "src/pluggy" / path.name).write_text(path.read_text() + marks)
    for path in metadata.files("pluggy") or ():
        if "LICEN" in path.name:
            (tree / "LICENSE").write_text(path.read_text())
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)


def record(agent: Any, number: int) -> dict[str, Any]:
    """Let an agent work for a day; returns the stream."""
    with tempfile.TemporaryDirectory() as folder, serving() as model:
        base = Path(folder).resolve()
        place = Place(base / "home", base / "repo", installed())
        plant(place.tree)
        kept = base / "kept"
        environ = {"TRISEEK_HOME": str(place.home / ".triseek"), "TRISEEK_NO_DAEMON": "1"}
        program = witness.program(place.home / "bin" / "triseek", kept, place.tree, environ)
        agent.configure(place, model.url)
        run([program, "install", agent.NAME], place.tree, place.env(**environ))
        play(agent, place, model, f"{agent.NAME} {number}")
        told = run([agent.PROGRAM, "--version"], place.tree, place.env()).split()
        return {
            "client": agent.NAME,
            "version": next(word for word in told if word[0].isdigit()),
            "source": "scripted",
            "project": f"pluggy {metadata.version('pluggy')}",
            **_stream(place, model, kept),
        }


def _stream(place: Place, model: Model, kept: Path) -> dict[str, Any]:
    """All that was kept, with neutral paths."""

    def neutral(text: str) -> str:
        return text.replace(str(place.tree), "@TREE@").replace(str(place.home), "@HOME@")

    texts: dict[str, str] = {}
    requests = {
        str(one.number): {call: neutral(text) for call, text in one.results.items()}
        for one in model.requests
        if one.mark and one.mark != "summary"
    }
    for results in requests.values():
        for call, text in results.items():
            name = str(len(texts)) if text not in texts else texts[text]
            texts[text] = name
            results[call] = name
    steps = []
    files: dict[str, str] = {}
    written: dict[str, int] = {}
    for path in sorted(kept.glob("*.json")):
        told = json.loads(path.read_text())
        steps.append(
            {
                "at_s": told["at_ns"] / 1e9,
                "event": told["event"],
                "payload": neutral(told["payload"]),
                "files": {
                    name: (kept / "contents" / digest).read_text()
                    for name, digest in told["files"].items()
                    if files.get(name) != digest
                },
                "written": {
                    neutral(name): neutral(_grown(name, written, size))
                    for name, size in told["written"].items()
                },
            }
        )
        files = told["files"]
    return {"texts": list(texts), "requests": requests, "steps": steps}


def _grown(path: str, written: dict[str, int], size: int) -> str:
    """The whole lines that a transcript has more, up to a size, with long texts cut.

    What they say is of no use to whoever asks a transcript what is in view, and it is not ours.
    """
    begin = written.get(path, 0)
    data = Path(path).read_bytes()[begin:size]
    data = data[: data.rfind(b"\n") + 1]
    written[path] = begin + len(data)
    rows = [json.loads(line) for line in data.splitlines()]
    return "".join(json.dumps(_cut(row), separators=(",", ":")) + "\n" for row in rows)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value[:TEXT_MAX]
    if isinstance(value, list):
        return [_cut(one) for one in value]
    if isinstance(value, dict):
        return {name: _cut(one) for name, one in value.items()}
    return value


def main(names: list[str]) -> None:
    """Record the agents that are named, or all."""
    STREAMS.mkdir(parents=True, exist_ok=True)
    for agent in AGENTS:
        if names and agent.NAME not in names:
            continue
        for number in range(1, DAYS + 1):
            stream = record(agent, number)
            path = STREAMS / f"{agent.NAME}-{number}.json.xz"
            path.write_bytes(packed(stream))
            print(path.name, len(stream["steps"]), path.stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1:])
