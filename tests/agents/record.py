"""Record what real agents tell their hooks: `python -m tests.agents.record claude-code codex`.

The fixtures of `tests/harness/fixtures` are replaced. The programs come from npm, as in
`tests/e2e/mcp_clients.py`; the model is a script.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.agents import claude, fixtures
from tests.agents.model import Model, serving
from tests.agents.place import Place, run
from tests.agents.script import Call, Turn, says, uses
from tests.e2e.mcp_clients import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RECORDER = Path(__file__).with_name("recorder.py")


def plant(tree: Path) -> None:
    """The repository that agents work in."""
    (tree / "src").mkdir(parents=True)
    (tree / "src/a.py").write_text("".join(f"a_{n} = {n}\n" for n in range(1, 21)))
    (tree / "b.py").write_text("".join(f"b_{n} = {n}\n" for n in range(1, 11)))
    run(["git", "init", "-q"], tree, {"PATH": "/usr/bin:/bin", "HOME": str(tree)})


def of_claude(place: Place, model: Model, command: str) -> None:
    """A session of Claude Code with all that it tells of."""
    settings = place.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(claude.hooks(command)))
    a, b = str(place.tree / "src/a.py"), str(place.tree / "b.py")
    turns = [
        uses("Read", file_path=a),
        uses("Read", file_path=a, offset=5, limit=4),
        uses("Read", file_path=a, offset=15),
        uses("Read", file_path=b, limit=3),
        uses("Read", file_path=str(place.tree / "none.py")),
        *(uses("Bash", command=command) for command in SHELL),
        uses("Bash", command="echo no >&2; exit 3", description="Fail"),
        uses("Edit", file_path=a, old_string="a_3 = 3", new_string="a_3 = 33"),
        uses("Write", file_path=str(place.tree / "c.py"), content="c = 1\n"),
        uses("ToolSearch", query="select:mcp__triseek__search_content", max_results=3),
        uses("mcp__triseek__search_content", query="a_7"),
        Turn((
            Call("Read", {"file_path": b, "offset": 1, "limit": 2}),
            Call("Read", {"file_path": b, "offset": 3, "limit": 2}),
        )),
        uses(
            "Agent", description="Look", prompt="Look. [[sub]]", subagent_type="general-purpose",
            run_in_background=False,
        ),
        says("All was done."),
    ]  # fmt: skip
    model.add("sub", [uses("Read", file_path=b), says("Seen.")])
    with claude.session(place, model.url, "--mcp-config", our_server(place)) as session:
        session.say(model.add("first", turns))
        session.say("/compact")
        session.say(model.add("second", [uses("Read", file_path=b), says("Again.")]))
        session.say("/clear")
        session.say(model.add("third", [says("Cleared.")]))
    with claude.session(place, model.url, "--continue") as session:
        session.say(model.add("fourth", [says("Back.")]))
    with claude.session(place, model.url, "--continue", "--fork-session") as session:
        session.say(model.add("fifth", [says("Forked.")]))


SHELL = (
    "cat b.py",
    "sed -n '2,4p' src/a.py",
    "head -n 3 b.py",
    "tail -n 2 b.py",
    "cd src && cat a.py",
    "cat a.py",  # an agent's shell may stay in the folder
    "cd .. && cat src/a.py b.py",
    "cat -n b.py",
    "grep -rn 'a_1 ' src",
    "printf 'd = 1\\n' > d.py",
)
CLIENTS: Mapping[str, tuple[str, Callable[[Place, Model, str], None]]] = {
    "claude-code": ("claude", of_claude),
}


def our_server(place: Place) -> str:
    """The server in the words of `mcpServers`."""
    words = ["-m", "triseek", "mcp", "serve", "--repo", str(place.tree)]
    env = {name: value for name, value in place.env().items() if name not in ("PATH", "HOME")}
    servers = {"triseek": {"command": sys.executable, "args": words, "env": env}}
    return json.dumps({"mcpServers": servers})


def record(client: str) -> int:
    """Run one client and write its fixtures; returns how many there are."""
    program, play = CLIENTS[client]
    with tempfile.TemporaryDirectory() as folder, serving() as model:
        base = Path(folder).resolve()
        place = Place(base / "home", base / "repo", installed())
        kept = base / "kept"
        for path in (place.home, kept):
            path.mkdir()
        plant(place.tree)
        play(place, model, f"{sys.executable} -S -E {RECORDER} {kept}")
        version = run([program, "--version"], place.tree, place.env()).split()
        number = next(word for word in version if word[0].isdigit())
        return fixtures.write(client, number, place, fixtures.recorded(kept))


def main(clients: list[str]) -> None:
    """Record the clients that are named, or all."""
    for client in clients or CLIENTS:
        print(client, record(client))


if __name__ == "__main__":
    main(sys.argv[1:])
