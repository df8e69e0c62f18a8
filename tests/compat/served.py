"""Our server as a process, with indexes of its own."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

READY_S = 60.0


class Server:
    """A server that listens."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stderr is not None
        line = process.stderr.readline()
        address = re.search(r"http://\S+", line)
        assert address, line + process.stderr.read()
        self.url = address[0]

    def wait(self) -> None:
        """Wait until it is ready."""
        until = time.monotonic() + READY_S
        while time.monotonic() < until:
            with (
                contextlib.suppress(OSError),
                urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer,
            ):
                assert answer.status == 200
                return
            time.sleep(0.1)
        raise TimeoutError(f"{self.url} was not ready in {READY_S:.0f} s")


def environment(home: Path) -> dict[str, str]:
    """Return variables by which a process has a state folder of its own and uses no daemon."""
    return {**os.environ, "TRISEEK_HOME": str(home), "HOME": str(home), "TRISEEK_NO_DAEMON": "1"}


def build(home: Path, trees: Sequence[Path]) -> None:
    """Index trees."""
    for tree in trees:
        argv = [sys.executable, "-m", "triseek", "build", str(tree)]
        subprocess.run(argv, env=environment(home), cwd=home, check=True, capture_output=True)


@contextlib.contextmanager
def serving(home: Path, *words: str, **variables: str) -> Iterator[Server]:
    """Serve the indexes of a state folder; `words` are further arguments."""
    argv = [sys.executable, "-m", "triseek", "serve", "--zoekt-compat", "127.0.0.1:0", *words]
    with subprocess.Popen(
        argv,
        env={**environment(home), **variables},
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            server = Server(process)
            server.wait()
            yield server
        finally:
            process.kill()
