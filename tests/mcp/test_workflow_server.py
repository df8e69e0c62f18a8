"""The workflow tools as real MCP clients use them: by standard streams, SSE and streamable HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server

from tests.workflows import trees
from triseek.mcp import workflow_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = pytest.mark.long

TOKEN = "a-token-of-the-tests-only"
NAMES = ["search_capabilities", "read_capability", "run_workflow_cli", "run_custom_workflow_code"]
CODE = (
    "from runtime.zoekt_tools import list_repos\ndef run(args):\n    return [args, list_repos()]\n"
)
READY_S = 60.0


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    roots = trees.write(tmp_path_factory.mktemp("repositories"))
    return next(root.folder for root in roots if root.name == "checkout")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    state = tmp_path_factory.mktemp("state")
    return {
        **os.environ, "HOME": str(state), "TRISEEK_HOME": str(state), "TRISEEK_NO_DAEMON": "1",
        "TRISEEK_WORKFLOWS_TOKEN": TOKEN, "EXECUTION_TIMEOUT_MAX": "20",
        "TRISEEK_MCP_DISABLE_STARTUP_SYNC": "1",
    }  # fmt: skip


@pytest.fixture(scope="module")
def urls(tree, environment) -> Iterator[dict[str, str]]:
    with serving(tree, environment) as found:
        yield found


@contextlib.contextmanager
def serving(tree: str, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """URLs by transport of a server of the workflows."""
    process = subprocess.Popen(
        [
            sys.executable, "-m", "triseek", "workflows", "serve", "--repo", tree,
            "--sse-port", "0", "--http-port", "0",
        ],
        env=environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        found: dict[str, str] = {}
        for line in process.stderr:
            if match := re.search(r"(http://\S+/zoekt/(sse|mcp))$", line):
                found[match[2]] = match[1]
            if len(found) == 2 and "Bearer" in line:
                break
        yield found
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()
    assert process.returncode == 0


@asynccontextmanager
async def by_stdio(urls, tree, environment) -> AsyncIterator[Any]:
    words = ["-m", "triseek", "mcp", "serve", "--toolsets", "workflows", "--repo", tree]
    server = StdioServerParameters(command=sys.executable, args=words, env=environment)
    async with stdio_client(server) as streams:
        yield streams


@asynccontextmanager
async def by_sse(urls, tree, environment) -> AsyncIterator[Any]:
    async with sse_client(urls["sse"], {"Authorization": f"Bearer {TOKEN}"}) as streams:
        yield streams


@asynccontextmanager
async def by_http(urls, tree, environment) -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as client,
        streamable_http_client(urls["mcp"], http_client=client) as streams,
    ):
        yield streams


async def answers(streams: Any) -> dict[str, Any]:
    """What a client gets: its listed tools, and the texts of some calls."""
    with anyio.fail_after(READY_S):
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools

            async def text(name: str, **arguments: object) -> str:
                result = await session.call_tool(name, arguments)
                assert not result.is_error
                assert result.structured_content in (None, {"result": result.content[0].text})
                return result.content[0].text

            return {
                "tools": {tool.name: tool.input_schema for tool in tools},
                "hits": await text("search_capabilities", query="callers", limit=2),
                "alias": await text("list_capabilities"),
                "page": await text("read_capability", capability_id="nothing"),
                "run": await text(
                    "run_workflow_cli", command="symbol_usage --query ProcessOrder --limit 1"
                ),
                "wrong": await text("run_workflow_cli", command="", timeout_seconds=5),
                "code": await text("run_custom_workflow_code", code=CODE, args={"a": [1]}),
                "rejected": await text("run_custom_workflow_code", code="import os"),
            }


@pytest.mark.parametrize("connect", [by_stdio, by_sse, by_http])
def test_a_real_client_uses_all_tools(connect, urls, tree, environment):
    async def work():
        async with connect(urls, tree, environment) as streams:
            return await answers(streams)

    texts = anyio.run(work)

    assert list(texts["tools"]) == NAMES
    schema = texts["tools"]["run_custom_workflow_code"]
    assert schema["required"] == ["code"]
    assert list(schema["properties"]) == ["code", "args", "timeout_seconds"]
    assert schema["properties"]["timeout_seconds"]["default"] == 30
    assert texts["tools"]["search_capabilities"]["properties"]["limit"]["default"] == 8
    assert texts["hits"].startswith(
        "## Capability Search Results\n\n- Query: `callers`\n- Hits: `2`"
    )
    assert "### 12. " in texts["alias"]
    assert "- Kind: `error`" in texts["page"]
    assert texts["run"].startswith("## Workflow: `symbol_usage`\n\n- Process status: `success`\n")
    assert "`checkout/" in texts["run"]
    assert "- Exit code: `2`" in texts["wrong"]
    assert "args validation failure: command must not be empty" in texts["wrong"]
    assert '"a": [' in texts["code"]
    assert '"checkout"' in texts["code"]
    assert "- Safety rejections: `" in texts["rejected"]
    assert "  - banned_import: os" in texts["rejected"]


def test_probes_answer_without_a_token_and_nothing_else_does(urls):
    with httpx2.Client(trust_env=False) as client:
        for url in urls.values():
            base = url.rpartition("/zoekt/")[0]
            health = client.get(f"{base}/health")
            ready = client.get(f"{base}/ready")
            assert health.json() == {"status": "ok", "service": "zoekt-mcp"}
            assert ready.json() == {
                "status": "ready", "service": "zoekt-mcp", "mode": "capability-workflow-executor",
            }  # fmt: skip
            assert client.get(url).status_code == 401
            assert client.post(url, json={}).status_code == 401
            assert client.post(f"{base}/zoekt/messages/", json={}).status_code == 401
            assert client.post(f"{base}/health").status_code == 401
            foreign = client.get(f"{base}/health", headers={"Host": "evil.example"})
            assert foreign.status_code == 421


def test_each_port_has_its_own_transport_only(urls):
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/event-stream"}
    with httpx2.Client(trust_env=False, headers=headers) as client:
        other = urls["mcp"].replace("/zoekt/mcp", "/zoekt/sse")
        assert client.get(other).status_code == 404
        other = urls["sse"].replace("/zoekt/sse", "/zoekt/mcp")
        assert client.post(other, json={}).status_code == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "example.com", "10.0.0.1"])
def test_an_address_that_others_reach_is_refused(host, tree, environment):
    words = ["workflows", "serve", "--repo", tree, "--host", host, "--sse-port", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "triseek", *words, "--http-port", "0"],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert f"{host} is no loopback address" in done.stderr


@pytest.mark.parametrize("by_server", [False, True])
def test_the_daemon_runs_workflows_by_the_variables_of_the_agent(
    by_server, tree, environment, tmp_path
):
    own = {**environment, "TRISEEK_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    del own["TRISEEK_NO_DAEMON"]
    own.pop("CI", None)
    command = [sys.executable, "-m", "triseek", "daemon"]
    limited = own | {"EXECUTION_TIMEOUT_MAX": "1"}

    def active_roots() -> int:
        asked = [*command, "status", "--json"]
        done = subprocess.run(asked, env=own, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)["active_roots"]

    async def work(connect, urls):
        endless = "def run(args):\n    while True:\n        pass\n"
        async with connect(urls, tree, limited) as streams, ClientSession(*streams) as session:
            await session.initialize()
            result = await session.call_tool("run_custom_workflow_code", {"code": endless})
            return result.content[0].text

    subprocess.run([*command, "start"], env=own, check=True, capture_output=True, timeout=120)
    try:
        assert active_roots() == 0
        if by_server:
            with serving(tree, limited) as urls:
                texts = anyio.run(work, by_http, urls)
        else:
            texts = anyio.run(work, by_stdio, {})
        assert active_roots() == 1
    finally:
        with contextlib.suppress(subprocess.SubprocessError):
            subprocess.run(
                [*command, "stop"], env=own, check=False, capture_output=True, timeout=60
            )

    assert "- Exit code: `124`" in texts
    assert "execution timed out" in texts


def test_streams_beyond_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr(workflow_server, "SESSIONS_MAX", 1)
    streaming = workflow_server.SseApp(Server("test"))
    scope = {"type": "http", "method": "GET", "path": workflow_server.SSE_PATH, "headers": []}
    statuses: list[int] = []

    async def stream(started: anyio.Event, over: anyio.Event) -> None:
        async def receive():
            await over.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
                started.set()

        await streaming(scope, receive, send)

    async def work() -> None:
        over = anyio.Event()
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for _ in range(2):
                    started = anyio.Event()
                    tasks.start_soon(stream, started, over)
                    await started.wait()
                over.set()
            await stream(anyio.Event(), over)

    anyio.run(work)
    assert statuses == [200, 503, 200]
