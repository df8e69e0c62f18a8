"""Resources over a session: addresses that answers cite resolve."""

from __future__ import annotations

import json
import socket
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.history.rows import Rows
from tests.mcp.speaking import call, hello, request
from triseek.app.dispatch import Local
from triseek.app.registry import chosen
from triseek.app.tool_context import ToolContext
from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.history.database import open_database
from triseek.mcp import hosting
from triseek.mcp.tool_handlers import ToolHandlers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@pytest.fixture
def handlers(tmp_path: Path) -> Iterator[ToolHandlers]:
    database = open_database(str(tmp_path / "state"))
    rows = Rows(database)
    session = rows.session("5f0c")
    rows.observation(session, "Fix it", narrative="whole text")
    rows.prompt(session, "please fix it")
    services = {"history": SimpleNamespace(database=database, recall=None)}
    with Service() as service:
        host = ToolHost(service=service, root=str(tmp_path), services=services)
        yield ToolHandlers(Local(ToolContext(host)), chosen(["history"]))
    database.close()


def ask(
    handlers: ToolHandlers, messages: Sequence[Any], toolsets: Sequence[str] = ("history",)
) -> list[dict[str, Any]]:
    """Return the answers of a session to requests, after its greeting."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with theirs:
            hosting.run(theirs, lambda: handlers, lambda: None, lambda: "", toolsets)

    thread = threading.Thread(target=serve)
    thread.start()
    answers = {}
    with ours, ours.makefile("rb") as lines:
        for number, message in enumerate((hello(0), *messages)):
            ours.sendall(f"{number + 1} {json.dumps(message)}\n".encode())
        ours.sendall(b".\n")
        for line in lines:
            number, _, data = line.partition(b" ")
            if number.isdigit():
                answers[int(number)] = json.loads(data)
    thread.join()
    return [answers[number] for number in sorted(answers)]


def read(number: int, uri: str) -> dict[str, Any]:
    return request(number, "resources/read", {"uri": uri})


def test_what_an_answer_cites_can_be_read(handlers: ToolHandlers) -> None:
    greeting, templates, listed, found, observation, session, prompt = ask(
        handlers,
        [
            request(1, "resources/templates/list"),
            request(2, "resources/list"),
            call(3, "search_observations", query="fix"),
            read(4, "claude-mem://observation/1"),
            read(5, "claude-mem://session/5f0c"),
            read(6, "claude-mem://user-prompt/1"),
        ],
    )

    assert "resources" in greeting["result"]["capabilities"]
    assert {template["uriTemplate"] for template in templates["result"]["resourceTemplates"]} == {
        "claude-mem://observation/{id}", "claude-mem://session/{id}",
        "claude-mem://session-summary/{id}", "claude-mem://user-prompt/{id}",
    }  # fmt: skip
    assert listed["result"]["resources"] == []
    assert "claude-mem://observation/1" in found["result"]["content"][0]["text"]
    [contents] = observation["result"]["contents"]
    assert contents["uri"] == "claude-mem://observation/1"
    assert contents["mimeType"] == "text/markdown"
    assert "## Fix it" in contents["text"]
    assert "whole text" in contents["text"]
    assert "claude-mem://session/5f0c" in session["result"]["contents"][0]["text"]
    assert "## User Prompt #1" in prompt["result"]["contents"][0]["text"]


@pytest.mark.parametrize(
    "uri",
    ["claude-mem://observation/99", "claude-mem://x/1", "claude-mem://", "file:///etc/passwd", "1",
     "S1"],
)  # fmt: skip
def test_what_is_not_there_is_an_error(handlers: ToolHandlers, uri: str) -> None:
    [_, answer] = ask(handlers, [read(1, uri)])

    assert answer["error"]["code"] == -32002


def test_without_the_history_there_are_no_resources(handlers: ToolHandlers) -> None:
    greeting, answer = ask(handlers, [request(1, "resources/list")], ("search",))

    assert "resources" not in greeting["result"]["capabilities"]
    assert answer["error"]["code"] == -32601
