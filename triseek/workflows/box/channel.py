"""The host's side of the channel: every frame is hostile until it is checked."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from triseek.workflows.box.child.frames import HEADER_BYTES, MAX_CALL_BYTES

if TYPE_CHECKING:
    from concurrent.futures import Future

    from triseek.workflows.box.functions import Caller

_THREADS = 4
_MAX_WAITING = 64
_MAX_WAITING_BYTES = 2 << 20
"""Of the calls that wait. As objects they take twenty times as much memory."""
_MAX_CALLS = 5000
_READ_BYTES = 1 << 16


class BrokenProtocol(Exception):
    """The script has sent what is no frame, or more than it may."""


class Channel:
    """Reads calls from a socket and answers them in the order in which they end.

    `read` is called by one thread when there is something to read. Functions run in other threads.
    While `_MAX_WAITING` calls wait, or long ones, nothing more is read.
    """

    def __init__(self, end: socket.socket, caller: Caller) -> None:
        self._socket = end
        self._caller = caller
        self._buffer = bytearray()
        self._writing = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._running: list[tuple[Future[None], int]] = []
        """Calls that wait or run, with their lengths in bytes."""
        self._calls = 0
        self.ready = False
        """Whether the box has said that its walls are up."""
        self.refused = ""
        """Why a wall could not be put up."""

    def fileno(self) -> int:
        """Return the descriptor, for selectors."""
        return self._socket.fileno()

    def wants_more(self) -> bool:
        """Whether another call may be read now."""
        self._running = [(call, size) for call, size in self._running if not call.done()]
        return (
            len(self._running) < _MAX_WAITING
            and sum(size for _, size in self._running) < _MAX_WAITING_BYTES
        )

    def read(self) -> bool:
        """Take what has come; return whether the other end is open.

        Raises:
            BrokenProtocol: it is no frame, or more than may come.
        """
        try:
            data = self._socket.recv(_READ_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not data:
            return False
        self._buffer += data
        while (body := self._next_body()) is not None:
            self._take(_object(body), len(body))
        return True

    def send(self, body: bytes) -> None:
        """Send a frame; nothing is sent to an end that is closed."""
        with self._writing, contextlib.suppress(OSError):
            self._socket.sendall(len(body).to_bytes(HEADER_BYTES, "big") + body)

    def close(self) -> None:
        """Close the channel. Functions that still run end without a reply."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._socket.close()

    def _next_body(self) -> bytes | None:
        if len(self._buffer) < HEADER_BYTES:
            return None
        length = int.from_bytes(self._buffer[:HEADER_BYTES], "big")
        if length > MAX_CALL_BYTES:
            raise BrokenProtocol(f"a call of {length} bytes; at most {MAX_CALL_BYTES} are taken")
        if len(self._buffer) < HEADER_BYTES + length:
            return None
        body = bytes(self._buffer[HEADER_BYTES : HEADER_BYTES + length])
        del self._buffer[: HEADER_BYTES + length]
        return body

    def _take(self, message: dict[str, Any], size: int) -> None:
        if not self.ready:
            self.ready = message.get("ready") is True
            self.refused = str(message.get("refused", ""))[:500]
            if not self.ready and not self.refused:
                raise BrokenProtocol("a call before the walls are up")
            return
        number = message.get("id")
        if not isinstance(number, int) or isinstance(number, bool):
            raise BrokenProtocol("a call without a number")
        self._calls += 1
        if self._calls > _MAX_CALLS:
            raise BrokenProtocol(f"more than {_MAX_CALLS} calls of host functions")
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_THREADS, "box")
        self._running.append((self._pool.submit(self._answer, message), size))

    def _answer(self, message: dict[str, Any]) -> None:
        self.send(
            self._caller.reply(message["id"], message.get("name"), message.get("arguments", {}))
        )


def _object(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise BrokenProtocol("a call that is no JSON") from None
    if not isinstance(message, dict):
        raise BrokenProtocol("a call that is no object")
    return message
