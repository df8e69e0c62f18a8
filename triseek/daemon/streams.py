"""What a text handler writes to: the client's standard output and standard error."""

from __future__ import annotations

import select
import threading
from typing import TYPE_CHECKING

from triseek.ipc import wire

if TYPE_CHECKING:
    import socket


class Streams:
    """Two streams over one connection. Any thread may write; a piece is never torn.

    Writing waits for as long as the client does: somebody may be reading the output in a pager.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._lock = threading.Lock()
        self._poller = _Poller(sock)
        self.started = False
        """Whether anything was sent, after which a request can no longer be declined."""

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
        """Whether the client has left: one system call, for loops that may stop early."""
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
    """Tells whether the other end of a connection has closed it.

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
        """Something can be read: the next request, or the end."""
        import socket

        try:
            return self._sock.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True
