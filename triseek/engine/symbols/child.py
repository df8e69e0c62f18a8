"""A child process that answers one request after the other, and is killed if it does not."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
import time
from typing import TYPE_CHECKING

from triseek.ipc import children

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPLY_MAX = 64 << 20
"""Bytes of an answer; a child that writes more is killed."""
START_S = 5.0
"""Seconds that a child has in addition if it has to start first: the machine may be busy."""
_PIECE = 1 << 16


class ChildFailed(Exception):
    """The child ended, or could not be started; another text may fare better."""


class ChildSlow(ChildFailed):
    """The child did not answer in time and was killed."""


class Child:
    """A child process, started with the first request and again after it ended.

    Thread-safe: requests wait for one another.
    """

    def __init__(self, words: Sequence[str], is_complete: Callable[[bytearray], bool]) -> None:
        """Declare a child; nothing is started yet.

        Args:
            words: The program and its arguments.
            is_complete: Returns whether the bytes so far are a whole answer.
        """
        self._words = words
        self._is_complete = is_complete
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: bytes, seconds: float) -> bytes:
        """Return the answer to a request.

        Raises:
            ChildSlow: There was none within `seconds`, and `START_S` for a child that has to start.
            ChildFailed: The child cannot be started, or ended.
        """
        until = time.monotonic() + seconds
        if not self._lock.acquire(timeout=max(0.0, seconds)):
            raise ChildSlow("other requests took all the time")
        try:
            is_new = self._start()
            if is_new:
                until += START_S
            try:
                return self._exchange(request, until)
            except ChildSlow:
                raise
            except ChildFailed:
                if is_new:
                    raise
            self._start()  # it had ended since the last request, as it does when idle
            return self._exchange(request, until + START_S)
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the child. A later request starts another."""
        with self._lock:
            self._end()

    def _start(self) -> bool:
        """Start the process if none runs; return whether it was started."""
        if self._process is not None and self._process.poll() is None:
            return False
        self._end()
        try:
            self._process = children.start(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                bufsize=0,
            )
        except OSError as error:
            raise ChildFailed(f"{self._words[0]}: {error.strerror}") from error
        # One that ends when it is idle is no zombie until the next request.
        threading.Thread(target=self._process.wait, name="triseek-reap", daemon=True).start()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None  # noqa: S101 - both are pipes
            os.set_blocking(stream.fileno(), False)
        return True

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def _exchange(self, request: bytes, until: float) -> bytes:
        """Write the request while reading the answer; kill the child unless it is whole."""
        process = self._process
        assert process is not None  # noqa: S101 - `ask` has started it
        assert process.stdin is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        source, target = process.stdout.fileno(), process.stdin.fileno()
        rest, answer = memoryview(request), bytearray()
        try:
            while not self._is_complete(answer):
                ready = _ready(source, target if rest else -1, until)
                if target in ready:
                    rest = rest[os.write(target, rest[:_PIECE]) :]
                if source in ready:
                    answer += _read(source)
                _check_size(answer)
        except OSError as error:
            self._end()
            raise ChildFailed(f"the process ended ({error.strerror})") from error
        except BaseException:
            self._end()
            raise
        return bytes(answer)


def _check_size(answer: bytearray) -> None:
    if len(answer) > REPLY_MAX:
        raise ChildFailed(f"its answer is longer than {REPLY_MAX:,} bytes")


def _ready(source: int, target: int, until: float) -> set[int]:
    """Wait until one of two descriptors is ready or closed, and return those; target: -1 if none.

    Not by `select.select`, which fails where a process has more than a thousand descriptors.

    Raises:
        ChildSlow: Neither was ready by then.
    """
    poll = select.poll()
    poll.register(source, select.POLLIN)
    if target >= 0:
        poll.register(target, select.POLLOUT)
    events = poll.poll(max(0.0, until - time.monotonic()) * 1000)
    if not events:
        raise ChildSlow("there was no answer in time")
    return {descriptor for descriptor, _ in events}


def _read(source: int) -> bytes:
    """Raises `ChildFailed` at the end of the output."""
    piece = os.read(source, _PIECE)
    if not piece:
        raise ChildFailed("the process ended")
    return piece
