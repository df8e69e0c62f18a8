"""Every example of the trusty-memory contract, by clients over stdio, and its conformance list."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.mcp.speaking import PATIENCE_S, notice, request
from tests.memory.profile.serving import SERVE, Client, serving
from triseek import __version__
from triseek.memory.service import Memory

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = pytest.mark.long

GOLDEN = Path(__file__).parents[1] / "golden" / "memory"
PACKAGE = str(Path(__file__).parents[2])
PALACE = "my-project"
TEXT = "The API gateway validates JWT tokens using RS256."
TAGS = ["auth", "jwt", "api-gateway"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z")
TOOLS = {
    "memory_remember": {"palace": PALACE, "text": TEXT, "room": "Backend", "tags": TAGS},
    "memory_recall": {"palace": PALACE, "query": "How does token validation work?", "top_k": 5},
    "memory_recall_deep": {"palace": PALACE, "query": "deployment configuration", "top_k": 20},
    "palace_create": {"name": "client-acme", "description": "Memories of the Acme engagement"},
    "palace_list": {},
    "kg_assert": {
        "palace": PALACE, "subject": "auth-service", "predicate": "deployed_version",
        "object": "2.4.1", "confidence": 0.95, "provenance": "deploy-log-2026-05-10",
    },
    "kg_query": {"palace": PALACE, "subject": "auth-service"},
    "memory_list": {"palace": PALACE, "room": "Backend", "tag": "auth", "limit": 20},
    "memory_forget": {"palace": PALACE, "drawer_id": str(uuid.uuid4())},
    "palace_info": {"palace": PALACE},
}  # fmt: skip
"""The contract's examples, in the order of its list of tools."""
KEYS = {
    "memory_remember": ["drawer_id", "palace", "status"],
    "memory_recall": ["palace", "query", "results"],
    "memory_recall_deep": ["palace", "query", "results"],
    "palace_create": ["palace_id", "status"],
    "palace_list": ["palaces"],
    "kg_assert": ["status"],
    "kg_query": ["subject", "triples"],
    "memory_list": ["palace", "drawers"],
    "memory_forget": ["status", "drawer_id", "palace"],
    "palace_info": ["id", "name", "drawer_count", "data_dir"],
}


@pytest.fixture
def client(home: Path) -> Iterator[Client]:
    """A client of a server without a default palace, with the palace of the examples."""
    with serving() as client:
        client.result("palace_create", name=PALACE)
        yield client


@pytest.fixture
def bound(home: Path) -> Iterator[Client]:
    """A client of a server with a default palace."""
    with serving("--palace", PALACE) as client:
        yield client


def stored(client: Client, **more: Any) -> str:
    answer = client.result("memory_remember", **{**TOOLS["memory_remember"], **more})
    return str(answer["drawer_id"])


# The examples.


def test_example_initialize(bound: Client) -> None:
    params = {
        "protocolVersion": "2024-11-05", "capabilities": {},
        "clientInfo": {"name": "open-mpm", "version": "1.0.0"},
    }  # fmt: skip
    answer = bound.spoken.ask(request(1, "initialize", params))
    bound.spoken.say(notice("notifications/initialized"))
    assert answer == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}},
            "serverInfo": {
                "name": "trusty-memory", "version": __version__, "default_palace": PALACE,
            },
        },
    }  # fmt: skip


def test_example_initialize_without_a_palace(client: Client) -> None:
    answer = client.spoken.ask(request(1, "initialize", {"protocolVersion": "2025-11-25"}))
    assert answer["result"]["protocolVersion"] == "2024-11-05"
    assert answer["result"]["serverInfo"] == {"name": "trusty-memory", "version": __version__}


def test_example_tools_list(client: Client, bound: Client) -> None:
    for server, name in (
        (client, "tools_list.json"),
        (bound, "tools_list_with_palace.json"),
    ):
        golden = json.loads((GOLDEN / name).read_bytes())
        assert server.spoken.ask(request(2, "tools/list")) == golden


