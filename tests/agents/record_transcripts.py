"""Record what real agents write to disk: `python -m tests.agents.record_transcripts codex`.

The folders of `tests/agents/fixtures/transcripts` are replaced. The programs come from npm, as in
`tests/e2e/mcp_clients.py`, but Qwen Code, whose folder `TRISEEK_QWEN` names; the model is a script.
What is not part of a conversation is left out of the fixtures, such as the prompts of the programs.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.agents import claude, codex, fixtures, gemini
from tests.agents.model import Model, serving
from tests.agents.place import Ended, Place, run
from tests.agents.script import Call, Turn, says, uses
from tests.e2e.mcp_clients import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER = fixtures.FOLDER / "transcripts"
LONG, CUT = 160, 32
"""Characters: a longer text is not ours, and is cut."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
PATCH = """\
*** Begin Patch
*** Add File: e.py
+e = 1
*** Update File: b.py
*** Move to: moved.py
@@
-b_2 = 2
+b_2 = 22
*** End Patch
"""


def plant(tree: Path) -> None:
    """The repository that agents work in, with a commit."""
    (tree / "src").mkdir(parents=True)
    (tree / "src/a.py").write_text("".join(f"a_{n} = {n}\n" for n in range(1, 5)))
    (tree / "b.py").write_text("".join(f"b_{n} = {n}\n" for n in range(1, 4)))
    env = {"PATH": os.environ["PATH"], "HOME": str(tree)}
    who = ["-c", "user.name=You", "-c", "user.email=you@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "Begin"]):
        run(["git", *words], tree, env)


def of_claude(place: Place, model: Model) -> None:
    """Sessions with a sub-agent, a compaction, a command of the person's, a branch and a fork."""
    commands = place.tree / ".claude/commands"
    commands.mkdir(parents=True)
    (commands / "tell.md").write_text("Tell $ARGUMENTS")
    a, b = str(place.tree / "src/a.py"), str(place.tree / "b.py")
    model.add("sub", [claude.read(b), says("Seen.")])
    turns = [
        claude.read(a),
        claude.read(str(place.tree / "none.py")),
        claude.shell("cat b.py"),
        claude.shell("echo no >&2; exit 3"),
        claude.shell("grep nothing b.py"),
        claude.edit(a, "a_3 = 3", "a_3 = 33"),
        uses("Write", file_path=str(place.tree / "c.py"), content="c = 1\n"),
        Turn((Call("Read", {"file_path": b, "limit": 1}), Call("Bash", {"command": "true"}))),
        *claude.delegate("Look. [[sub]]"),
        says("All was done."),
    ]
    with claude.session(place, model.url) as session:
        session.say(model.add("first", turns))
        session.say("/compact")
        session.say(model.add("second", [claude.read(b), says("Again.")]))
        point = session.message
        session.say("/tell [[third]]")
        name = session.name
    with contextlib.suppress(Ended):
        words = ("--resume", name, "--resume-session-at", point)
        with claude.session(place, model.url, *words) as session:
            session.say(model.add("branch", [says("Another way.")]))
    with claude.session(place, model.url, "--resume", name, "--fork-session") as session:
        session.say(model.add("fork", [says("Forked.")]))


def of_codex(place: Place, model: Model) -> None:
    """Threads with a compaction, a revert, a fork, a script, a sub-agent, and `codex exec`."""
    codex.configure(place, model.url)
    turns = [
        codex.shell("cat b.py"),
        codex.shell("echo no >&2; exit 3"),
        Turn((Call("apply_patch", PATCH),)),
        Turn((Call("apply_patch", PATCH),)),
        says("All was done."),
    ]
    script = 'const r = await tools.exec_command({cmd: "cat src/a.py"}); text(r.output)'
    with codex.program(place) as program:
        thread = program.start(str(place.tree))
        thread.say(model.add("first", turns))
        thread.compact()
        thread.say(model.add("undone", [says("To be undone.")]))
        thread.revert(thread.turns[-1])
        thread.say(model.add("second", [says("After the revert.")]))
        program.fork(thread.name).say(model.add("third", [says("Forked.")]))
        scripting = program.start(str(place.tree), codex.SCRIPTING)
        scripting.say(model.add("fourth", [Turn((Call("exec", script),)), says("Scripts ran.")]))
        model.add("sub", [says("Seen.")])
        delegating = program.start(str(place.tree), codex.DELEGATING)
        delegating.say(model.add("fifth", [*codex.delegate("[[sub]]"), says("Delegated.")]))
    env = place.env(SCRIPTED_KEY="none")
    asked = model.add("exec", [codex.shell("false"), says("Executed.")])
    run(["codex", "exec", "-m", codex.DIRECT, "-s", "danger-full-access", asked], place.tree, env)
    asked = model.add("resumed", [says("Resumed.")])
    run(["codex", "exec", "resume", "--last", "-m", codex.DIRECT, asked], place.tree, env)


def google_turns(place: Place, edit: str) -> list[Turn]:
    """What Gemini CLI and Qwen Code do."""
    a, b = str(place.tree / "src/a.py"), str(place.tree / "b.py")
    return [
        uses("read_file", file_path=a),
        uses("read_file", file_path=str(place.tree / "none.py")),
        uses("run_shell_command", command="cat b.py"),
        uses("run_shell_command", command="echo no >&2; exit 3"),
        uses(edit, file_path=a, instruction="-", old_string="a_3 = 3", new_string="a_3 = 33"),
        uses("write_file", file_path=b, content="b = 1\n"),
        Turn((Call("read_file", {"file_path": b}), Call("glob", {"pattern": "*.py"}))),
        says("All was done."),
    ]


def of_gemini(place: Place, model: Model) -> None:
    """A session that is resumed."""
    gemini.configure(place)
    gemini.ask(place, model.url, model.add("first", google_turns(place, "replace")))
    env = place.env(GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=model.url)
    asked = model.add("second", [says("Back.")])
    words = ["gemini", "-p", asked, "--yolo", "-m", "gemini-2.5-pro", "--resume", "latest"]
    run(words, place.tree, env)


def qwen() -> Path:
    """The program of Qwen Code."""
    return Path(os.environ["TRISEEK_QWEN"], "node_modules/.bin/qwen")


def of_qwen(place: Place, model: Model) -> None:
    """A session with a sub-agent that is continued."""
    env = place.env(GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=model.url)
    words = [str(qwen()), "--yolo", "--auth-type", "gemini", "-m", "gemini-2.5-pro"]
    model.add("sub", [uses("read_file", file_path=str(place.tree / "b.py")), says("Seen.")])
    asked = {"description": "Look", "prompt": "Look. [[sub]]", "subagent_type": "general-purpose"}
    *turns, last = google_turns(place, "edit")
    asked_for = model.add("first", [*turns, uses("agent", **asked), last])
    run([*words, "-p", asked_for], place.tree, env)
    run([*words, "-p", model.add("second", [says("Back.")]), "--continue"], place.tree, env)


CLIENTS: Mapping[str, tuple[Callable[[Place, Model], None], str, str]] = {
    "claude-code": (of_claude, ".claude", "projects"),
    "codex": (of_codex, ".codex", "sessions"),
    "gemini": (of_gemini, ".gemini", "tmp"),
    "qwen": (of_qwen, ".qwen", "projects"),
}
"""What an agent does, its folder in the home, and the folder in there that is kept."""
PROGRAMS = {"claude-code": claude.PROGRAM, "codex": codex.PROGRAM, "gemini": gemini.PROGRAM}


def slim(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what no reader needs and without the programs' own texts."""
    if str(row.get("type")).startswith("api-request") or row.get("type") == "cost-state":
        return {"type": row["type"]}
    if isinstance(row.get("attachment"), dict):
        row = {**row, "attachment": {"type": row["attachment"].get("type")}}
        row.pop("rendered", None)
    payload = row.get("payload")
    if isinstance(payload, dict):
        row = {**row, "payload": _slim_payload(row["type"], payload)}
    if row.get("subtype") == "ui_telemetry":
        row = {**row, "systemPayload": {}}
    short: dict[str, Any] = _cut(row)
    return short


def _slim_payload(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    kept = {"type", "turn_id", "cwd", "model"}
    if kind in ("world_state", "token_usage_record", "turn_context"):
        return {name: payload[name] for name in payload if name in kept}
    if payload.get("type") in ("additional_tools", "token_count", "thread_settings_applied"):
        return {"type": payload["type"]}
    if kind == "compacted":  # after words of the program, the summary is the model's
        payload = {**payload, "message": "…\n" + str(payload.get("message")).rpartition("\n")[2]}
    dropped = {"base_instructions", "dynamic_tools", "replacement_history"}
    return {name: value for name, value in payload.items() if name not in dropped}


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONG else value[:CUT] + "…"
    if isinstance(value, list):
        return [_cut(one) for one in value]
    if isinstance(value, dict):
        return {name: _cut(one) for name, one in value.items()}
    return value


def keep(source: Path, target: Path, place: Place) -> int:
    """Copy the files of conversations, with neutral names and paths; returns how many."""
    names: dict[str, str] = {}

    def neutral(text: str) -> str:
        text = _UUID.sub(lambda found: fixtures._named(found[0], names), text)
        for path, name in ((place.tree, "/work/repo"), (place.home, "/home/you")):
            text = text.replace(str(path), name)
            text = text.replace(fixtures._dashed(str(path)), fixtures._dashed(name))
        return text

    number = 0
    for path in sorted(source.rglob("*"), key=lambda path: path.stat().st_mtime_ns):
        if path.is_dir() or not path.name.endswith((".jsonl", ".meta.json", ".project_root")):
            continue
        text = neutral(path.read_text())
        if path.suffix == ".jsonl":
            rows = map(slim, map(json.loads, text.splitlines()))
            text = "".join(
                json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows
            )
        kept = target / neutral(str(path.relative_to(source)))
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text)
        number += 1
    return number


def record(client: str) -> int:
    """Run one client and write its fixtures; returns how many files there are now."""
    play, folder, inside = CLIENTS[client]
    with tempfile.TemporaryDirectory() as temporary, serving() as model:
        base = Path(temporary).resolve()
        place = Place(base / "home", base / "repo", installed())
        (place.home / folder).mkdir(parents=True)
        plant(place.tree)
        play(place, model)
        target = FOLDER / client
        for old in sorted(target.rglob("*"), reverse=True):
            old.rmdir() if old.is_dir() else old.unlink()
        number = keep(place.home / folder / inside, target / inside, place)
        program = str(qwen()) if client == "qwen" else PROGRAMS[client]
        told = run([program, "--version"], place.tree, place.env()).split()
        version = next(word for word in told if word[0].isdigit())
        (target / "VERSION").write_text(f"recorded with {version}\n")
        return number


def main(clients: list[str]) -> None:
    """Record the clients that are named, or all."""
    for client in clients or CLIENTS:
        print(client, record(client))


if __name__ == "__main__":
    main(sys.argv[1:])
