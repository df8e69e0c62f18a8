"""The memory toolset, by an outside client over stdio: every tool, parameter, bound and error.

What a profile process writes (`triseek memory serve`) is seen at once, and the other way round.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
import uuid
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agents import Agent, agent
from tests.e2e.serving import daemon, environ, triseek

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

CONTRACT = {
    "memory_remember": ({"palace", "text", "room", "tags"}, ["text"]),
    "memory_recall": ({"palace", "query", "top_k"}, ["query"]),
    "memory_recall_deep": ({"palace", "query", "top_k"}, ["query"]),
    "palace_create": ({"name", "description"}, ["name"]),
    "palace_list": (set(), None),
    "kg_assert": (
        {"palace", "subject", "predicate", "object", "confidence", "provenance"},
        ["subject", "predicate", "object"],
    ),
    "kg_query": ({"palace", "subject"}, ["subject"]),
    "memory_list": ({"palace", "room", "tag", "limit"}, None),
    "memory_forget": ({"palace", "drawer_id"}, ["drawer_id"]),
    "palace_info": ({"palace"}, None),
}
"""The contract's tools: their arguments, and which are required where there is a default palace."""
ADDED = ("memory_update", "memory_restore", "kg_retract")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
EXAMPLE = {
    "text": "The API gateway validates JWT tokens using RS256.",
    "room": "Backend",
    "tags": ["auth", "jwt", "api-gateway"],
}
"""As the contract has it."""


