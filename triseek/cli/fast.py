"""The fast path: ask the daemon for a finished answer and copy it, importing next to nothing.

The daemon runs the command line's own code for the arguments it is sent, so its reply is, to the
byte, what this process would have written; here it is only copied. If anything prevents that (no
daemon, a sandbox, another version, standard input to be read, a daemon that fails), `cli.main` runs
the command in this process: this module reports how much of the output has been written already.

Only modules built into the interpreter are imported: `json`, `socket`, `typing` and the like would
each take as long as the answer (a test compares `sys.modules`).
"""

from __future__ import annotations

import os
import sys

from triseek.ipc import address, surroundings, wire
from triseek.ipc.surroundings import quoted
from triseek.terminal import status

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PIECE_S = 4.0
"""Longest pause in the middle of a piece, which is sent in one go."""
NOT_ASKED = frozenset(("--no-daemon", "-h", "--help", "-V", "--version", "--type-list"))
"""Arguments for which the daemon is not asked: it is unwanted, or likely to be of no use."""
SENT_VARIABLES = (
    "HOME", "XDG_CONFIG_HOME", "RIPGREP_CONFIG_PATH", "NO_COLOR", "TERM", "COLUMNS", "PATH",
    "TRISEEK_SESSION_ID", "TZ",
)  # fmt: skip
"""Variables sent to the daemon, in addition to those of workflows and all that begin with
GIT_CONFIG."""


class WrittenOutput:
    """Size and digest of what has been written to one stream."""

    def __init__(self) -> None:
        self.size = 0
        self.digest = blake2b()

    def add(self, piece: memoryview) -> None:
        """Record a piece."""
        self.size += len(piece)
        self.digest.update(piece)


class Left:
    """What is left to do in this process: all of the command, or what follows the bytes written."""

    def __init__(self, follow_up: str = "") -> None:
        self.out, self.err = WrittenOutput(), WrittenOutput()
        self.follow_up = follow_up
        """What to do after the answer: `start` a daemon, `replace` it, or nothing."""

    @property
    def begun(self) -> bool:
        """Whether some of the output has been written."""
        return bool(self.out.size or self.err.size)


class _Lost(Exception):
    """The daemon has ended, is stuck, or does not follow the protocol."""


HOOK_MAX = 1 << 19
"""Most bytes of a hook's standard input that are sent; a longer input is no usable payload."""


def ask(words: Sequence[str]) -> int | Left:
    """Have the daemon run a search, find-files or hook; return the exit status, or what is left.

    Raises:
        OSError: Standard output cannot be written; not raised if its reader has left.
    """
    if not _wanted(words):
        return Left()
    try:
        payload = request(words)
    except OSError:  # the working folder is gone
        return Left()
    if len(payload) > wire.REQUEST_LIMIT:
        return Left()
    try:
        sock = address.connect(address.CONNECT_S)
    except address.Absent:
        return Left("start")
    except address.Unreached:
        return Left()
    left = Left()
    try:
        return _passed_on(sock, payload, left, patient=not _is_hook(words))
    except _Lost:
        return left
    except BrokenPipeError:  # the reader of our output has left
        return status.FOUND
    finally:
        sock.close()


def _wanted(words: Sequence[str]) -> bool:
    """Return whether to ask the daemon. It sends UTF-8, for streams that have to be open."""
    if os.environ.get("TRISEEK_NO_DAEMON") or not NOT_ASKED.isdisjoint(words):
        return False
    encodings = {getattr(stream, "encoding", None) for stream in (sys.stdout, sys.stderr)}
    return encodings == {"utf-8"} and sys.getfilesystemencoding() == "utf-8"


# The request


def request(words: Sequence[str]) -> bytes:
    """Return the request as a frame's payload. Raises `OSError` if the working folder is gone."""
    variables = (*SENT_VARIABLES, *surroundings.of_workflows(os.environ))
    params = (
        f'"words":[{",".join(map(quoted, words))}],{surroundings.place(variables)},'
        f'"terminal":{str(os.isatty(1)).lower()},"width":{surroundings.width(os.environ)},'
        f'"stdin":{str(surroundings.stdin_readable()).lower()}'
    )
    if _is_hook(words):
        params += f',"input":{quoted(_payload())}'
    return surroundings.request("text", params)


def _is_hook(words: Sequence[str]) -> bool:
    return words[:1] in (["hook"], ["memo-observe"])


def _payload() -> str:
    """Return a hook's standard input, not parsed, as a string that JSON can carry."""
    if os.isatty(0):
        return ""
    pieces, size = [], 0
    while size <= HOOK_MAX and (piece := os.read(0, 1 << 16)):
        pieces.append(piece)
        size += len(piece)
    return os.fsdecode(b"".join(pieces)) if size <= HOOK_MAX else ""


# The answer


def _passed_on(sock: wire.Socket, payload: bytes, left: Left, *, patient: bool) -> int | Left:
    """Send the request and write the reply; return the exit status, or a `Left` if declined."""
    _send(sock, payload)
    while True:
        piece = _next(sock, patient=patient)
        kind, rest = piece[0], memoryview(piece)[1:]
        if kind == wire.OUT:
            left.out.add(rest)  # before the write: a piece that was begun is not written again
            _write(1, rest)
        elif kind == wire.ERR:
            left.err.add(rest)
            _write_error(rest)
        elif kind == wire.END:
            return _status(bytes(rest))
        elif kind == wire.DECLINED and not left.begun:
            return Left("replace") if bytes(rest).startswith(b"version") else left
        else:
            raise _Lost


def _send(sock: wire.Socket, payload: bytes) -> None:
    try:
        sock.settimeout(address.SILENCE_S)
        wire.send(sock, payload)
    except (BrokenPipeError, ConnectionResetError):
        return  # the daemon may have sent a reason before it closed
    except OSError:
        raise _Lost from None


def _next(sock: wire.Socket, *, patient: bool) -> bytes:
    """Return the next piece.

    patient: Whether to wait beyond `address.SILENCE_S`; an agent does not wait for its hook.

    Raises:
        _Lost: No further piece will come.
    """
    from _socket import MSG_PEEK

    try:
        sock.settimeout(address.SILENCE_S)
        while True:  # for data or the end of the connection, as long as the daemon lives
            try:
                sock.recv(1, MSG_PEEK)
                break
            except TimeoutError:
                if not patient or not address.is_alive():
                    raise _Lost from None
        piece = wire.receive(sock, wire.PIECE_LIMIT + 1, gap_s=PIECE_S)
    except (OSError, wire.BadFrame):
        raise _Lost from None
    if not piece:
        raise _Lost
    return piece


def _status(digits: bytes) -> int:
    if not (digits.isdigit() and len(digits) <= 3 and int(digits) <= 255):
        raise _Lost
    return int(digits)


# The output


def _write(descriptor: int, piece: memoryview) -> None:
    while piece:
        try:
            piece = piece[os.write(descriptor, piece) :]
        except BlockingIOError:  # another process has made our terminal or pipe non-blocking
            from select import select

            select([], [descriptor], [])


def _write_error(piece: memoryview) -> None:
    try:
        _write(2, piece)
    except OSError:
        return  # nobody reads it; the exit status still reports the error
