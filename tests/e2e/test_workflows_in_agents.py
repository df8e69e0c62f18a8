"""Real clients use the workflow tools: agents with a scripted model, and the MCP Inspector.

The programs come from npm; where it reaches no registry, the tests are skipped and say why. The
agents' servers are those that `triseek install AGENT --toolsets search,workflows` configures.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import claude, codex
from tests.agents.model import serving
from tests.agents.place import Place
from tests.agents.script import Turn, says
from tests.e2e.living import Living
from tests.e2e.test_memo_in_agents import write_program
from tests.workflows import trees

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PATIENCE_S = 240
TOKEN = "a-token-of-the-tests-only"
CODE = """\
from runtime.zoekt_tools import search
def run(args):
    return {"files": [hit["filename"] for hit in search(args["word"])]}
"""
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_capabilities", {"query": "callers usage", "limit": 4}),
    ("read_capability", {"capability_id": "symbol_usage"}),
    ("run_workflow_cli", {"command": "symbol_usage --query ProcessOrder --limit 3"}),
    ("run_custom_workflow_code", {"code": CODE, "args": {"word": "ProcessOrder"}}),
)
"""In the order in which the server's instructions name the tools."""
TOOLS = [name for name, _ in CALLS]


def check(answers: dict[str, str]) -> None:
    """Check the page of each tool, as a model or a program gets it."""
    assert answers["search_capabilities"].startswith("## Capability Search Results\n\n")
    assert "symbol_usage" in answers["search_capabilities"]
    assert "--query" in answers["read_capability"]
    usage, code = answers["run_workflow_cli"], answers["run_custom_workflow_code"]
    assert usage.startswith("## Workflow: `symbol_usage`\n\n- Process status: `success`\n")
    assert "`checkout/order/process_test.go`" in usage
    assert code.startswith("## Custom Workflow Code Execution\n\n- Process status: `success`\n")
    for page in (usage, code):
        assert "- Exit code: `0`" in page
        assert re.search(r"- Tier: `(kernel|bubblewrap)`", page)
    assert '"order/process.go"' in code
    assert "```json\n" in code


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the code that the workflows look for."""
    roots = trees.write(tmp_path / "repositories")
    return Path(next(root.folder for root in roots if root.name == "checkout"))


@pytest.mark.parametrize("agent", [claude, codex], ids=["claude-code", "codex"])
def test_an_agent_finds_reads_and_runs_workflows(
    agent: ModuleType, programs: Path, checkout: Path, tmp_path: Path
) -> None:
    place = Place(tmp_path / "home", checkout, programs)
    place.home.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=checkout, check=True)
    turns: list[Turn] = []
    positions = {}
    for name, arguments in CALLS:
        turns += agent.ours(name, **arguments)
        positions[name] = len(turns)
    with Living(place.home / ".triseek") as living, serving() as model:
        program = write_program(place, living)
        living.env["HOME"] = str(place.home)
        living.start()
        agent.configure(place, model.url)
        subprocess.run(
            [program, "install", agent.NAME, "--toolsets", "search,workflows"],
            env=place.env(TRISEEK_HOME=living.home), cwd=checkout, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        prompt = model.add("w1", [*turns, says("Done.")])
        with agent.session(place, model.url) as session:
            session.say(prompt)
        requests = model.of("w1")

    assert len(requests) == len(turns) + 1
    check({name: page_of(requests[at].last) for name, at in positions.items()})


def page_of(shown: str) -> str:
    """The page in what a model is shown: agents may put lines of their own above it."""
    page = shown[shown.index("## ") :]
    return page.replace("\r\n", "\n")


class Inspector:
    """The MCP Inspector on the command line."""

    def __init__(self, programs: Path, cwd: Path, *server: str) -> None:
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self._env = {**os.environ, "PATH": path, "NO_PROXY": "127.0.0.1"}
        self._cwd = cwd
        self._server = server

    def ask(self, *words: str) -> Any:
        """Return the JSON that the Inspector prints for one request."""
        split = self._server.index("--") if "--" in self._server else len(self._server)
        options, command = self._server[:split], self._server[split:]
        done = subprocess.run(
            ["mcp-inspector", "--cli", *options, *words, *command],
            cwd=self._cwd, env=self._env, capture_output=True, text=True, timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def check_all(self) -> None:
        """List the tools, call each of them, and check what it answers."""
        assert [tool["name"] for tool in self.ask("--method", "tools/list")["tools"]] == TOOLS
        answers = {}
        for name, arguments in CALLS:
            words = []
            for key, value in arguments.items():
                text = value if isinstance(value, str) else json.dumps(value)
                words += ["--tool-arg", f"{key}={text}"]
            result = self.ask("--method", "tools/call", "--tool-name", name, *words)
            assert not result.get("isError"), result
            answers[name] = result["content"][0]["text"]
        check(answers)


@pytest.fixture
def variables(home: Path) -> dict[str, str]:
    """Variables of a server: clients pass on few of their own."""
    return {
        "TRISEEK_HOME": str(home), "HOME": str(home), "TRISEEK_NO_DAEMON": "1",
        "PYTHONPATH": str(ROOT), "TRISEEK_MCP_DISABLE_STARTUP_SYNC": "1",
    }  # fmt: skip


def test_the_inspector_uses_all_tools_by_standard_streams(
    programs: Path, checkout: Path, variables: dict[str, str]
) -> None:
    settings = [word for pair in variables.items() for word in ("-e", "=".join(pair))]
    words = ["-m", "triseek", "mcp", "serve", "--toolsets", "workflows", "--repo", str(checkout)]
    Inspector(programs, checkout, *settings, "--", sys.executable, *words).check_all()


@pytest.fixture
def urls(checkout: Path, variables: dict[str, str]) -> Iterator[dict[str, str]]:
    """URLs of `triseek workflows serve` by transport."""
    words = ["-m", "triseek", "workflows", "serve", "--repo", str(checkout)]
    process = subprocess.Popen(
        [sys.executable, *words, "--sse-port", "0", "--http-port", "0"],
        env={**os.environ, **variables, "TRISEEK_WORKFLOWS_TOKEN": TOKEN},
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr
    try:
        addresses: dict[str, str] = {}
        for line in process.stderr:
            if match := re.search(r"(http://\S+/zoekt/(sse|mcp))$", line):
                addresses[match[2]] = match[1]
            if len(addresses) == 2 and "Bearer" in line:
                break
        yield addresses
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()


@pytest.mark.parametrize(("transport", "path"), [("sse", "sse"), ("http", "mcp")])
def test_the_inspector_uses_all_tools_by_http(
    transport: str, path: str, programs: Path, checkout: Path, urls: dict[str, str]
) -> None:
    Inspector(
        programs, checkout, "--transport", transport, "--server-url", urls[path],
        "--header", f"Authorization: Bearer {TOKEN}",
    ).check_all()  # fmt: skip
