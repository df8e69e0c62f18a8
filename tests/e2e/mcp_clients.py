"""Programs that agents are, from npm: installed once, outside of the tree, in pinned versions."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import http.server
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tests.ui.chromium import AS_DATA

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = (
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.1.16",
    "@anthropic-ai/claude-code@2.1.330",
    "@openai/codex@0.169.0",
    "opencode-ai@1.18.33",
    "jiti@2.7.0",  # this one and the next for the one below
    "typebox@1.3.27",
    "@google/gemini-cli@0.61.0",
    "cline@3.0.65",
    "node@22.23.3",  # what the first two ask for; a system's own is often older
)
BUNDLED = "@earendil-works/pi-coding-agent@1.5.2"
"""Pi, which has all it needs in one file but names packages that not every registry has."""
FOLDER = "TRISEEK_TEST_PACKAGES"
"""The variable by which somebody says where packages are kept."""


class Unreachable(Exception):
    """There is no npm here, or it reaches no registry."""


def installed() -> Path:
    """The folder of the programs; takes minutes the first time.

    Raises:
        Unreachable: nothing can be installed from here.
    """
    pins = hashlib.sha256(" ".join((*PACKAGES, BUNDLED)).encode()).hexdigest()[:12]
    kept = Path(os.environ.get(FOLDER) or tempfile.gettempdir(), f"triseek-mcp-clients-{pins}")
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=kept.parent))
        try:
            _install(aside)
            with contextlib.suppress(OSError):  # somebody else was quicker
                aside.rename(kept)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return kept / "node_modules" / ".bin"


def _install(folder: Path) -> None:
    if shutil.which("npm") is None:
        raise Unreachable("npm is not there")
    asked = _npm("view", PACKAGES[0], "version")
    if asked.returncode:
        raise Unreachable(f"npm reaches no registry: {asked.stderr.strip()[-200:]}")
    done = _npm("install", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES)
    assert done.returncode == 0, done.stderr
    _unpack(folder)


def _unpack(folder: Path) -> None:
    """Pi, beside the packages and with a program among theirs."""
    done = _npm("pack", "--silent", "--pack-destination", str(folder), BUNDLED)
    assert done.returncode == 0, done.stderr
    with tarfile.open(folder / done.stdout.split()[-1]) as packed:
        packed.extractall(folder / "pi", **AS_DATA)
    program = folder / "node_modules" / ".bin" / "pi"
    program.unlink(missing_ok=True)
    program.write_text(
        "#!/bin/sh\n"
        'here=$(dirname "$0")\n'
        'exec "$here/node" "$here/../../pi/package/dist/bundle/cli.js" "$@"\n'
    )
    program.chmod(0o755)


def _npm(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["npm", *words], capture_output=True, text=True, timeout=900, check=False)


@contextlib.contextmanager
def forwarding(port: int, token: str) -> Iterator[int]:
    """A port that passes requests on with the token, for clients that cannot be told one.

    What a request says of where it goes to and comes from is passed on too, with this port changed
    to that one.
    """

    class Forward(http.server.BaseHTTPRequestHandler):
        def do_request(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            said = {name: self._named(value) for name, value in self.headers.items()}
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            line.request(
                self.command, self.path, body, {**said, "Authorization": f"Bearer {token}"}
            )
            answer = line.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(line):
                while chunk := answer.read1(65536):
                    self.wfile.write(chunk)
                    self.wfile.flush()

        do_GET = do_POST = do_DELETE = do_request  # noqa: N815 - as http.server names them

        def _named(self, value: str) -> str:
            return value.replace(f":{self.server.server_address[1]}", f":{port}")

        def log_message(self, *_: object) -> None:
            """Silent."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forward) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
