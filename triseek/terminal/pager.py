"""Show long output in a pager, as git does: `$PAGER`, else `less`, on a terminal only."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

    Write = Callable[[str], object]

DEFAULT = "less"
"""Run with `LESS=FRX` unless LESS is set: quit if all fits, accept colours, do not clear."""


@contextmanager
def paged(*, wanted: bool = True) -> Iterator[Write]:
    """Yield a function that writes text to a pager, or to standard output if there is no pager.

    If the user quits the pager, the rest of the output is dropped without an error.

    wanted: False to use no pager, even on a terminal.
    """
    # From the start the pager handles Ctrl-C: it stops its current action and stays open. The
    # handler is a function, because the pager would inherit an ignored signal.
    before = signal.signal(signal.SIGINT, _pass)
    process = _start() if wanted and sys.stdout.isatty() else None
    if process is None or process.stdin is None:
        signal.signal(signal.SIGINT, before)
        yield lambda text: sys.stdout.buffer.write(text.encode(errors="replace"))
        sys.stdout.buffer.flush()
        return
    stdin = process.stdin
    try:
        with suppress(BrokenPipeError):
            yield lambda text: stdin.write(text.encode(errors="replace"))
    finally:
        with suppress(OSError):
            stdin.close()
        process.wait()
        signal.signal(signal.SIGINT, before)


def _pass(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the pager handles the signal."""


def command(environ: Mapping[str, str]) -> list[str]:
    """Return the pager's command line; empty if no pager is to be used."""
    try:
        words = shlex.split(environ.get("PAGER", DEFAULT))
    except ValueError:  # an unclosed quote
        return []
    return [] if words in ([], ["cat"]) else words


def _start() -> subprocess.Popen[bytes] | None:
    words = command(os.environ)
    if not words:
        return None
    environ = {"LESS": "FRX", "LV": "-c", **os.environ}
    try:
        return subprocess.Popen(words, stdin=subprocess.PIPE, env=environ)
    except OSError:
        return None  # the pager cannot be started
