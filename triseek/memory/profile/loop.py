"""The loop of the profile: lines in, answers out, and a clean end.

The thread that reads answers what needs no memory; calls of tools are run by another thread, in
order. Answers have the order of the requests. Only that to `ping` does not wait for calls: by it a
client asks whether the server lives.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from typing import TYPE_CHECKING

from triseek.memory.profile import handshake
from triseek.memory.profile.lines import lines
from triseek.memory.profile.messages import (
    RpcError,
    error_line,
    parsed,
    result_line,
)
from triseek.terminal import status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NoReturn

    from triseek.memory.profile.messages import Message

CALL = "tools/call"
SIGNALS = (signal.SIGTERM, signal.SIGINT)
GRACE_S = 1.5
"""Seconds for what still runs when a signal comes; the process is gone within 2."""
WAITING_MAX = 8
"""Requests that wait for a call; no more are read. Each may have `lines.LINE_MAX` bytes."""
NEVER_ANSWERED = ("notifications/initialized", "notifications/cancelled")
"""Messages without an answer, even if a client sends them with an id."""


class Loop:
    """Serves one client."""

    def __init__(
        self,
        source: int,
        target: int,
        open_calls: Callable[[], Callable[[Mapping[str, object]], object]],
        default_palace: str = "",
    ) -> None:
        """Serve nobody yet.

        Args:
            source: The descriptor to read from.
            target: The descriptor to write to.
            open_calls: Returns what calls tools; run in the thread that calls them.
            default_palace: Of calls that name none; "" if each must name one.
        """
        self.cancelled = threading.Event()
        """Set when the process is to end: what runs in the background stops."""
        self._source = source
        self._target = target
        self._default_palace = default_palace
        self._waiting: queue.Queue[Message | RpcError | None] = queue.Queue(WAITING_MAX)
        self._writing = threading.Lock()
        self._open_calls = open_calls
        self._calling = threading.Thread(target=self._run_calls, daemon=True)
        self._beside: threading.Thread | None = None

    def run(self) -> None:
        """Serve until the input ends and all requests are answered.

        The process ends with status 0 before that if it gets one of `SIGNALS`, or if nobody reads
        the answers.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # for all threads, before they start
        threading.Thread(target=self._wait_for_signal, daemon=True).start()
        self._calling.start()
        for line in lines(self._source):
            if self.cancelled.is_set():
                break
            if line is None or line.strip():
                self._take(line)
        self._waiting.put(None)
        self._calling.join()
        self.cancelled.set()
        self._join_beside(GRACE_S)

    def run_beside(self, work: Callable[[], None]) -> None:
        """Run `work` in a thread until it returns: soon, once `cancelled` is set."""
        self._beside = threading.Thread(target=work, daemon=True)
        self._beside.start()

    def _join_beside(self, seconds: float) -> None:
        if self._beside is not None:
            self._beside.join(max(seconds, 0))

    def _take(self, line: bytes | None) -> None:
        """Answer a line now, or leave it to the thread that calls tools."""
        message: Message | RpcError
        try:
            message = parsed(line)
        except RpcError as error:
            message = error
        method = None if isinstance(message, RpcError) else message.method
        is_next = self._waiting.unfinished_tasks == 0
        if method == "ping" or (is_next and method != CALL):
            self._answer(message, None)
        else:
            self._waiting.put(message)

    def _run_calls(self) -> None:
        try:
            call = self._open_calls()
            while (message := self._waiting.get()) and not self.cancelled.is_set():
                self._answer(message, call)
                del message  # it may be large
                self._waiting.task_done()
        except BaseException:  # noqa: BLE001 - the other thread would wait for ever
            import traceback

            traceback.print_exc()
            os._exit(status.BUG)

    def _answer(
        self, message: Message | RpcError, call: Callable[[Mapping[str, object]], object] | None
    ) -> None:
        """Write the answer to a message, if it gets one. call: Calls a tool."""
        if isinstance(message, RpcError):
            self._write(error_line(None, message))
            return
        try:
            if message.method == CALL and call is not None:
                result = call(message.params)
            else:
                result = handshake.answer(message, self._default_palace)
            line = result_line(message.id, result)
        except RpcError as error:
            line = error_line(message.id, error)
        if message.has_id and message.method not in NEVER_ANSWERED:
            self._write(line)

    def _write(self, line: bytes) -> None:
        try:
            with self._writing:
                while line:
                    line = line[os.write(self._target, line) :]
        except OSError:  # the client has gone
            _end()

    def _wait_for_signal(self) -> None:
        signal.sigwait(SIGNALS)
        until = time.monotonic() + GRACE_S
        self.cancelled.set()
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        self._calling.join(GRACE_S)
        self._join_beside(until - time.monotonic())
        self._writing.acquire(timeout=0.1)  # no line is cut
        _end()


def _end() -> NoReturn:
    """End the process. What was acknowledged is in the database, whose log needs no closing."""
    os._exit(0)
