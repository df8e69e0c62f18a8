"""A search by the daemon as `cli.fast` asks it, for threads that have no process of their own."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

from triseek.cli import fast
from triseek.ipc import address, wire

WAIT_S = 60.0


class Answer(NamedTuple):
    status: int
    out: bytes
    err: bytes


class Refused(Exception):
    """Declined, with the daemon's reason: a client would do the work itself."""


class Broken(Exception):
    """No daemon, or it went away."""


def ask(words):
    """Ask in the working folder of this process.

    Raises:
        Refused, Broken.
    """
    try:
        sock = address.connect(WAIT_S)
    except address.Absent as error:
        raise Broken(str(error)) from error
    parts = {wire.OUT: [], wire.ERR: []}
    try:
        wire.send(sock, fast.request(words))
        while (payload := wire.receive(sock, wire.ANSWER_LIMIT))[:1] not in (b"", b"=", b"-"):
            parts[payload[0]].append(payload[1:])
    except (OSError, wire.BadFrame) as error:
        raise Broken(str(error)) from error
    finally:
        sock.close()
    if not payload:
        raise Broken("closed")
    if payload[0] == wire.DECLINED:
        raise Refused(payload[1:].decode())
    return Answer(int(payload[1:]), b"".join(parts[wire.OUT]), b"".join(parts[wire.ERR]))


def run(words):
    """The same by a real process."""
    done = subprocess.run(
        [sys.executable, "-m", "triseek", *words],
        stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout, done.stderr)