def test_example_memory_remember(client: Client) -> None:
    answer = client.result("memory_remember", **TOOLS["memory_remember"])
    assert uuid.UUID(answer["drawer_id"]).version == 4
    assert answer == {"drawer_id": answer["drawer_id"], "palace": PALACE, "status": "stored"}


def test_example_memory_recall(client: Client) -> None:
    drawer = stored(client)
    answer = client.result("memory_recall", **TOOLS["memory_recall"])
    [row] = answer["results"]
    assert 0.0 < row["score"] <= 1.0
    assert answer == {
        "palace": PALACE,
        "query": "How does token validation work?",
        "results": [{
            "drawer_id": drawer, "content": TEXT, "score": row["score"], "layer": 2, "tags": TAGS,
            "importance": 0.5,
        }],
    }  # fmt: skip


def test_example_memory_recall_deep(client: Client) -> None:
    text = "Details of the deployment configuration are in deploy.toml."
    drawer = stored(client, text=text, tags=[])
    [row] = client.result("memory_recall_deep", **TOOLS["memory_recall_deep"])["results"]
    assert row == {
        "drawer_id": drawer, "content": text, "score": row["score"], "layer": 3, "tags": [],
        "importance": 0.5,
    }  # fmt: skip


def test_example_palace_create(client: Client) -> None:
    create = TOOLS["palace_create"]
    created = {"palace_id": "client-acme", "status": "created"}
    assert client.result("palace_create", **create) == created
    assert client.result("palace_create", **create) == {**created, "status": "exists"}


def test_example_palace_list(client: Client) -> None:
    for name in ("client-acme", "agent-pm"):
        client.result("palace_create", name=name)
    answer = client.result("palace_list")
    assert answer == {"palaces": ["agent-pm", "client-acme", PALACE]}


def test_example_kg_assert_and_kg_query(client: Client) -> None:
    assert client.result("kg_assert", **TOOLS["kg_assert"]) == {"status": "asserted"}
    answer = client.result("kg_query", **TOOLS["kg_query"])
    [triple] = answer["triples"]
    assert TIME.fullmatch(triple["valid_from"])
    assert answer == {
        "subject": "auth-service",
        "triples": [{
            "subject": "auth-service", "predicate": "deployed_version", "object": "2.4.1",
            "valid_from": triple["valid_from"], "valid_to": None, "confidence": 0.95,
            "provenance": "deploy-log-2026-05-10",
        }],
    }  # fmt: skip


def test_example_memory_list(client: Client) -> None:
    drawer = stored(client)
    stored(client, room="Frontend")
    stored(client, tags=["other"])
    answer = client.result("memory_list", **TOOLS["memory_list"])
    [row] = answer["drawers"]
    assert TIME.fullmatch(row["created_at"])
    assert answer == {
        "palace": PALACE,
        "drawers": [{
            "drawer_id": drawer, "content": TEXT, "importance": 0.5, "tags": TAGS,
            "created_at": row["created_at"],
        }],
    }  # fmt: skip


def test_example_memory_forget(client: Client) -> None:
    drawer = stored(client)
    answer = client.result("memory_forget", palace=PALACE, drawer_id=drawer)
    assert answer == {"status": "deleted", "drawer_id": drawer, "palace": PALACE}


def test_example_palace_info(client: Client, home: Path) -> None:
    stored(client)
    assert client.result("palace_info", palace=PALACE) == {
        "id": PALACE, "name": PALACE, "drawer_count": 1, "data_dir": str(home / "memory"),
    }  # fmt: skip


def test_example_method_not_found(client: Client) -> None:
    assert client.spoken.ask(request(1, "foo")) == {
        "jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found: foo"},
    }  # fmt: skip


def test_example_palace_omitted_without_a_default(client: Client) -> None:
    message = client.error("memory_recall", query="anything")
    assert message == "memory_recall: missing 'palace' (no --palace default configured)"


def test_an_answer_is_one_compact_line(client: Client) -> None:
    line = b'{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"palace_list"}}\n'
    client.spoken.write(line)
    arrived = client.spoken._arrived.get(timeout=PATIENCE_S)
    assert arrived == (
        b'{"jsonrpc":"2.0","id":10,"result":{"content":[{"type":"text",'
        b'"text":"{\\"palaces\\":[\\"my-project\\"]}"}]}}\n'
    )


