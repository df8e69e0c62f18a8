"""A pager around long output, as git has it: `$PAGER`, else `less`, on a terminal only."""

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
"""With `LESS=FRX` where that is not set: it ends if all fits, takes colours, clears nothing."""


@contextmanager
def paged(*, wanted: bool = True) -> Iterator[Write]:
    """What writes text to a pager, or to standard output where there is to be none.

    Whoever leaves the pager wants no more: what is being written then is dropped without an error.

    wanted: False for no pager on a terminal either.
    """
    # Ctrl-C is the pager's from its first moment: it stops what it does, and goes on. A function,
    # for what is ignored here would be ignored by the pager too.
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
    """It is somebody else's."""


def command(environ: Mapping[str, str]) -> list[str]:
    """The pager's words; none for no pager."""
    try:
        words = shlex.split(environ.get("PAGER", DEFAULT))
    except ValueError:  # a quote without its end
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
        return None  # it is not there
