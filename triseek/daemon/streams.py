"""The client's standard output and standard error, as a text handler writes to them."""

from __future__ import annotations

import select
import threading
from typing import TYPE_CHECKING

from triseek.ipc import wire

if TYPE_CHECKING:
    import socket


class Streams:
    """Two output streams over one connection. Any thread may write; pieces are never interleaved.

    Writing blocks as long as the client does not read: a user may be paging through the output.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._lock = threading.Lock()
        self._poller = _Poller(sock)
        self.started = False
        """Whether anything was sent; after that the request can no longer be declined."""

    def out(self, data: bytes | memoryview) -> None:
        """Send bytes for standard output.

        Raises:
            BrokenPipeError: the client is gone.
        """
        self._send(wire.OUT, data)

    def err(self, data: bytes | memoryview) -> None:
        """Send bytes for standard error.

        Raises:
            BrokenPipeError: the client is gone.
        """
        self._send(wire.ERR, data)

    def gone(self) -> bool:
        """Return whether the client has left. One or two system calls: loops may check it."""
        with self._lock:
            return self._poller.hung_up()

    def _send(self, kind: int, data: bytes | memoryview) -> None:
        if not len(data):
            return
        with self._lock:
            self.started = True
            try:
                wire.send_piece(self._sock, kind, data)
            except OSError as error:
                raise BrokenPipeError("the client is gone") from error


class _Poller:
    """Checks whether the peer has closed a connection.

    `poll` and not `select`: a daemon that watches many roots has descriptors above 1024.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(sock, select.POLLIN | getattr(select, "POLLRDHUP", 0))

    def hung_up(self) -> bool:
        if self._poll is None:
            return bool(select.select([self._sock], [], [], 0)[0]) and self._ended()
        for _, events in self._poll.poll(0):
            if events & (select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)):
                return True
            return self._ended()
        return False

    def _ended(self) -> bool:
        """Return whether the readable data is the end of the stream and not the next request."""
        import socket

        try:
            return self._sock.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True