# The conformance list, a line each.


def test_conformance_names_arguments_and_required_lists(client: Client, bound: Client) -> None:
    def schemas(server: Client) -> dict[str, Any]:
        tools = server.spoken.ask(request(1, "tools/list"))["result"]["tools"]
        return {tool["name"]: tool["inputSchema"] for tool in tools}

    free, fixed = schemas(client), schemas(bound)
    for name, arguments in TOOLS.items():
        assert set(free[name]["properties"]) == set(arguments)
        assert set(fixed[name]["properties"]) == set(arguments)
        assert set(free[name].get("required", [])) <= set(arguments)
        without = [word for word in free[name].get("required", []) if word != "palace"]
        assert fixed[name].get("required", []) == without


def test_conformance_tools_list_has_exactly_the_ten(client: Client) -> None:
    tools = client.spoken.ask(request(1, "tools/list"))["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(TOOLS)


def test_conformance_texts_are_objects_with_the_keys(client: Client) -> None:
    answers = {name: client.result(name, **arguments) for name, arguments in TOOLS.items()}
    assert {name: list(answer) for name, answer in answers.items()} == KEYS


def test_conformance_a_default_palace_serves_calls_that_name_none(bound: Client) -> None:
    for name, arguments in TOOLS.items():
        bare = {key: value for key, value in arguments.items() if key != "palace"}
        answer = bound.result(name, **bare)
        assert answer.get("palace", PALACE) == PALACE


def test_conformance_status_strings_layers_and_times(client: Client) -> None:
    statuses = {name: client.result(name, **TOOLS[name]).get("status") for name in TOOLS}
    assert {name: status for name, status in statuses.items() if status} == {
        "memory_remember": "stored", "palace_create": "created", "kg_assert": "asserted",
        "memory_forget": "not_found",
    }  # fmt: skip
    drawer = stored(client)
    deleted = client.result("memory_forget", palace=PALACE, drawer_id=drawer)
    assert deleted["status"] == "deleted"
    for name in ("memory_recall", "memory_recall_deep"):
        rows = client.result(name, palace=PALACE, query="tokens")["results"]
        assert rows
        assert {type(row["layer"]) for row in rows} == {int}
        assert {row["layer"] for row in rows} <= {0, 1, 2, 3}
    [triple] = client.result("kg_query", **TOOLS["kg_query"])["triples"]
    assert TIME.fullmatch(triple["valid_from"])
    assert triple["valid_to"] is None


def test_conformance_a_second_assert_replaces_and_history_is_kept(
    client: Client, home: Path
) -> None:
    for value in ("2.4.1", "2.5.0"):
        client.result("kg_assert", **{**TOOLS["kg_assert"], "object": value})
    [triple] = client.result("kg_query", **TOOLS["kg_query"])["triples"]
    assert triple["object"] == "2.5.0"
    memory = Memory(str(home / "memory"))
    with contextlib.closing(memory):
        old, new = memory.fact_history(PALACE, "auth-service")
    assert (old.object, old.valid_to, new.valid_to) == ("2.4.1", new.valid_from, None)


def test_conformance_a_sentence_just_stored_is_recalled(client: Client) -> None:
    drawer = stored(client, tags=["z", "a", "m"])
    rows = client.result("memory_recall", palace=PALACE, query=TEXT)["results"]
    [row] = [row for row in rows if row["drawer_id"] == drawer]
    assert row["layer"] in (1, 2)
    assert (row["importance"], row["tags"]) == (0.5, ["z", "a", "m"])


def test_conformance_what_is_forgotten_is_gone(client: Client) -> None:
    drawer = stored(client)
    client.result("memory_forget", palace=PALACE, drawer_id=drawer)
    assert client.result("memory_list", palace=PALACE)["drawers"] == []
    for name in ("memory_recall", "memory_recall_deep"):
        assert client.result(name, palace=PALACE, query=TEXT)["results"] == []
    message = client.error("memory_forget", palace=PALACE, drawer_id="a3f1c2d4-...")
    assert message.startswith("memory_forget: ")
    assert "UUID" in message


def test_conformance_a_missing_palace_is_an_error_of_each_tool(client: Client) -> None:
    for name, arguments in TOOLS.items():
        if "palace" in arguments:
            bare = {key: value for key, value in arguments.items() if key != "palace"}
            message = client.error(name, **bare)
            assert message == f"{name}: missing 'palace' (no --palace default configured)"


def test_conformance_unknown_methods_bad_lines_and_notifications(client: Client) -> None:
    spoken = client.spoken
    spoken.say(
        notice("notifications/initialized"),
        notice("notifications/cancelled", requestId=1),
        notice("nothing"),
        notice("tools/call", name="palace_list"),
    )
    spoken.write(b"\xff\xfe\n\n  \nno json\n[]\n")
    spoken.say(request("x", "nothing"), request(None, "initialize"))
    since = len(spoken.messages)
    for _ in range(5):
        assert spoken.hear()
    heard = [(one["id"], one.get("error", {}).get("code")) for one in spoken.messages[since:]]
    parse_error = (None, -32700)
    assert heard == [parse_error, parse_error, parse_error, ("x", -32601), (None, None)]
    assert spoken.close() == 0
    assert len(spoken.messages) == since + 5


def test_conformance_it_ends_with_its_input(client: Client) -> None:
    assert client.spoken.close() == 0


def test_conformance_it_ends_within_two_seconds_of_a_signal(client: Client) -> None:
    begun = time.monotonic()
    client.spoken.process.send_signal(signal.SIGTERM)
    assert client.spoken.process.wait(PATIENCE_S) == 0
    assert time.monotonic() - begun < 2.0


@pytest.mark.parametrize(
    "level", ["", "trace", "debug", "off", "nonsense=,=", "trusty_memory=info"]
)
def test_conformance_standard_output_has_only_messages(home: Path, level: str) -> None:
    with serving("--palace", PALACE, RUST_LOG=level) as client:
        for name, arguments in TOOLS.items():
            client.answer(name, **arguments)
        client.error("memory_recall", palace="none", query="x")
        assert client.spoken.close() == 0  # whatever is not JSON-RPC fails there
        assert bool(client.spoken.said) == (level in ("trace", "debug"))


# Several processes.


def test_two_processes_see_each_others_writes_at_once(bound: Client) -> None:
    with serving("--palace", PALACE) as other:
        drawer = stored(bound)
        rows = other.result("memory_recall", query="tokens gateway")["results"]
        assert [row["drawer_id"] for row in rows] == [drawer]
        assert other.result("memory_forget", drawer_id=drawer)["status"] == "deleted"
        assert bound.result("memory_list")["drawers"] == []


def test_two_processes_write_at_once(bound: Client) -> None:
    with serving("--palace", PALACE) as other:

        def write(client: Client, name: str) -> None:
            for number in range(100):
                stored(client, text=f"{name} {number}")

        threads = [
            threading.Thread(target=write, args=pair) for pair in ((bound, "a"), (other, "b"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        texts = [row["content"] for row in other.result("memory_list", limit=1_000)["drawers"]]
    assert sorted(texts) == sorted(f"{name} {number}" for name in "ab" for number in range(100))


# The client of the MCP package.


def test_the_mcp_packages_client(home: Path) -> None:
    @contextlib.asynccontextmanager
    async def connected() -> AsyncIterator[Any]:
        server = StdioServerParameters(
            command=sys.executable,
            args=[*SERVE, "--palace", PALACE],
            env={**os.environ, "PYTHONPATH": PACKAGE},
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            yield session

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connected()) as session,
    ):
        greeting = portal.call(session.initialize)
        assert (greeting.protocol_version, greeting.server_info.name) == (
            "2024-11-05", "trusty-memory",
        )  # fmt: skip
        assert [tool.name for tool in portal.call(session.list_tools).tools] == list(TOOLS)
        for name, arguments in TOOLS.items():
            result = portal.call(session.call_tool, name, arguments)
            assert not result.is_error
            assert list(json.loads(result.content[0].text)) == KEYS[name]
        portal.call(session.send_ping)
