"""The real Zoekt, built from a pinned version of its Go module, once, outside of the tree."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = "v0.0.0-20260413093009-c3d4afa94960"
MODULE = "github.com/sourcegraph/zoekt"
PROGRAMS = ("zoekt-index", "zoekt-git-index", "zoekt-webserver")
FOLDER = "TRISEEK_TEST_PACKAGES"
"""The variable by which somebody says where programs are kept."""
START_S = 20.0


class Unreachable(Exception):
    """There is no Go here, or it reaches no module proxy."""


def installed() -> Path:
    """Return the folder of the programs; building them takes a minute or two the first time.

    Raises:
        Unreachable: Nothing can be built here.
    """
    pin = hashlib.sha256(f"{VERSION} {PROGRAMS}".encode()).hexdigest()[:12]
    kept = Path(os.environ.get(FOLDER) or tempfile.gettempdir(), f"triseek-zoekt-{pin}")
    if kept.exists():  # perhaps another user's, whose lock cannot be opened
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock:  # two test processes want it at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            aside = Path(tempfile.mkdtemp(dir=kept.parent))
            try:
                _build(aside)
                aside.chmod(0o755)
                aside.rename(kept)
            finally:
                shutil.rmtree(aside, ignore_errors=True)
    return kept


def _build(folder: Path) -> None:
    """Build the programs in a module that requires the pinned version.

    `go install MODULE/cmd/PROGRAM@VERSION` asks the proxy for modules named like the packages,
    and some proxies answer that with an error.
    """
    go = shutil.which("go")
    if go is None:
        raise Unreachable("Go is not installed; it builds Zoekt, with which this test compares")
    with tempfile.TemporaryDirectory() as module:
        Path(module, "go.mod").write_text(
            f"module local\n\ngo 1.25\n\nrequire {MODULE} {VERSION}\n", encoding="ascii"
        )
        packages = [f"{MODULE}/cmd/{program}" for program in PROGRAMS]
        done = subprocess.run(
            [go, "build", "-mod=mod", "-o", f"{folder}/", *packages],
            cwd=module, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise Unreachable(f"Go cannot build Zoekt: {done.stderr.strip()[-300:]}")


def index(tree: Path, indexes: Path, *words: str) -> None:
    """Index a folder as a repository of its name; `words` are further flags of `zoekt-index`."""
    indexer = str(installed() / "zoekt-index")
    subprocess.run(
        [indexer, "-index", str(indexes), *words, str(tree)],
        check=True, capture_output=True,
    )  # fmt: skip


@contextlib.contextmanager
def serving(indexes: Path, *words: str, rpc: bool = True) -> Iterator[str]:
    """Serve a folder of indexes on loopback; the value is the server's URL.

    It is ready to search: all shards are loaded. `words` are further flags of `zoekt-webserver`.
    """
    port = free_port()
    server = [str(installed() / "zoekt-webserver"), "-listen", f"127.0.0.1:{port}"]
    argv = [*server, "-index", str(indexes), *(["-rpc"] if rpc else []), *words]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait(url, process)
        yield url
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port of loopback on which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        assert process.poll() is None, "zoekt-webserver ended at once"
        # `/readyz` answers before large shards are loaded, so a search says whether they are.
        request = urllib.request.Request(f"{url}/search?q=f%3A.&format=json&num=1")
        with (
            contextlib.suppress(OSError),  # urllib's errors are of this kind
            urllib.request.urlopen(request, timeout=5) as answer,
        ):
            if json.load(answer)["result"]["Stats"]["Crashes"] == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"zoekt-webserver at {url} was not ready in {START_S:.0f} s")
