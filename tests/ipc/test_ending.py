"""Processes that have to end do so although their threads cannot."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

ENDED_S = 30.0
"""Six times what is promised: the machine may be busy. Without the promise they never end."""
STUCK = """
import os, sys
if {words!r} in " ".join(sys.orig_argv):
    import threading
    from concurrent.futures import ThreadPoolExecutor
    for _ in range(3):
        ThreadPoolExecutor(1).submit(os.read, os.pipe()[0], 1)
    threading.Thread(target=os.read, args=(os.pipe()[0], 1)).start()
"""
"""Threads that read what never comes, as from a FIFO or a file server that is gone."""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    descriptor = os.pidfd_open(process.pid)
    try:
        return bool(select.select([descriptor], [], [], ENDED_S)[0])
    finally:
        os.close(descriptor)


def started(tmp_path: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start triseek with threads that are stuck from its beginning."""
    (tmp_path / "sitecustomize.py").write_text(STUCK.format(words=" ".join(words[:2])))
    return subprocess.Popen(
        [sys.executable, "-m", "triseek", *words],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.fixture
def server(tmp_path) -> Iterator[subprocess.Popen[bytes]]:
    """An MCP server that has answered once."""
    process = started(tmp_path, "mcp", "serve", "--repo", str(tmp_path))
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def daemon(tmp_path, home) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon that takes connections."""
    process = started(tmp_path, "daemon", "run", "--idle-exit", "0")
    from triseek.ipc import spawn

    assert spawn.wait_until_ready(60)
    yield process
    process.kill()
    process.communicate()


def test_the_end_of_input_ends_an_mcp_server(server):
    server.stdin.close()
    server.stdin = None
    assert has_ended(server)
    assert server.wait() == 0


def test_sigterm_ends_an_mcp_server(server):
    server.send_signal(signal.SIGTERM)
    assert has_ended(server)
    assert server.wait() == 0


def test_daemon_stop_ends_the_process(daemon):
    subprocess.run(
        [sys.executable, "-m", "triseek", "daemon", "stop"], check=True, stdout=subprocess.DEVNULL
    )
    assert has_ended(daemon)
    assert daemon.wait() == 0


def test_sigterm_ends_a_daemon(daemon):
    daemon.send_signal(signal.SIGTERM)
    assert has_ended(daemon)
    assert daemon.wait() == 0


def test_sigterm_ends_a_server_by_http(tmp_path):
    process = started(tmp_path, "mcp", "serve", "--repo", str(tmp_path), "--http", "127.0.0.1:0")
    assert b"MCP server on" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    try:
        assert has_ended(process)
    finally:
        process.kill()
        process.communicate()


def test_a_thread_that_holds_the_interpreter_does_not_hold_the_process():
    code = (
        "import re; from triseek.ipc import ending\n"
        "ending.within(0.5)\n"
        "re.match('(a+)+$', 'a' * 64 + 'b')"  # does not come back, and lets no other thread run
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as process:
        try:
            assert has_ended(process)
        finally:
            process.kill()
        assert process.stderr
        assert b"most recent call first" in process.stderr.read()
    assert process.returncode == 1
