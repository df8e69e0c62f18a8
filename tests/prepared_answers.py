"""The answers that are prepared for agents, as a session gives them: `triseek/mcp/prepared.tsv`."""

from __future__ import annotations

import json
import socket
import threading
from typing import TYPE_CHECKING, Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS as VERSIONS

from tests.mcp.speaking import CLIENT, hello, request
from triseek import __version__
from triseek.agents.registry import AGENTS
from triseek.app import wings
from triseek.app.registry import TOOLS, WINGS
from triseek.mcp import hosting, instructions, prepared
from triseek.mcp.result_form import is_lean
from triseek.mcp.tool_handlers import ToolHandlers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.model.tool import Tool

MEMORY = prepared.WITH_ARGUMENTS
FULL = "a client that no agent has"


def lean_names() -> list[str]:
    """How the names of clients begin that get the lean form."""
    return [name for agent in AGENTS for name in agent.client_names if is_lean(name, "auto")]


def replies(version: str, client: str, tools: Sequence[Tool] = TOOLS) -> list[dict[str, Any]]:
    """What a session says to `initialize` and `tools/list`."""
    greeting = hello(1, version)
    greeting["params"]["clientInfo"] = {**CLIENT, "name": client}
    ours, theirs = socket.socketpair()

    def serve() -> None:
        handlers = ToolHandlers(None, tools)  # type: ignore[arg-type]  # no tool is called
        with theirs:
            toolsets = {tool.toolset for tool in tools}
            hosting.run(theirs, lambda: handlers, lambda: None, lambda: "", toolsets)

    thread = threading.Thread(target=serve)
    thread.start()
    with ours, ours.makefile("rb") as lines:
        for number, message in enumerate((greeting, request(2, "tools/list")), 1):
            ours.sendall(f"{number} {json.dumps(message)}\n".encode())
        ours.sendall(b".\n")
        answers = [line.partition(b" ")[2] for line in lines if line[:2] in (b"1 ", b"2 ")]
    thread.join()
    return [json.loads(answer)["result"] for answer in answers]


def text() -> str:
    """The file's text."""
    return "".join("\t".join(fields) + "\n" for fields in _lines())


def _lines() -> Iterator[Sequence[str]]:
    yield "versions", ",".join(VERSIONS)
    yield "default", ",".join(wing.toolset for wing in WINGS if wing.is_default)
    yield "lean", ",".join(lean_names())
    for form, client in (("lean", lean_names()[0]), ("full", FULL)):
        usual, more = (
            {tool["name"]: tool for tool in replies(VERSIONS[-1], client, tools)[1]["tools"]}
            for tools in ([tool for tool in TOOLS if tool.toolset != MEMORY], TOOLS)
        )
        greeting, _ = replies(VERSIONS[-1], client, ())
        if form == "lean":
            assert greeting["serverInfo"]["version"] == __version__
            greeting["serverInfo"]["version"] = prepared.VERSION
            greeting["instructions"] += prepared.ABOUT
            yield "initialize", _json({**greeting, "protocolVersion": prepared.PROTOCOL})
            for toolset, about in instructions.ABOUT.items():
                yield "about", toolset, _json(about)[1:-1]
        for toolset in wings.TOOLSETS:
            names = [tool.name for tool in TOOLS if tool.toolset == toolset]
            lists = [
                ",".join(_json(by_name[name]) for name in names if name in by_name)
                for by_name in ((more, more) if toolset == MEMORY else (usual, more))
            ]
            yield "tools", form, toolset, lists[0]
            if lists[1] != lists[0]:
                yield f"with {MEMORY}", form, toolset, lists[1]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    with open(prepared.ANSWERS, "w", encoding="utf-8", newline="\n") as file:
        file.write(text())
