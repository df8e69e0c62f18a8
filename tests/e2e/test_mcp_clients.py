"""Programs that agents are connect to the server, list its tools and call them.

They are installed from npm; where that cannot be, the tests are skipped and say why. None of them
has an account, and each has a home of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.e2e.mcp_clients import forwarding
from tests.e2e.serving import daemon
from tests.mcp.speaking import SERVE
from tests.mcp.test_http import serving
from triseek.app.registry import chosen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = pytest.mark.slow

PATIENCE_S = 240
ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "find_files": {"query": "a.py"},
    "search_content": {"query": "needle"},
    "search_path_and_content": {"path_query": "src/*.py", "content_query": "needle"},
    "context_pack": {"goal": "find the needle"},
    "index_status": {},
    "reindex": {"mode": "full"},
}
FINDS = {name for name in ARGUMENTS if name not in ("index_status", "reindex")}
"""Tools whose answer names the file with the needle."""
OF_A_DAEMON = {verb.name for verb in chosen(["memo", "session"])}
"""Tools that have no answer without one; `test_memo_in_agents.py` has agents call some."""
EXPECTED_FAILURES = Path(__file__).with_name("conformance_failures.yaml")


class Place(NamedTuple):
    """A tree, and a way to run a program beside it."""

    tree: str
    env: Mapping[str, str]

    def run(self, *words: str, status: int = 0) -> str:
        done = subprocess.run(
            words,
            cwd=self.tree,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    @property
    def settings(self) -> dict[str, str]:
        """What a server needs of its environment, of which clients pass on little."""
        names = ("TRISEEK_HOME", "NUMBA_CACHE_DIR", "TRISEEK_NO_DAEMON", "PYTHONPATH")
        return {name: self.env[name] for name in names}

    @property
    def server(self) -> list[str]:
        return [sys.executable, *SERVE, self.tree]


@pytest.fixture(params=["alone", "beside a daemon"])
def place(programs: Path, repo: Any, home: Path, request: Any) -> Iterator[Place]:
    """With a daemon, what a client starts is a pipe to it."""
    tree = repo({"src/a.py": "def needle():\n    pass\n", "b.txt": "a needle\n"})
    env = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "CODEX_HOME": str(home / "codex"),
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    (home / "codex").mkdir()
    with daemon(home) if request.param != "alone" else contextlib.nullcontext():
        yield Place(tree, env)


def test_the_inspector_lists_and_calls_every_tool(place: Place) -> None:
    def inspector(*words: str) -> dict[str, Any]:
        settings = [word for pair in place.settings.items() for word in ("-e", "=".join(pair))]
        told = place.run("mcp-inspector", "--cli", *settings, *words, "--", *place.server)
        found: dict[str, Any] = json.loads(told)
        return found

    listed = {tool["name"] for tool in inspector("--method", "tools/list")["tools"]}

    assert listed == ARGUMENTS.keys() | OF_A_DAEMON
    for name, arguments in ARGUMENTS.items():
        given = [word for pair in arguments.items() for word in ("--tool-arg", "=".join(pair))]
        result = inspector("--method", "tools/call", "--tool-name", name, *given)
        assert not result.get("isError"), result
        assert result["structuredContent"]["version"] == "1"
        text = result["content"][0]["text"]
        assert ("src/a.py" in text) == (name in FINDS), (name, text)


def test_the_conformance_suite_passes_for_what_is_declared(place: Place) -> None:
    with (
        serving(*SERVE, place.tree) as served,
        forwarding(served.port, served.token) as port,
    ):
        told = place.run(
            "conformance", "server", "--url", f"http://localhost:{port}/mcp",
            "--expected-failures", str(EXPECTED_FAILURES),
        )  # fmt: skip

    passed = {line.split()[1].rstrip(":") for line in told.splitlines() if line.startswith("✓ ")}
    assert passed >= {"server-initialize", "ping", "tools-list", "dns-rebinding-protection"}


def test_every_expected_failure_has_its_reason() -> None:
    for line in EXPECTED_FAILURES.read_text().splitlines():
        assert not line.startswith("  - ") or line.partition(" # ")[2].strip(), line


def test_claude_code_is_connected_by_either_transport(place: Place) -> None:
    settings = [word for pair in place.settings.items() for word in ("-e", "=".join(pair))]
    with serving(*SERVE, place.tree) as served:
        place.run("claude", "mcp", "add", "by-stdio", *settings, "--", *place.server)
        place.run(
            "claude", "mcp", "add", "--transport", "http", "by-http",
            f"http://127.0.0.1:{served.port}/mcp",
            "--header", f"Authorization: Bearer {served.token}",
        )  # fmt: skip
        told = place.run("claude", "mcp", "list")

    lines = [line for line in told.splitlines() if line.startswith("by-")]
    assert len(lines) == 2, told
    assert all(line.endswith("Connected") for line in lines), told


def test_codex_is_connected_by_either_transport(place: Place) -> None:
    settings = [word for pair in place.settings.items() for word in ("--env", "=".join(pair))]
    with serving(*SERVE, place.tree) as served:
        place.run("codex", "mcp", "add", "by-stdio", *settings, "--", *place.server)
        place.run(
            "codex", "mcp", "add", "by-http", "--url", f"http://127.0.0.1:{served.port}/mcp",
            "--bearer-token-env-var", "TOKEN_OF_THE_TEST",
        )  # fmt: skip
        told = json.loads(place.run("codex", "mcp", "list", "--json"))
        knowing = place._replace(env={**place.env, "TOKEN_OF_THE_TEST": served.token})
        found = {one["name"]: one for one in servers_of_codex(knowing)}

    assert {one["name"]: one["enabled"] for one in told} == {"by-stdio": True, "by-http": True}
    for name in ("by-stdio", "by-http"):
        assert found[name]["serverInfo"]["name"] == "triseek"
        assert found[name]["tools"].keys() == ARGUMENTS.keys() | OF_A_DAEMON


def servers_of_codex(place: Place) -> list[dict[str, Any]]:
    """What Codex finds when it connects; `codex mcp list` only reads its configuration."""
    asked = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "mcpServerStatus/list", "params": {}},
    ]
    with subprocess.Popen(
        ["codex", "app-server"],
        cwd=place.tree,
        env=place.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as codex:
        assert codex.stdin
        assert codex.stdout
        codex.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in asked))
        codex.stdin.flush()
        try:
            for line in codex.stdout:
                message = json.loads(line)
                if message.get("id") == 2:
                    found: list[dict[str, Any]] = message["result"]["data"]
                    return found
        finally:
            codex.terminate()
    raise AssertionError("codex has ended")
