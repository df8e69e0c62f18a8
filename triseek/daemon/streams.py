"""The client's standard output and standard error, as a text handler writes to them."""

from __future__ import annotations

import select
import socket
import threading

from triseek.ipc import wire


class Streams:
    """Two output streams over one connection. Any thread may write; pieces are never interleaved.

    Writing blocks as long as the client does not read: a user may be paging through the output.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._lock = threading.Lock()
        # `poll` and not `select`: a daemon that watches many roots has descriptors above 1024.
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(sock, select.POLLIN | getattr(select, "POLLRDHUP", 0))
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
            if self._poll is None:
                return bool(select.select([self._sock], [], [], 0)[0]) and self._at_end()
            for _, events in self._poll.poll(0):
                hung_up = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)
                return bool(events & hung_up) or self._at_end()
        return False

    def _send(self, kind: int, data: bytes | memoryview) -> None:
        if not len(data):
            return
        with self._lock:
            self.started = True
            try:
                wire.send_piece(self._sock, kind, data)
            except OSError as error:
                raise BrokenPipeError("the client is gone") from error

    def _at_end(self) -> bool:
        """Return whether the readable data is the end of the stream and not the next request."""
        try:
            return self._sock.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True
