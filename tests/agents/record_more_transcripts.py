"""Record what Pi, OpenCode, Cline and Copilot CLI write to disk.

`python -m tests.agents.record_more_transcripts FOLDER pi`, as `record_transcripts` does for agents
whose files only grow. Tests name ids and times of what is recorded, so a new recording goes into a
folder of its own, and is put in place by hand. The command that a person typed in Pi's session was
recorded by hand, too. Copilot CLI is the program that `TRISEEK_COPILOT` names.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.agents import cline, openai, opencode, pi
from tests.agents.model import Model, serving
from tests.agents.place import Place, run
from tests.agents.script import says, uses
from tests.e2e.mcp_clients import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.agents.script import Turn

DROPPED = frozenset(
    (
        "sections", "systemMessage", "system_prompt", "usage", "aggregateUsage", "checkpoint",
        "metrics", "tokens", "cost", "snapshot", "toolTelemetry", "detailedContent", "diff",
        "filediff", "display", "diagnostics", "preview", "accountingSnapshot",
    )
)  # fmt: skip
"""Fields that no reader needs, some with texts that are not ours."""
COLUMNS = {
    "session": "id, parent_id, directory, title, version, model, time_created, time_updated",
    "message": "id, session_id, time_created, time_updated, data",
    "part": "id, message_id, session_id, time_created, time_updated, data",
}


def plant(tree: Path) -> None:
    """A repository with a program and a test that fails."""
    tree.mkdir()
    (tree / "a.py").write_text("def add(a, b):\n    return a - b\n")
    (tree / "test_a.py").write_text('from a import add\n\nassert add(1, 2) == 3, "wrong sum"\n')
    env = {"PATH": os.environ["PATH"], "HOME": str(tree)}
    who = ["-c", "user.name=You", "-c", "user.email=you@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "Begin"]):
        run(["git", *words], tree, env)


def of_pi(place: Place, model: Model) -> list[Path]:
    """A session with a name, a typed command and a compaction; its fork; and a new one."""
    pi.configure(place, model.url)
    a, missing, new = _paths(place)
    turns = [
        pi.read(a), pi.shell("python3 test_a.py"), pi.edit(a, "a - b", "a + b"),
        uses("write", path=new, content="# Notes\n"), pi.shell("python3 test_a.py && echo fine"),
        pi.read(missing), uses("grep", pattern="add", path=str(place.tree)),
        says("add() subtracted; fixed."),
    ]  # fmt: skip
    with pi.session(place, model.url) as session:
        session.say(model.add("p1", turns))
        session.ask("set_session_name", name="Fix the sum")
        session.say(model.add("p2", [says("Second answer.")]))
        session.compact()
        session.say(model.add("p3", [says("After the compaction.")]))
        prompts = session.ask("get_fork_messages")["messages"]
        session.ask("fork", entryId=prompts[1]["entryId"])
        session.say(model.add("p4", [says("In the fork.")]))
        session.clear()
        session.say(model.add("p5", [says("Anew.")]))
    return sorted(place.home.glob(".pi/agent/sessions/*/*.jsonl"))


def of_opencode(place: Place, model: Model) -> list[Path]:
    """A session with a sub-agent, a compaction and an undone prompt; and its fork."""
    opencode.configure(place, model.url)
    a, missing, new = _paths(place)
    turns = [
        opencode.read(a), opencode.shell("python3 test_a.py"), opencode.edit(a, "a - b", "a + b"),
        uses("write", filePath=new, content="# Notes\n"),
        opencode.shell("python3 test_a.py && echo fine"), opencode.read(missing),
        uses("grep", pattern="add", path=str(place.tree)), says("add() subtracted; fixed."),
    ]  # fmt: skip
    with opencode.server(place) as server:
        session = server.start()
        session.say(model.add("p1", turns))
        sub = model.add("sub", [opencode.read(a), says("It adds now.")])
        session.say(model.add("p2", [*opencode.delegate(sub), says("The sub-agent agrees.")]))
        second = session.message
        session.compact()
        session.say(model.add("p3", [says("After the compaction.")]))
        session.fork(second).say(model.add("p4", [says("In the fork.")]))
        session.say(model.add("p5", [says("To be reverted.")]))
        session.revert(session.message)
        session.say(model.add("p6", [says("Instead.")]))
        path = place.home / ".local/share/opencode/opencode.db"
        return [_tables(path, place.home / "opencode.json")]


def of_cline(place: Place, model: Model) -> list[Path]:
    """A session with a sub-agent."""
    cline.configure(place, model.url)
    a, missing, _ = _paths(place)
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n def add(a, b):\n-    return a - b\n"
        "+    return a + b\n*** Add File: notes.md\n+# Notes\n*** End Patch"
    )
    files = [{"path": a}]
    sub = model.add("sub", [uses("read_files", files=files), says("It adds now.")])
    turns = [
        uses("read_files", files=[*files, {"path": missing}]),
        uses("run_commands", commands=["python3 test_a.py"]),
        uses("apply_patch", input=patch),
        uses("run_commands", commands=["python3 test_a.py", "echo fine"]),
        uses("spawn_agent", systemPrompt="Help.", task=sub),
        says("add() subtracted; fixed."),
    ]
    with speaking():
        cline.ask(place, model.add("p1", turns))
    return sorted(place.home.glob(".cline/data/sessions/*/*.json"))


@contextlib.contextmanager
def speaking() -> Iterator[None]:
    """Have the model send texts in parts, too: Cline takes them from those."""
    whole = openai.stream

    def stream(turn: Turn, number: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, data in whole(turn, number):
            yield name, data
            item = data.get("item", {})
            if name == "response.output_item.added" and item.get("type") == "message":
                kind = "response.output_text.delta"
                text = item["content"][0]["text"]
                yield kind, {
                    "type": kind, "item_id": item["id"], "output_index": data["output_index"],
                    "content_index": 0, "delta": text,
                }  # fmt: skip

    openai.stream = stream
    try:
        yield
    finally:
        openai.stream = whole


def of_copilot(place: Place, model: Model) -> list[Path]:
    """A session with a sub-agent that is resumed."""
    a, missing, new = _paths(place)
    sub = model.add("sub", [uses("view", path=a), says("It adds now.")])
    turns = [
        uses("view", path=a),
        uses("bash", command="python3 test_a.py", description="Run"),
        uses("edit", path=a, old_str="a - b", new_str="a + b"),
        uses("create", path=new, file_text="# Notes\n"),
        uses("bash", command="python3 test_a.py && echo fine", description="Run"),
        uses("view", path=missing),
        uses("task", agent_type="general-purpose", description="Look", name="look", prompt=sub),
        says("add() subtracted; fixed."),
    ]
    env = place.env(
        COPILOT_OFFLINE="true", COPILOT_PROVIDER_BASE_URL=model.url, COPILOT_MODEL="scripted",
        COPILOT_PROVIDER_TYPE="anthropic", COPILOT_PROVIDER_API_KEY="none",
        COPILOT_AUTO_UPDATE="false",
    )  # fmt: skip
    program = os.environ["TRISEEK_COPILOT"]
    for mark, answers, more in (
        ("p1", turns, []),
        ("p2", [says("Second answer.")], ["--continue"]),
    ):
        words = [program, "-p", model.add(mark, answers), "--allow-all-tools", *more]
        run(words, place.tree, env)
    return sorted(place.home.glob(".copilot/session-state/*/*.[jy]*"))


def _paths(place: Place) -> tuple[str, str, str]:
    """A file, one that is missing, and one to write."""
    return tuple(str(place.tree / name) for name in ("a.py", "gone.py", "notes.md"))  # type: ignore[return-value]


def _tables(path: Path, target: Path) -> Path:
    """The rows of a database as JSON, a line each."""
    tables = {}
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        for table, names in COLUMNS.items():
            found = database.execute(f"SELECT {names} FROM {table} ORDER BY rowid")
            rows = [dict(row) for row in found]
            for row in rows:
                if "data" in row:
                    row["data"] = json.loads(row["data"])
            tables[table] = rows
    texts = []
    for table, rows in tables.items():
        lines = ",\n".join(json.dumps(_kept(row)) for row in rows)
        texts.append(f'"{table}": [\n{lines}\n]')
    target.write_text("{\n" + ",\n".join(texts) + "\n}\n")
    return target


def _kept(value: Any) -> Any:
    if isinstance(value, list):
        return [_kept(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _kept(item) for name, item in value.items() if name not in DROPPED}
    if value.get("role") == "system" and "content" in kept:
        kept["content"] = "..."
    return kept


def neutral(path: Path, place: Place) -> str:
    """The text of a file without what is not read, and without folders of this machine."""
    text = path.read_text()
    if path.suffix == ".jsonl":
        lines = (json.dumps(_kept(json.loads(line))) for line in text.splitlines())
        text = "".join(f"{line}\n" for line in lines)
    elif path.suffix == ".json" and path.name != "opencode.json":
        text = json.dumps(_kept(json.loads(text)), indent=1) + "\n"
    text = text.replace(str(place.tree), "/work/repo").replace(str(place.home), "/home/user")
    return text.replace(str(place.programs), "/opt/bin")


RECORDED: Mapping[str, Callable[[Place, Model], list[Path]]] = {
    "pi": of_pi, "opencode": of_opencode, "cline": of_cline, "copilot": of_copilot,
}  # fmt: skip


def main(folder: str, names: list[str]) -> None:
    """Record the agents that are named, or all, into a folder."""
    for name in names or RECORDED:
        with tempfile.TemporaryDirectory() as temporary, serving() as model:
            base = Path(temporary).resolve()
            place = Place(base / "home", base / "repo", installed())
            place.home.mkdir()
            plant(place.tree)
            target = Path(folder, name)
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for path in RECORDED[name](place, model):
                (target / path.name).write_text(neutral(path, place))
                print(target / path.name)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
