"""Where an agent runs: a home and a tree of its own, and nothing of whoever runs the tests."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PATIENCE_S = 240.0
_PASSED_ON = ("PATH", "LANG", "TMPDIR", "PYTHONPATH", "NUMBA_CACHE_DIR", "TRISEEK_HOME")


@dataclass(frozen=True, slots=True)
class Place:
    """A home and a tree."""

    home: Path
    tree: Path
    programs: Path
    """The folder of the programs that npm installed."""

    def env(self, **more: str) -> dict[str, str]:
        """The environment of an agent."""
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        path = f"{self.programs}{os.pathsep}{kept.get('PATH', os.defpath)}"
        return {**kept, "PATH": path, "HOME": str(self.home), "NO_PROXY": "127.0.0.1", **more}


class Ended(AssertionError):
    """The program ended, or said nothing, while something was expected of it."""


class Lines:
    """A program that is told lines of JSON and answers in them."""

    def __init__(self, words: list[str], cwd: Path, env: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                words,
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._told: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def until(self, kind: str, value: object) -> list[dict[str, Any]]:
        """The messages up to the one whose field `kind` is `value`, itself included.

        Raises:
            Ended: it does not come.
        """
        told: list[dict[str, Any]] = []
        while not told or told[-1].get(kind) != value:
            try:
                message = self._told.get(timeout=PATIENCE_S)
            except queue.Empty:
                message = None
            if message is None:
                raise Ended(f"{told[-3:]}\n{self._log.read_text(errors='replace')[-2000:]}")
            told.append(message)
        return told

    def end(self) -> None:
        """Close its input and wait for its end."""
        assert self._process.stdin
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as told:
            for line in told:
                with contextlib.suppress(ValueError):
                    message = json.loads(line)
                    if isinstance(message, dict):
                        self._told.put(message)
        self._told.put(None)


@contextlib.contextmanager
def talking(words: list[str], cwd: Path, env: Mapping[str, str], log: Path) -> Iterator[Lines]:
    """A program to talk to, until the block ends."""
    lines = Lines(words, cwd, env, log)
    try:
        yield lines
    finally:
        lines.end()


def run(words: list[str], cwd: Path, env: Mapping[str, str]) -> str:
    """Run a program to its end; returns what it printed.

    Raises:
        Ended: it failed.
    """
    done = subprocess.run(
        words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    if done.returncode:
        raise Ended(f"{words[0]}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout
