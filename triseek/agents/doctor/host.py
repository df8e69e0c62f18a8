"""The machine as the checks see it: its programs, run with a time limit."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triseek.agents.listing import Ran
from triseek.agents.payloads.fields import Fields, fields_of, parsed
from triseek.ipc import children

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NEVER_S = 3600.0
QUIET = {
    "NO_COLOR": "1",
    "DISABLE_AUTOUPDATER": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "PI_OFFLINE": "1",
    "TRISEEK_MCP_DISABLE_STARTUP_SYNC": "1",
    "TRISEEK_NO_DAEMON": "1",
}
"""Variables for programs that the doctor runs: an agent must not update anything, and a server that
it tries must not build or start anything."""
OUTPUT_MAX = 1 << 20
"""Bytes of each of a program's output streams that are kept."""


@dataclass(frozen=True, kw_only=True)
class DoctorHost:
    """The environment of the checks: folders, programs and time limit."""

    cwd: str
    """The folder the doctor was called in, absolute."""
    program: str
    """The triseek program that an install gives to agents; "" if none can be found."""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    until: float = float("inf")
    """The time by which all programs must have ended, by `time.monotonic`."""

    is_daemon_stuck: bool = False
    """Whether the daemon did not answer its own check: the other checks do not ask it again."""

    def which(self, name: str) -> str:
        """Return the absolute path of a program on PATH; "" if it is not there."""
        return shutil.which(name, path=self.environ.get("PATH", os.defpath)) or ""

    def run(
        self,
        words: Sequence[str],
        *,
        stdin: bytes = b"",
        limit_s: float = 10.0,
        more: Mapping[str, str] | None = None,
        held: bytes = b"",
    ) -> Ran:
        """Run a program until it ends or its time is up; its failures are returned, not raised.

        It gets a process group of its own, so that its children end with it.

        Args:
            words: the program and its arguments.
            stdin: its standard input.
            limit_s: seconds it may take, at most.
            more: environment variables in addition to `environ`.
            held: for a server, which ends with its input: the input is kept open until a line
                of output contains this.
        """
        began = time.monotonic()
        limit = min(limit_s, self.until - began, _NEVER_S)
        if limit <= 0:
            return Ran(None, trouble="there was no time left to ask")
        try:
            with children.session(
                words,
                cwd=self.cwd,
                env={**self.environ, **(more or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if held else subprocess.PIPE,
            ) as child:
                try:
                    if held:
                        out, err = _converse(child, stdin, held, limit), b""
                    else:
                        out, err = child.communicate(stdin, timeout=limit)
                except subprocess.TimeoutExpired:
                    _end(child)
                    return Ran(None, trouble=f"no answer within {limit:.0f} s")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            return Ran(None, trouble=f"it does not start: {reason}")
        return Ran(child.returncode, _text(out), _text(err), (time.monotonic() - began) * 1e3)

    def call(
        self, words: Sequence[str], messages: Sequence[dict[str, Any]], *, limit_s: float
    ) -> tuple[Ran, dict[object, Fields]]:
        """Run a JSON-RPC server, send it messages, and end it once it has replied to the last.

        Returns:
            How it ran, and its results by the ids of the requests.
        """
        lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
        last = messages[-1]["id"]
        held = f'"id":{json.dumps(last)}'.encode()
        ran = self.run(words, stdin=lines, held=held, limit_s=limit_s, more=QUIET)
        replies = [fields_of(parsed(line)) for line in ran.out.splitlines()]
        names = [message.get("id") for message in messages]
        return ran, {
            reply["id"]: reply.inner("result")
            for reply in replies
            if isinstance(reply.get("result"), dict) and reply.get("id") in names
        }


def _converse(child: subprocess.Popen[bytes], stdin: bytes, held: bytes, limit_s: float) -> bytes:
    """Send a server its input, and close that once a line with `held` has come.

    Raises:
        subprocess.TimeoutExpired: the line has not come, or the server does not end.
    """
    lines: list[bytes] = []

    def listen() -> None:
        for line in child.stdout or ():
            lines.append(line)
            if held in line:
                close()
        close()

    def close() -> None:
        if child.stdin is not None:
            with contextlib.suppress(OSError):
                child.stdin.close()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    if child.stdin is not None:
        with contextlib.suppress(OSError, ValueError):  # the server has ended already
            child.stdin.write(stdin)
            child.stdin.flush()
    child.wait(timeout=limit_s)
    listener.join(timeout=1.0)
    return b"".join(lines)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill a program and its children, and close its pipes."""
    with contextlib.suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL) if hasattr(os, "killpg") else child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired, ValueError):
        child.communicate(timeout=1.0)


def _text(data: bytes) -> str:
    return data[:OUTPUT_MAX].decode("utf-8", "replace")
