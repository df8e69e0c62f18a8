"""A file larger than the memory that a request may use, searched by the daemon and by MCP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rg
from tests.conftest import plant
from tests.e2e.living import Living

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
SIZE = 5 << 28
MOST_KB = SIZE >> 12
"""A quarter of the file, by which a process may grow."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A tree with a sparse file of NULs that ends in a line with a word, and a daemon for it."""
    tree = tmp_path_factory.mktemp("tree")
    plant(tree, {"small": "a needle\n"})
    with (tree / "large").open("wb") as large:
        large.truncate(SIZE)
        large.seek(SIZE)
        large.write(b"\na needle\n")
    with Living(tmp_path_factory.mktemp("state")) as living:
        assert living.run("build", cwd=tree).status == 0
        living.start()
        living.wait_watched(str(tree))
        yield living, tree


def most_kb(pid: int) -> int:
    """The most memory that a process had."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


@pytest.mark.rg
@pytest.mark.parametrize(
    "words", [["needle"], ["-c", "needle", "large"], ["needle", "large"], ["-l", "absent"]]
)
def test_the_daemon_searches_it_in_pieces(served, words):
    living, tree = served
    before = most_kb(living.pid())

    found = living.run("--sort=path", *words, cwd=tree)

    wanted = subprocess.run(
        [rg.program(), "--no-config", "--no-mmap", "--sort=path", *words],
        cwd=tree, stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    assert (found.status, found.out) == (wanted.returncode, wanted.stdout)
    assert most_kb(living.pid()) - before < MOST_KB


def test_an_mcp_server_searches_it_in_pieces(served):
    living, tree = served
    before = most_kb(living.pid())
    asked = [
        {"method": "initialize", "id": 0, "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}},
        {"method": "notifications/initialized"},
        *({"method": "tools/call", "id": number, "params": {
            "name": "search_content", "arguments": arguments}}
          for number, arguments in enumerate((
              {"query": "needle"}, {"query": "needle", "path": "large"},
              {"query": "needle$", "mode": "regex"}), 1)),
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "triseek", "mcp", "serve"], cwd=tree, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**living.env, "PYTHONPATH": str(ROOT)},
    ) as server:  # fmt: skip
        replies, most = {}, []
        for one in asked:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n")
            server.stdin.flush()
            while one.get("id", -1) not in {*replies, -1}:
                reply = json.loads(server.stdout.readline())
                replies[reply.get("id")] = reply
            most.append(most_kb(server.pid))
        server.stdin.close()
    found = {number: replies[number]["result"]["structuredContent"] for number in (1, 2, 3)}
    assert [found[number]["files_with_matches"] for number in found] == [1, 1, 1]
    assert found[2]["notes"] == ['large: binary file matches (found "\\0" byte around offset 0)']
    assert most[-1] - most[0] < MOST_KB
    assert most_kb(living.pid()) - before < MOST_KB
