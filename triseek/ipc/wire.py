"""Frames between a client and the daemon: four bytes of length, big-endian, then the payload.

The first byte of a payload says what it is:

    {   a JSON object in UTF-8: a request, or the answer to one
    1   bytes for standard output follow
    2   bytes for standard error follow
    =   a decimal exit status: the end of a text answer
    -   declined, with a reason word; only before any 1 or 2: the client does the work itself
    #   the token of a connection by TCP, before its first request

An empty payload is no frame. docs/reference/protocol.md has the verbs. This module is on the fast
path: it imports nothing but what the interpreter has in itself.
"""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket as _full
    from _socket import socket as _plain

    Socket = _plain | _full.socket

PROTOCOL = 1
"""Counts up when a frame changes its meaning."""
REQUEST_LIMIT = 1 << 20
"""Bytes of the largest request."""
PIECE_LIMIT = 256 << 10
"""Bytes of the largest piece of a text answer, its first byte not counted."""
ANSWER_LIMIT = 64 << 20
"""Bytes of the largest JSON answer a client takes."""
HEAD = 4
"""Bytes of the length."""

OBJECT, OUT, ERR, END, DECLINED, TOKEN = b"{12=-#"


class BadFrame(Exception):
    """What came is no frame: the connection is of no more use."""


class TooLarge(BadFrame):
    """A length above the limit, or of zero; also what HTTP looks like."""


class CutShort(BadFrame):
    """The other end left in the middle of a frame."""


def pack(payload: bytes) -> bytes:
    """The frame that carries a payload."""
    return len(payload).to_bytes(HEAD, "big") + payload


def unpack(data: bytes, limit: int) -> tuple[bytes, bytes] | None:
    """The first payload in `data` and what follows it; None while the frame is not whole.

    Raises:
        TooLarge: the length is above `limit`, or zero.
    """
    if len(data) < HEAD:
        return None
    end = HEAD + _size(data[:HEAD], limit)
    return None if len(data) < end else (data[HEAD:end], data[end:])


def send(sock: Socket, payload: bytes) -> None:
    """Send one frame, waiting as long as the socket does."""
    sock.sendall(pack(payload))


def send_piece(sock: Socket, kind: int, data: bytes | memoryview) -> None:
    """Send bytes for one stream (`OUT` or `ERR`), in pieces of `PIECE_LIMIT`."""
    view = memoryview(data)
    for start in range(0, len(view), PIECE_LIMIT):
        piece = view[start : start + PIECE_LIMIT]
        size = len(piece) + 1
        sock.sendall(b"".join((size.to_bytes(HEAD, "big"), kind.to_bytes(1, "big"), piece)))


def receive(
    sock: Socket, limit: int, *, gap_s: float | None = None, whole_s: float | None = None
) -> bytes:
    """The next payload; b"" if the other end closed the connection between frames.

    The first byte is waited for as long as the socket's own time-out says.

    Args:
        sock: a connected socket.
        limit: bytes of the largest payload.
        gap_s: seconds between bytes of a frame that has begun; None leaves the socket's time-out.
        whole_s: seconds from a frame's first byte to its last; without this, somebody who sends
            a byte now and then would hold the connection for days.

    Raises:
        BadFrame: a length above the limit, or the end of the stream within a frame.
        TimeoutError: the socket's time-out, `gap_s` or `whole_s` passed.
        OSError: as the operating system says.
    """
    first = sock.recv(HEAD)
    if not first:
        return b""
    until = None if whole_s is None else monotonic() + whole_s
    if gap_s is not None:
        sock.settimeout(gap_s)
    head = first if len(first) == HEAD else first + _exactly(sock, HEAD - len(first), until)
    return _exactly(sock, _size(head, limit), until)


def _size(head: bytes, limit: int) -> int:
    size = int.from_bytes(head, "big")
    if not 0 < size <= limit:
        raise TooLarge(f"a frame of {size} bytes was announced, and 1 to {limit} are allowed")
    return size


def _exactly(sock: Socket, size: int, until: float | None) -> bytes:
    data = sock.recv(size)
    if len(data) == size:
        return data  # nearly always: one call, no copy
    parts, missing = [data], size - len(data)
    while data and missing:
        if until is not None and monotonic() > until:
            raise TimeoutError(f"a frame took too long: {missing} of {size} bytes are missing")
        data = sock.recv(missing)
        parts.append(data)
        missing -= len(data)
    if missing:
        raise CutShort(f"the connection ended {missing} bytes before the end of a frame")
    return b"".join(parts)
