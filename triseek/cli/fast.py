"""The quick path: ask the daemon for a finished answer and hand it on, importing next to nothing.

The daemon runs the command line's own code for the words it is sent, so what comes back is what
this process would have written, to the byte; here it is only passed on. Whatever stands in the way
(no daemon, a sandbox, another version, standard input to be read, a daemon that breaks down) means
that the command is done in this process, which is `cli.main`'s to do: this module says how much of
the output has been written already.

Only what the interpreter has in itself is imported: `json`, `socket`, `typing` and the like would
each take as long as the answer (a test compares `sys.modules`).
"""

from __future__ import annotations

import os
import sys

from triseek import __version__
from triseek.cli import status, surroundings
from triseek.ipc import address, wire

try:
    from _json import encode_basestring_ascii as quoted
except ImportError:  # an interpreter without the C module
    from json.encoder import encode_basestring_ascii as quoted
try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PIECE_S = 4.0
"""Longest gap in the middle of a piece, which is sent in one go."""
NOT_ASKED = frozenset(("--no-daemon", "-h", "--help", "-V", "--version", "--type-list"))
"""Words that say, or make it likely, that a daemon is not wanted or of no use."""
TOLD = ("HOME", "XDG_CONFIG_HOME", "RIPGREP_CONFIG_PATH", "NO_COLOR", "TERM", "COLUMNS", "PATH",
        "TRISEEK_SESSION_ID")  # fmt: skip
"""Variables the daemon is told, with all that begin with GIT_CONFIG."""


class Written:
    """What has gone to one stream: how much, and what it was."""

    def __init__(self) -> None:
        self.size = 0
        self.digest = blake2b()

    def add(self, piece: memoryview) -> None:
        """Take note of a piece."""
        self.size += len(piece)
        self.digest.update(piece)


class Left:
    """What is left to be done here: all of the command, or what follows the bytes written."""

    def __init__(self, follow_up: str = "") -> None:
        self.out, self.err = Written(), Written()
        self.follow_up = follow_up
        """For when the answer has been given: `start` a daemon, `replace` it, or nothing."""

    @property
    def begun(self) -> bool:
        """Whether some of the output has been written."""
        return bool(self.out.size or self.err.size)


class _Lost(Exception):
    """The daemon has gone, is stuck, or speaks in tongues."""


HOOK_MAX = 1 << 19
"""Bytes of a hook's standard input that are handed on; what is longer is no payload we can use."""


def ask(words: Sequence[str]) -> int | Left:
    """Have the daemon do a search, find-files or hook; the exit status, or what is left to do.

    Raises:
        OSError: standard output cannot be written; not for a reader that has left.
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
    except BrokenPipeError:  # who read our output has left
        return status.FOUND
    finally:
        sock.close()


def _wanted(words: Sequence[str]) -> bool:
    """Whether to ask at all. What the daemon sends is UTF-8, for streams that are there."""
    if os.environ.get("TRISEEK_NO_DAEMON") or not NOT_ASKED.isdisjoint(words):
        return False
    encodings = {getattr(stream, "encoding", None) for stream in (sys.stdout, sys.stderr)}
    return encodings == {"utf-8"} and sys.getfilesystemencoding() == "utf-8"


# The request


def request(words: Sequence[str]) -> bytes:
    """The request, as the one frame's payload. Raises `OSError` where there is no folder."""
    here, top = os.stat(os.curdir), os.stat("/")
    known = {name: os.environ[name] for name in os.environ if _is_told(name)}
    environ = ",".join(f"{quoted(name)}:{quoted(value)}" for name, value in known.items())
    params = (
        f'"words":[{",".join(map(quoted, words))}],"cwd":{quoted(os.getcwd())},'
        f'"cwd_id":[{here.st_dev},{here.st_ino}],"root_id":[{top.st_dev},{top.st_ino}],'
        f'"space":{quoted(surroundings.space())},"user":{surroundings.user()},'
        f'"terminal":{_json(os.isatty(1))},"width":{surroundings.width(known)},'
        f'"stdin":{_json(surroundings.stdin_readable())},"environ":{{{environ}}}'
    )
    if _is_hook(words):
        params += f',"input":{quoted(_payload())}'
    return _document("text", params)


def _is_hook(words: Sequence[str]) -> bool:
    return words[:1] in (["hook"], ["memo-observe"])


def _payload() -> str:
    """A hook's standard input, unread, as a string that JSON can carry."""
    if os.isatty(0):
        return ""
    pieces, size = [], 0
    while size <= HOOK_MAX and (piece := os.read(0, 1 << 16)):
        pieces.append(piece)
        size += len(piece)
    return os.fsdecode(b"".join(pieces)) if size <= HOOK_MAX else ""


def _document(verb: str, params: str) -> bytes:
    version = quoted(__version__)
    head = f'"protocol":{wire.PROTOCOL},"version":{version},"verb":"{verb}"'
    return f'{{{head},"params":{{{params}}}}}'.encode("ascii")


def _is_told(name: str) -> bool:
    return name in TOLD or name.startswith("GIT_CONFIG")


def _json(value: bool) -> str:
    return "true" if value else "false"


# The answer


def _passed_on(sock: wire.Socket, payload: bytes, left: Left, *, patient: bool) -> int | Left:
    """Send the request and write what comes; the exit status, or `left` if it is declined."""
    _send(sock, payload)
    while True:
        piece = _next(sock, patient=patient)
        kind, rest = piece[0], memoryview(piece)[1:]
        if kind == wire.OUT:
            left.out.add(rest)  # before it is written: what was begun is not written again
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
        return  # it may have said why before it closed
    except OSError:
        raise _Lost from None


def _next(sock: wire.Socket, *, patient: bool) -> bytes:
    """The next piece.

    patient: whether to wait beyond `address.SILENCE_S`; an agent does not wait for its hook.

    Raises:
        _Lost: there will be none.
    """
    try:
        _wait(sock, patient=patient)
        piece = wire.receive(sock, wire.PIECE_LIMIT + 1, gap_s=PIECE_S)
    except (OSError, wire.BadFrame):
        raise _Lost from None
    if not piece:
        raise _Lost
    return piece


def _wait(sock: wire.Socket, *, patient: bool) -> None:
    """Wait until there is something to receive, be it the end, as long as the daemon lives."""
    from _socket import MSG_PEEK

    sock.settimeout(address.SILENCE_S)
    while True:
        try:
            sock.recv(1, MSG_PEEK)
        except TimeoutError:
            if not patient or not address.is_alive():
                raise _Lost from None
        else:
            return


def _status(digits: bytes) -> int:
    if not (digits.isdigit() and len(digits) <= 3 and int(digits) <= 255):
        raise _Lost
    return int(digits)


# The output


def _write(descriptor: int, piece: memoryview) -> None:
    while piece:
        try:
            piece = piece[os.write(descriptor, piece) :]
        except BlockingIOError:  # somebody has made our terminal or pipe non-blocking
            from select import select

            select([], [descriptor], [])


def _write_error(piece: memoryview) -> None:
    try:
        _write(2, piece)
    except OSError:
        return  # nobody listens; the status still speaks
