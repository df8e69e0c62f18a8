"""Who gets the text alone, and that nobody else loses anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.app.digests import digest
from tests.mcp.speaking import ENVELOPE, SERVE, call, hello, notice, request, speaking
from triseek.agents.registry import AGENTS
from triseek.app.registry import TOOLS, chosen
from triseek.mcp import tool_handlers
from triseek.mcp.result_form import is_lean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.mcp.speaking import Spoken

CLIENTS = {
    "claude-code": "claude-code",
    "codex-mcp-client": "codex",
    "opencode": "opencode",
    "gemini-cli-mcp-client": "gemini",
    "Cline": "cline",
    "Visual Studio Code": "vscode",
    "Zed": "zed",
    "Cursor": "cursor",
}
"""What clients call themselves, and the agent that each is."""
NOBODY = ("", "claude", "inspector-client", "Zeder", "\0", "x" * 100_000)
"""Names of no agent."""
STATUS = next(tool for tool in TOOLS if tool.name == "index_status")


@pytest.mark.parametrize(("client", "name"), CLIENTS.items())
def test_the_table_of_agents_decides(client: str, name: str) -> None:
    agent = next(agent for agent in AGENTS if agent.name == name)

    assert is_lean(client, "auto") is (agent.shown_form is not None)


@pytest.mark.parametrize("client", [*CLIENTS, None])
def test_the_setting_gives_everybody_both_forms(client: str | None) -> None:
    assert not is_lean(client, "full")


@pytest.mark.parametrize("client", [*NOBODY, None])
def test_a_client_that_is_no_agent_gets_both_forms(client: str | None) -> None:
    assert not is_lean(client, "auto")


def test_what_the_table_says_has_evidence() -> None:
    for agent in AGENTS:
        assert bool(agent.shown_form) == bool(agent.shown_form_evidence), agent.name


@pytest.mark.parametrize("error", [False, True])
def test_the_text_is_the_same_in_both_forms(*, error: bool) -> None:
    said = {"code": "INVALID_QUERY", "message": "no", "suggested_action": "Ask again."}
    envelope = {"error": said} if error else {"index_present": False, "problem": "lone \ud800"}
    full = tool_handlers.result(STATUS, {}, envelope)
    lean = tool_handlers.result(STATUS, {}, envelope, is_lean=True)

    assert full.content == lean.content
    assert lean.structured_content is None
    assert full.structured_content
    assert full.is_error is lean.is_error is error


def test_the_text_is_the_digest() -> None:
    [block] = tool_handlers.result(STATUS, {}, {"index_present": False}, is_lean=True).content

    assert block.text == digest("index_status", {}, {"index_present": False})


@pytest.fixture
def tree(repo: Any) -> str:
    path: str = repo({"src/a.py": "def needle():\n    pass\n"})
    return path


def greeted_as(server: Spoken, client: str) -> Spoken:
    greeting = hello()
    greeting["params"]["clientInfo"] = {"name": client, "version": "1"}
    server.ask(greeting)
    server.say(notice("notifications/initialized"))
    return server


@pytest.fixture
def server(tree: str) -> Iterator[Spoken]:
    with speaking([*SERVE, tree]) as server:
        yield server


def schemas_of(server: Spoken, **params: Any) -> list[Any]:
    listed = server.ask(request("list", "tools/list", params or None))["result"]["tools"]
    assert len(listed) == len(chosen(["default"]))
    return [tool.get("outputSchema") for tool in listed]


@pytest.mark.long
def test_a_lean_client_gets_text_and_tools_without_output_schemas(server: Spoken) -> None:
    greeted_as(server, "claude-code")
    result = server.ask(call(1, "search_content", query="needle"))["result"]

    assert set(schemas_of(server)) == {None}
    assert "structuredContent" not in result
    assert [block["text"] for block in result["content"]] == [
        "1 match in 1 file\nsrc/a.py\n1:def needle():"
    ]


@pytest.mark.long
def test_an_error_reaches_a_lean_client(server: Spoken) -> None:
    greeted_as(server, "codex-mcp-client")
    result = server.ask(call(1, "search_content", query=""))["result"]

    assert result["isError"] is True
    assert "structuredContent" not in result
    assert "INVALID_QUERY" in result["content"][0]["text"]


@pytest.mark.long
def test_any_other_client_gets_the_envelope_and_its_schema(server: Spoken) -> None:
    greeted_as(server, "somebody")
    result = server.ask(call(1, "search_content", query="needle"))["result"]

    assert None not in schemas_of(server)
    assert result["structuredContent"]["files_with_matches"] == 1


@pytest.mark.long
def test_the_setting_is_read_from_the_environment(tree: str) -> None:
    with speaking([*SERVE, tree], {"TRISEEK_MCP_STRUCTURED": "full"}) as server:
        greeted_as(server, "claude-code")
        result = server.ask(call(1, "search_content", query="needle"))["result"]

        assert None not in schemas_of(server)
    assert result["structuredContent"]["files_with_matches"] == 1


@pytest.mark.long
def test_a_client_without_a_handshake_is_known_by_each_request(server: Spoken) -> None:
    named = {**ENVELOPE, "io.modelcontextprotocol/clientInfo": {"name": "opencode", "version": "1"}}
    arguments = {"name": "search_content", "arguments": {"query": "needle"}}
    lean = server.ask(request(1, "tools/call", {**arguments, "_meta": named}))["result"]
    full = server.ask(request(2, "tools/call", {**arguments, "_meta": ENVELOPE}))["result"]

    assert "structuredContent" not in lean
    assert full["structuredContent"]["files_with_matches"] == 1
    assert lean["content"] == full["content"]
    assert set(schemas_of(server, _meta=named)) == {None}
