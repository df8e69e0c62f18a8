"""Programs of others are connected to the memory's profile: the MCP Inspector, agents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.test_memory_profile_contract import KEYS, PALACE, TOOLS
from tests.memory.profile.serving import SERVE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

pytestmark = pytest.mark.slow

PATIENCE_S = 240
SERVER = (sys.executable, *SERVE, "--palace", PALACE)


@pytest.fixture
def variables(home: Path) -> Mapping[str, str]:
    """Variables of the server: clients pass on few of their own."""
    return {"TRISEEK_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])}


@pytest.fixture
def run(programs: Path, home: Path, tmp_path: Path) -> Callable[..., str]:
    """Run a program of the test's and return its output."""
    env = {
        **os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "CODEX_HOME": str(home / "codex"), "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }  # fmt: skip
    (home / "codex").mkdir()

    def run(*words: str) -> str:
        done = subprocess.run(
            words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_the_inspector_lists_and_calls_every_tool(
    run: Callable[..., str], variables: Mapping[str, str]
) -> None:
    def inspector(*words: str) -> Any:
        settings = [word for pair in variables.items() for word in ("-e", "=".join(pair))]
        return json.loads(run("mcp-inspector", "--cli", *settings, *words, "--", *SERVER))

    listed = [tool["name"] for tool in inspector("--method", "tools/list")["tools"]]
    assert listed == list(TOOLS)
    for name, arguments in TOOLS.items():
        words = []
        for key, value in arguments.items():
            text = value if isinstance(value, str) else json.dumps(value)
            words += ["--tool-arg", f"{key}={text}"]
        result = inspector("--method", "tools/call", "--tool-name", name, *words)
        assert list(json.loads(result["content"][0]["text"])) == KEYS[name]


def test_claude_code_is_connected(run: Callable[..., str], variables: Mapping[str, str]) -> None:
    settings = [word for pair in variables.items() for word in ("-e", "=".join(pair))]
    run("claude", "mcp", "add", "memory", *settings, "--", *SERVER)
    [line] = [line for line in run("claude", "mcp", "list").splitlines() if "memory:" in line]
    assert line.endswith("Connected")
