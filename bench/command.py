"""Run a command to its end and say what it cost: wall clock, processor, peak memory.

Output is drained through a pipe, as an agent's harness would read it. `/dev/null` would flatter
programs that notice it, and a file would measure the disk.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_CHUNK = 1 << 20


class Ended(NamedTuple):
    """A finished process."""

    seconds: float
    """From before the fork until its output was at an end and it was reaped."""
    cpu_seconds: float
    peak_rss_bytes: int
    code: int
    output: bytes
    errors: str


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    keep: bool = False,
    lines_max: int | None = None,
) -> Ended:
    """Run `argv`; with `lines_max`, stop it once that many lines have come (code is then 0)."""
    with tempfile.TemporaryFile() as errors:
        begun = time.perf_counter()
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(os.environ) | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        output, cut = _drain(process, keep=keep, lines_max=lines_max)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(
            seconds=seconds,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_rss_bytes=usage.ru_maxrss * 1024,
            code=0 if cut else process.returncode,
            output=output,
            errors=_text(errors),
        )


def _drain(
    process: subprocess.Popen[bytes], *, keep: bool, lines_max: int | None
) -> tuple[bytes, bool]:
    assert process.stdout is not None
    kept: list[bytes] = []
    lines = 0
    with process.stdout as pipe:
        while chunk := os.read(pipe.fileno(), _CHUNK):
            if keep or lines_max is not None:
                kept.append(chunk)
            if lines_max is not None:
                lines += chunk.count(b"\n")
                if lines >= lines_max:
                    os.kill(process.pid, signal.SIGKILL)  # Popen.kill() might reap it
                    return _first(b"".join(kept), lines_max), True
    return b"".join(kept), False


def _first(output: bytes, lines: int) -> bytes:
    return b"".join(output.splitlines(keepends=True)[:lines])


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read(10_000).decode(errors="replace").strip()