class Place:
    """A state folder with a daemon, and a repository."""

    def __init__(self, home: Path, root: Path) -> None:
        self.home, self.root = home, root

    @contextlib.contextmanager
    def agent(self, toolsets: str = "memory", root: Path | None = None) -> Iterator[Agent]:
        with agent(root or self.root, "--toolsets", toolsets, **environ(self.home)) as client:
            yield client


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    home = tmp_path_factory.mktemp("memory-toolset-home")
    root = tmp_path_factory.mktemp("memory-toolset").resolve() / "shop"
    (root / ".git").mkdir(parents=True)
    (root / "gateway.py").write_text("def validate(token): ...\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        with daemon(home):
            yield Place(home, root)


@pytest.fixture(scope="module")
def server(place: Place) -> Iterator[Agent]:
    with place.agent("default,memory") as client:
        yield client


@pytest.fixture
def palace(server: Agent) -> str:
    name = f"p-{uuid.uuid4().hex[:8]}"
    assert server.call("palace_create", name=name) == {"palace_id": name, "status": "created"}
    return name


def error(server: Agent, tool: str, **asked: Any) -> str:
    """The message of a call that has to fail, as an agent sees it."""
    result = server.result(tool, **asked)
    assert result.is_error, asked
    [block] = result.content
    assert block.text.startswith(f"{tool} error [INVALID_QUERY]: ")
    assert "Suggested: " in block.text
    return str(block.text)


def contents(answer: dict[str, Any]) -> list[str]:
    return [row["content"] for row in answer.get("results", answer.get("drawers"))]


# What is offered.


def test_the_toolset_is_off_by_default(place: Place) -> None:
    with place.agent("default") as client:
        names = {tool.name for tool in client.tools()}
        told = client.told.instructions

    assert not names & {*CONTRACT, *ADDED}
    assert "memory_recall" not in told


def test_the_contracts_tools_come_first_with_its_arguments(place: Place) -> None:
    with place.agent() as client:
        tools = client.tools()
        told = client.told.instructions

    assert [tool.name for tool in tools] == [*CONTRACT, *ADDED]
    assert "memory_recall" in told
    for tool in tools[: len(CONTRACT)]:
        arguments, required = CONTRACT[tool.name]
        assert arguments <= tool.input_schema.get("properties", {}).keys()
        assert tool.input_schema.get("required") == required
    by_name = {
        tool.name: tool.input_schema["properties"] for tool in tools if tool.name != "palace_list"
    }
    assert by_name["memory_recall"]["top_k"]["default"] == 10
    assert by_name["memory_recall"]["top_k"]["maximum"] == 100
    assert by_name["memory_list"]["limit"]["default"] == 50
    assert by_name["kg_assert"]["confidence"]["default"] == 1.0


def test_only_with_the_memory_others_have_an_argument_for_it(place: Place, server: Agent) -> None:
    def of(client: Agent) -> set[str]:
        tools = ((tool.name, tool.input_schema.get("properties", {})) for tool in client.tools())
        return {name for name, properties in tools if "memory" in properties}

    with place.agent("default") as client:
        without = of(client)

    assert (without, of(server)) == (set(), {"context_pack", "session_resume"})


# The contract's examples, with a palace that is named.


def test_the_contracts_examples(server: Agent, palace: str, place: Place) -> None:
    stored = server.call("memory_remember", palace=palace, **EXAMPLE)
    query = "How does token validation work?"
    recalled = server.call("memory_recall", palace=palace, query=query, top_k=5)
    deep = server.call("memory_recall_deep", palace=palace, query="JWT gateway", top_k=20)
    listed = server.call("memory_list", palace=palace, room="Backend", tag="auth", limit=20)
    info = server.call("palace_info", palace=palace)
    palaces = server.call("palace_list")
    forgotten = server.call("memory_forget", palace=palace, drawer_id=stored["drawer_id"])

    drawer = {
        "drawer_id": stored["drawer_id"], "content": EXAMPLE["text"], "tags": EXAMPLE["tags"],
        "importance": 0.5, "room": "Backend",
    }  # fmt: skip
    assert stored == {"drawer_id": stored["drawer_id"], "palace": palace, "status": "stored"}
    assert (recalled["palace"], recalled["query"]) == (palace, query)
    for answer, layer in ((recalled, 2), (deep, 3)):
        [row] = answer["results"]
        assert TIME.fullmatch(row.pop("created_at"))
        assert 0 < row.pop("score") <= 1
        assert row == {**drawer, "layer": layer}
        assert answer["context"] == {"identity": "", "essentials": []}
    [row] = listed["drawers"]
    assert TIME.fullmatch(row.pop("created_at"))
    assert row == drawer
    assert (listed["palace"], set(listed)) == (palace, {"palace", "drawers"})
    assert info == {
        "id": palace, "name": palace, "drawer_count": 1, "data_dir": str(place.home / "memory"),
        "triple_count": 0, "description": "",
    }  # fmt: skip
    assert palace in palaces["palaces"]
    assert forgotten == {
        "status": "deleted", "drawer_id": stored["drawer_id"], "palace": palace
    }  # fmt: skip


def test_the_contracts_examples_of_the_graph(server: Agent, palace: str) -> None:
    fact = {"subject": "auth-service", "predicate": "deployed_version", "object": "2.4.1"}
    asserted = server.call(
        "kg_assert", palace=palace, **fact, confidence=0.95, provenance="deploy-log-2026-05-10"
    )
    answer = server.call("kg_query", palace=palace, subject="auth-service")
    [triple] = answer["triples"]
    server.call("kg_assert", palace=palace, **{**fact, "object": "2.5.0"})
    now = server.call("kg_query", palace=palace, subject="auth-service")["triples"]

    assert asserted == {"status": "asserted"}
    assert set(answer) == {"subject", "triples"}
    assert TIME.fullmatch(triple.pop("valid_from"))
    assert triple == {
        **fact, "valid_to": None, "confidence": 0.95, "provenance": "deploy-log-2026-05-10"
    }  # fmt: skip
    assert [triple["object"] for triple in now] == ["2.5.0"]


# What is added to the contract.


def test_filters_and_bounds_of_a_recall(server: Agent, palace: str) -> None:
    for room, tag in (("Frontend", "a"), ("Backend", "b")):
        server.call("memory_remember", palace=palace, text=f"token {room}", room=room, tags=[tag])

    def recalled(tool: str, **more: Any) -> list[str]:
        return contents(server.call(tool, palace=palace, query="token", **more))

    for tool in ("memory_recall", "memory_recall_deep"):
        assert len(recalled(tool)) == 2
        assert recalled(tool, room="backend") == ["token Backend"]
        assert recalled(tool, tag="a") == ["token Frontend"]
        assert recalled(tool, since="2901-01-01") == []
        assert recalled(tool, since=time.time_ns() // 10**6 - 600_000) == recalled(tool)
        assert len(recalled(tool, top_k=1)) == 1
        assert "top_k: 0 is not from 1 to 100" in error(server, tool, query="x", top_k=0)
        assert "since: invalid timestamp" in error(server, tool, query="x", since="soon")
        assert "the query is empty" in error(server, tool, query=" ")


def test_importance_and_source_of_a_drawer(server: Agent, palace: str) -> None:
    server.call("memory_remember", palace=palace, text="minor", importance=0)
    server.call("memory_remember", palace=palace, text="major", importance=1, source="a meeting")

    listed = server.call("memory_list", palace=palace)
    recalled = server.call("memory_recall", palace=palace, query="minor")

    assert contents(listed) == ["major", "minor"]
    assert [row["content"] for row in recalled["context"]["essentials"]] == ["major"]
    assert "importance: 2 is not from 0 to 1" in error(
        server, "memory_remember", text="x", importance=2
    )


def test_pages_of_a_list(server: Agent, palace: str) -> None:
    for number in range(3):
        server.call("memory_remember", palace=palace, text=f"fact {number}")
    first = server.call("memory_list", palace=palace, limit=2)
    rest = server.call("memory_list", palace=palace, limit=2, offset=first["next_offset"])

    assert contents(first) + contents(rest) == ["fact 0", "fact 1", "fact 2"]
    assert "next_offset" not in rest
    assert contents(server.call("memory_list", palace=palace, since="2901-01-01")) == []
    for name, value in (("limit", 0), ("limit", 501), ("offset", -1)):
        assert f"{name}: {value} is not from" in error(server, "memory_list", **{name: value})


def test_a_drawer_is_changed_forgotten_restored_and_purged(server: Agent, palace: str) -> None:
    drawer = server.call("memory_remember", palace=palace, text="old words")["drawer_id"]
    this = {"palace": palace, "drawer_id": drawer}

    updated = server.call("memory_update", **this, text="new words")
    assert contents(server.call("memory_recall", palace=palace, query="words")) == ["new words"]
    forgotten = server.call("memory_forget", **this)
    again = server.call("memory_forget", **this)
    restored = server.call("memory_restore", **this)
    assert contents(server.call("memory_recall", palace=palace, query="words")) == ["new words"]
    purged = server.call("memory_forget", **this, purge=True)
    gone = server.call("memory_restore", **this)

    answers = (updated, forgotten, again, restored, purged, gone)
    assert [answer["status"] for answer in answers] == [
        "updated", "deleted", "not_found", "restored", "purged", "not_found"
    ]  # fmt: skip
    assert {answer["drawer_id"] for answer in answers} == {drawer}


def test_history_several_objects_and_retraction_of_facts(server: Agent, palace: str) -> None:
    alice = {"palace": palace, "subject": "alice"}
    for name in ("bob", "carol"):
        server.call("kg_assert", **alice, predicate="knows", object=name, multi=True)
    both = server.call("kg_query", **alice)["triples"]
    time.sleep(0.01)
    retracted = server.call("kg_retract", **alice, predicate="knows", object="bob")
    left = server.call("kg_query", **alice)["triples"]
    then = server.call("kg_query", **alice, as_of=both[1]["valid_from"])["triples"]
    whole = server.call("kg_query", **alice, include_history=True)["triples"]

    assert retracted == {"status": "retracted", "retracted": 1}
    assert [triple["object"] for triple in left] == ["carol"]
    assert [triple["object"] for triple in then] == ["bob", "carol"]
    assert [triple["valid_to"] is None for triple in whole] == [False, True]
    assert "exclude each other" in error(
        server, "kg_query", **alice, as_of="2025-01-01", include_history=True
    )


def test_a_palace_that_exists_is_not_reset(server: Agent, palace: str) -> None:
    server.call("memory_remember", palace=palace, text="kept")

    assert server.call("palace_create", name=palace)["status"] == "exists"
    assert server.call("palace_info", palace=palace)["drawer_count"] == 1


# Errors and texts.


@pytest.mark.parametrize("name", ["../x", "", " ", "a/b", "x" * 101, "a\x00b", "a\nb", "-rf"])
def test_hostile_names_of_palaces_are_refused(server: Agent, place: Place, name: str) -> None:
    assert "palace's name" in error(server, "palace_create", name=name)
    assert not (place.home / "x").exists()


@pytest.mark.parametrize("tool", sorted({*CONTRACT, *ADDED} - {"palace_create", "palace_list"}))
def test_a_palace_that_is_not_there_is_an_error_with_a_next_step(server: Agent, tool: str) -> None:
    usual = {
        "text": "x", "query": "x", "subject": "x", "predicate": "x", "object": "x",
        "drawer_id": str(uuid.uuid4()),
    }  # fmt: skip
    [schema] = [one.input_schema for one in server.tools() if one.name == tool]
    asked = {name: usual[name] for name in schema.get("required", ())}

    text = error(server, tool, palace="nowhere", **asked)

    assert "there is no palace 'nowhere'" in text
    assert "palace_create" in text
    for name in asked:
        assert name in error(server, tool, **{**asked, name: [1]})
        assert name in error(server, tool, **{key: asked[key] for key in asked if key != name})
    assert "nonsense" in error(server, tool, **asked, nonsense=1)


def test_a_text_is_short_and_its_ids_are_those_that_forget_takes(
    server: Agent, palace: str
) -> None:
    server.call("memory_remember", palace=palace, text="a fact to forget")
    text = server.text("memory_recall", palace=palace, query="fact")
    [drawer] = re.findall(r"\[([0-9a-f-]{36})\]", text)

    assert len(text) < 250
    assert server.call("memory_forget", palace=palace, drawer_id=drawer)["status"] == "deleted"
    assert text.splitlines()[-1] == "  a fact to forget"


def test_secrets_are_stored_nowhere(server: Agent, palace: str, place: Place) -> None:
    server.call("memory_remember", palace=palace, text=f"the token is {TOKEN} still", source=TOKEN)
    server.call("kg_assert", palace=palace, subject="ci", predicate="token", object=TOKEN)

    assert contents(server.call("memory_recall", palace=palace, query="token")) != []
    files = [path for path in place.home.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]


def test_calls_are_recorded_in_the_session_without_the_texts(server: Agent, place: Place) -> None:
    session = server.call("session_open", goal="remember")["session"]["session_id"]
    server.call("memory_remember", text="a sentence that can be forgotten", room="Testing")
    server.call("memory_recall", query="something")
    server.call("session_close", session_id=session)

    shown = triseek(place.home, "replay", session, "--json").stdout
    assert '"memory_remember"' in shown
    assert '"memory_recall"' in shown
    assert '"Testing"' in shown
    assert "that can be forgotten" not in shown


# The palace of the repository.


def test_the_repositorys_palace_is_the_default(place: Place, tmp_path: Path) -> None:
    root = tmp_path / "wares"
    (root / "deep").mkdir(parents=True)
    (root / ".git").mkdir()
    with place.agent(root=root / "deep") as client:
        before = client.result("memory_recall", query="shelf")
        stored = client.call("memory_remember", text="The shelf is full.")
        after = client.call("memory_recall", query="shelf")
    with place.agent(root=root) as client:
        seen = client.call("memory_recall", query="shelf")

    assert not before.is_error
    assert before.structured_content["results"] == []
    assert "memory_remember" in before.structured_content["hint"]
    assert "memory_remember" in before.content[0].text
    assert stored["palace"] == after["palace"] == seen["palace"] == "wares"
    assert contents(after) == contents(seen) == ["The shelf is full."]


def test_a_pack_and_a_resume_draw_on_it_when_asked(server: Agent, place: Place) -> None:
    drawer = server.call("memory_remember", text="validate of the gateway is slow", importance=0.9)
    shown = f"[{drawer['drawer_id']}] validate of the gateway is slow"
    session = server.call("session_open", goal="mend validate of the gateway")["session"]
    snapshot = server.call("session_snapshot", session_id=session["session_id"])["snapshot_id"]

    pack = server.result("context_pack", goal="mend validate of the gateway", memory=True)
    resumed = server.call("session_resume", snapshot_id=snapshot, memory=True)
    by_command = triseek(
        place.home, "context-pack", str(place.root), "--goal", "mend validate", "--memory"
    )
    by_resume = triseek(
        place.home, "resume", snapshot, "--memory", "--repo", str(place.root), "--print"
    )

    assert pack.structured_content["memory"]["note"] == "from the project's palace shop"
    assert shown in pack.content[0].text
    assert "context_pack" not in by_command.stderr
    assert shown in by_command.stdout
    for payload in (resumed["payload_markdown"], by_resume.stdout):
        assert f"- drawer {drawer['drawer_id']}: `validate of the gateway is slow`" in payload
        assert "`from the project's palace shop`" in payload


# Several at once.


def profile(place: Place, palace: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "triseek", "memory", "serve", "--palace", palace],
        env={**os.environ, **environ(place.home)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def said(process: subprocess.Popen[str], tool: str, **asked: Any) -> dict[str, Any]:
    """The answer of a profile process to a call."""
    params = {"name": tool, "arguments": asked}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    return dict(json.loads(answer["result"]["content"][0]["text"]))


def test_two_sessions_see_each_others_writes_at_once(
    server: Agent, place: Place, palace: str
) -> None:
    with place.agent() as other:
        for number, (writer, reader) in enumerate([(server, other), (other, server)] * 5):
            text = f"sentence number {number}"
            drawer = writer.call("memory_remember", palace=palace, text=text)["drawer_id"]
            assert text in contents(reader.call("memory_recall", palace=palace, query=text))
            reader.call("memory_forget", palace=palace, drawer_id=drawer)
            assert text not in contents(writer.call("memory_recall", palace=palace, query=text))


@pytest.mark.skipif(not find_spec("triseek.memory.profile"), reason="there is no profile")
def test_a_session_and_a_profile_process_see_each_others_writes_at_once(
    server: Agent, place: Place, palace: str
) -> None:
    with contextlib.closing(
        sqlite3.connect(f"file:{place.home}/memory/memory.db?mode=ro", uri=True)
    ) as database:
        assert database.execute("SELECT 1 FROM palaces WHERE name = ?", (palace,)).fetchone()
    with profile(place, palace) as process:
        for number in range(5):
            ours, theirs = f"our sentence {number}", f"their sentence {number}"
            server.call("memory_remember", palace=palace, text=ours)
            assert ours in contents(said(process, "memory_recall", query=ours))
            drawer = said(process, "memory_remember", text=theirs)["drawer_id"]
            assert theirs in contents(server.call("memory_recall", palace=palace, query=theirs))
            said(process, "memory_forget", drawer_id=drawer)
            assert theirs not in contents(server.call("memory_recall", palace=palace, query=theirs))
        assert process.stdin
        process.stdin.close()
        assert process.wait(10) == 0
