"""Frames between a client and the daemon: four bytes of length, big-endian, then the payload.

The first byte of a payload gives its kind:

    {   a JSON object in UTF-8: a request, or the answer to one
    1   bytes for standard output follow
    2   bytes for standard error follow
    =   a decimal exit status: the end of a text answer
    -   declined, with a reason; only before any 1 or 2: the client does the work itself
    #   the token of a connection by TCP, before its first request

A payload is never empty. docs/reference/protocol.md lists the verbs. This module is on the fast
path: it imports only built-in modules.
"""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket as _full
    from _socket import socket as _plain

    Socket = _plain | _full.socket

PROTOCOL = 1
"""Version of the protocol; incremented when a frame changes its meaning."""
REQUEST_LIMIT = 1 << 20
"""Size limit of a request in bytes."""
PIECE_LIMIT = 256 << 10
"""Size limit of one piece of a text answer in bytes, its first byte not counted."""
ANSWER_LIMIT = 64 << 20
"""Size limit of the JSON answer that a client accepts, in bytes."""
HEAD = 4
"""Size of the length prefix in bytes."""

OBJECT, OUT, ERR, END, DECLINED, TOKEN = b"{12=-#"


class BadFrame(Exception):
    """The received bytes are no frame; the connection cannot be used any more."""


class TooLarge(BadFrame):
    """The length is zero or above the limit; an HTTP request looks like that, too."""


class CutShort(BadFrame):
    """The peer closed the connection in the middle of a frame."""


def pack(payload: bytes) -> bytes:
    """Return the frame that carries a payload."""
    return len(payload).to_bytes(HEAD, "big") + payload


def send(sock: Socket, payload: bytes) -> None:
    """Send one frame, subject to the socket's time-out."""
    sock.sendall(pack(payload))


def send_piece(sock: Socket, kind: int, data: bytes | memoryview) -> None:
    """Send bytes for one stream (`OUT` or `ERR`) in pieces of at most `PIECE_LIMIT` bytes."""
    view = memoryview(data)
    for start in range(0, len(view), PIECE_LIMIT):
        piece = view[start : start + PIECE_LIMIT]
        size = len(piece) + 1
        sock.sendall(b"".join((size.to_bytes(HEAD, "big"), kind.to_bytes(1, "big"), piece)))


def receive(
    sock: Socket, limit: int, *, gap_s: float | None = None, whole_s: float | None = None
) -> bytes:
    """Return the next payload; b"" if the peer closed the connection between frames.

    The socket's own time-out applies to the first byte.

    Args:
        sock: a connected socket.
        limit: size limit of the payload in bytes.
        gap_s: seconds between bytes of a frame that has begun; None keeps the socket's time-out.
        whole_s: seconds from a frame's first byte to its last; without it, a peer that sends a
            byte now and then could hold the connection for days.

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
        return data  # the usual case: one call, no copy
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
