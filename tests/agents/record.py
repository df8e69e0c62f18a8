"""Record what real agents tell their hooks: `python -m tests.agents.record claude-code codex`.

The fixtures of `tests/agents/fixtures` are replaced. The programs come from npm, as in
`tests/e2e/mcp_clients.py`; the model is a script.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.agents import claude, codex, fixtures, gemini, opencode, pi, witness
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
    servers = json.dumps({"mcpServers": {"triseek": server(place)}})
    with claude.session(place, model.url, "--mcp-config", servers) as session:
        session.say(model.add("first", turns))
        session.say("/compact")
        session.say(model.add("second", [uses("Read", file_path=b), says("Again.")]))
        session.say("/clear")
        session.say(model.add("third", [says("Cleared.")]))
    with claude.session(place, model.url, "--continue") as session:
        session.say(model.add("fourth", [says("Back.")]))
    with claude.session(place, model.url, "--continue", "--fork-session") as session:
        session.say(model.add("fifth", [says("Forked.")]))


def of_codex(place: Place, model: Model, command: str) -> None:
    """Threads of Codex with all that they tell of."""
    codex.configure(place, model.url)
    with (place.home / ".codex" / "config.toml").open("a") as config:
        config.write(f"[mcp_servers.triseek]\n{toml(server(place))}")
    (place.home / ".codex" / "hooks.json").write_text(json.dumps(codex.hooks(command)))
    source = str(place.tree / "src")
    turns = [
        *(uses("exec_command", cmd=command) for command in SHELL),
        uses("exec_command", cmd="cat a.py", workdir=source),
        uses("exec_command", cmd="cat src/a.py", max_output_tokens=20),
        uses("exec_command", cmd="cat b.py", tty=True),
        uses("exec_command", cmd="echo no >&2; exit 3"),
        Turn((Call("apply_patch", PATCH),)),
        Turn((
            Call("exec_command", {"cmd": "sed -n '1,2p' b.py"}),
            Call("exec_command", {"cmd": "sed -n '3,4p' b.py"}),
        )),
        uses("mcp__triseek/search_content", query="a_7"),
        says("All was done."),
    ]  # fmt: skip
    with codex.program(place) as program:
        program.trust(str(place.tree))
        thread = program.start(str(place.tree))
        program.wait_for_server()
        thread.say(model.add("first", turns))
        thread.compact()
        thread.say(model.add("second", [uses("exec_command", cmd="cat moved.py"), says("Again.")]))
        program.fork(thread.name).say(model.add("third", [says("Forked.")]))
        scripting = program.start(str(place.tree), codex.SCRIPTING)
        program.wait_for_server()
        scripts = [Turn((Call("exec", script),)) for script in SCRIPTS]
        scripting.say(model.add("fourth", [*scripts, says("Scripts ran.")]))
        script = 'text((await tools.exec_command({cmd: "cat moved.py"})).output)'
        model.add("sub", [Turn((Call("exec", script),)), says("Seen.")])
        delegated = uses(
            "collaboration/spawn_agent", task_name="look", message="[[sub]]", fork_turns="none"
        )
        waits = uses("collaboration/wait_agent", timeout_ms=20000)
        delegating = program.start(str(place.tree), codex.DELEGATING)
        delegating.say(model.add("sixth", [delegated, waits, says("Delegated.")]))
    with codex.program(place) as program:
        program.resume(thread.name).say(model.add("fifth", [says("Back.")]))


def of_gemini(place: Place, model: Model, command: str) -> None:
    """A session of Gemini CLI."""
    gemini.configure_recorded(place, command, server(place))
    a, b = str(place.tree / "src/a.py"), str(place.tree / "b.py")
    turns = [
        uses("read_file", file_path=a),
        uses("read_file", file_path=a, start_line=5, end_line=8),
        uses("read_file", file_path=b, start_line=8),
        uses("read_file", file_path=str(place.tree / "none.py")),
        *(uses("run_shell_command", command=command) for command in SHELL),
        uses("run_shell_command", command="echo no >&2; exit 3"),
        uses("replace", file_path=a, instruction="-", old_string="a_3 = 3", new_string="a_3 = 33"),
        uses("write_file", file_path=str(place.tree / "c.py"), content="c = 1\n"),
        uses("grep_search", pattern="a_7"),
        uses("glob", pattern="*.py"),
        uses("mcp_triseek_search_content", query="a_7"),
        says("All was done."),
    ]
    gemini.ask(place, model.url, model.add("first", turns))


def of_opencode(place: Place, model: Model, kept: Path) -> None:
    """Sessions of OpenCode, as the plugin tells of them."""
    installed_into(opencode, place, model, kept)
    a, b = str(place.tree / "src/a.py"), str(place.tree / "b.py")
    turns = [
        *of_both(opencode, a, b),
        opencode.read(str(place.tree / "none.py")),
        opencode.edit(a, "a_3 = 3", "a_3 = 33"),
        uses("write", filePath=str(place.tree / "c.py"), content="c = 1\n"),
        uses("grep", pattern="a_1 "),
        uses("glob", pattern="*.py"),
        uses("triseek_search_content", query="a_7"),
        *opencode.delegate(model.add("sub", [opencode.read(b), says("Seen.")])),
        says("All was done."),
    ]
    with opencode.session(place, model.url) as session:
        session.say(model.add("first", turns))
        session.compact()
        session.say(model.add("second", [opencode.read(b), says("Again.")]))
        session.revert(session.message)
        session.say(model.add("third", [opencode.read(b), says("Reverted.")]))
        session.fork().say(model.add("fourth", [opencode.read(b), says("Forked.")]))
        session.clear()
        session.say(model.add("fifth", [says("Anew.")]))


def of_pi(place: Place, model: Model, kept: Path) -> None:
    """Sessions of Pi, as the extension tells of them."""
    installed_into(pi, place, model, kept)
    turns = [
        *of_both(pi, "src/a.py", "b.py"),
        pi.read("none.py"),
        pi.edit("src/a.py", "a_3 = 3", "a_3 = 33"),
        uses("write", path="c.py", content="c = 1\n"),
        uses("mcp__triseek__search_content", query="a_7"),
        says("All was done."),
    ]
    with pi.session(place, model.url) as session:
        session.say(model.add("first", turns))
        session.compact()
        session.say(model.add("second", [pi.read("b.py"), says("Again.")]))
        point = session.ask("get_fork_messages")["messages"][-1]["entryId"]
        session.ask("fork", entryId=point)
        session.say(model.add("third", [pi.read("b.py"), says("Forked.")]))
        session.clear()
        session.say(model.add("fourth", [says("Anew.")]))
    with pi.session(place, model.url, "--continue") as session:
        session.say(model.add("fifth", [says("Back.")]))


def of_both(agent: Any, a: str, b: str) -> list[Turn]:
    """Reads and commands."""
    return [
        agent.read(a),
        agent.read(a, 5, 8),
        agent.read(b, 1, 3),
        *(agent.shell(command) for command in SHELL),
        agent.shell("echo no >&2; exit 3"),
    ]


def installed_into(agent: Any, place: Place, model: Model, kept: Path) -> None:
    """Install a `triseek` that keeps what it is told, in place of the recorder."""
    agent.configure(place, model.url)
    environ = {"TRISEEK_HOME": str(place.home / ".triseek"), "TRISEEK_NO_DAEMON": "1"}
    program = witness.program(place.home / "bin" / "triseek", kept, place.tree, environ)
    run([program, "install", agent.NAME], place.tree, place.env(**environ))


PATCH = """\
*** Begin Patch
*** Add File: e.py
+e = 1
*** Update File: src/a.py
@@
-a_3 = 3
+a_3 = 33
*** Update File: b.py
*** Move to: moved.py
@@
-b_9 = 9
+b_9 = 99
*** Delete File: d.py
*** End Patch
"""
SCRIPTS = (
    'const r = await tools.exec_command({cmd: "cat src/a.py"}); text(r.output)',
    'const r = await tools.exec_command({cmd: "cat src/a.py"}); text("It has 20 lines.")',
    'text(await tools.mcp__triseek__search_content({query: "a_7"}))',
)
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
CLIENTS: Mapping[str, tuple[str, Callable[[Place, Model, Any], None]]] = {
    "claude-code": ("claude", of_claude),
    "codex": ("codex", of_codex),
    "gemini": ("gemini", of_gemini),
    "opencode": ("opencode", of_opencode),
    "pi": ("pi", of_pi),
}


def server(place: Place) -> dict[str, Any]:
    """How an agent starts our server."""
    words = ["-m", "triseek", "mcp", "serve", "--repo", str(place.tree)]
    env = {name: value for name, value in place.env().items() if name not in ("PATH", "HOME")}
    return {"command": sys.executable, "args": words, "env": env}


def toml(table: Mapping[str, Any]) -> str:
    """A table of texts, lists and tables, for TOML."""

    def value(one: Any) -> str:
        if isinstance(one, dict):
            return "{" + ", ".join(f"{name} = {value(each)}" for name, each in one.items()) + "}"
        return json.dumps(one)

    return "".join(f"{name} = {value(one)}\n" for name, one in table.items())


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
        by_hooks = play in (of_claude, of_codex, of_gemini)
        by_command = shlex.join([sys.executable, "-S", "-E", str(RECORDER), str(kept)])
        play(place, model, by_command if by_hooks else kept)
        version = run([program, "--version"], place.tree, place.env()).split()
        number = next(word for word in version if word[0].isdigit())
        found = fixtures.recorded(kept) if by_hooks else fixtures.witnessed(kept)
        return fixtures.write(client, number, place, found)


def main(clients: list[str]) -> None:
    """Record the clients that are named, or all."""
    for client in clients or CLIENTS:
        print(client, record(client))


if __name__ == "__main__":
    main(sys.argv[1:])
