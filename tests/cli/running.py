"""Run triseek in this process, and ripgrep beside it."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from triseek.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest


class Outcome(NamedTuple):
    status: int
    out: bytes
    err: str


class Screen(io.TextIOWrapper):
    """Standard output in memory; a terminal if the test says so."""

    def __init__(self, *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def taken(self) -> bytes:
        self.flush()
        return self.buffer.getvalue()  # type: ignore[attr-defined]


@contextlib.contextmanager
def standing_in(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def by_typer(words: Sequence[str], folder: Path, patch: pytest.MonkeyPatch) -> Outcome:
    """Run a command by way of Typer, which has a quick way otherwise."""
    with patch.context() as only:
        only.setattr(main, "perform", lambda words, _context: None)
        return triseek(words, folder)


def triseek(words: Sequence[str], folder: Path, *, terminal: bool = False) -> Outcome:
    out, err = Screen(terminal=terminal), io.StringIO()
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        with standing_in(folder):
            status = main.run(list(words))
    finally:
        sys.stdout, sys.stderr = kept
    return Outcome(status, out.taken(), err.getvalue())


def rg(words: Sequence[str], folder: Path) -> Outcome:
    done = subprocess.run(
        ["rg", "--no-config", "--sort=path", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def command(words: Sequence[str], folder: Path, *, stdin: bytes | None = None) -> Outcome:
    """triseek as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "triseek", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        check=False,
        **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
    )
    return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"))
