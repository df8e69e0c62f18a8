"""The process that an agent starts: it carries lines between the agent and its MCP session.

The MCP session (`mcp.session`) runs in the daemon, or in a thread of this process if no daemon can
be used. This module does not parse messages. It numbers the agent's lines, and the session reports
for each line whether it is settled (`mcp.wire_lines`). If a daemon ends in the middle of a call,
the open lines are sent to the next daemon, and the agent notices nothing.

A session is opened in a thread, because that may take seconds. Meanwhile the agent's first requests
are answered from what was prepared (`mcp.prepared`).

Like the command line's fast path, this module imports nothing heavy: a test lists its imports.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` imports enum, which takes longer
import _thread  # and `threading` imports functools
import os
import select
import sys
from time import monotonic

from triseek.errors import BackendFailure
from triseek.ipc import address
from triseek.mcp.backends import DAEMONS_MAX
from triseek.mcp.wire_lines import LINE_MAX, LineBuffer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable

    from triseek.mcp.backends import Opener


CHUNK = 1 << 16
OPEN_MAX, OPEN_BYTES_MAX = 4_096, 64 << 20
"""Limits of the open lines and their bytes; above them the agent's next line is not read."""
BUFFER_MAX = 1 << 20
"""Bytes buffered for one side above which nothing more is read from the other."""
TRIES = DAEMONS_MAX + 1
"""Maximum number of sessions that may end with a line open: as many as run in daemons, and one in a
process of its own. A call that ends each of them is answered with an error; it would otherwise end
daemons for ever."""
LINGER_S = 4.5
"""Seconds to wait for the session's next byte after the agent has closed its end."""


class PendingLine:
    """A line of the agent that is not settled yet."""

    __slots__ = ("again", "data", "losses", "lost")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.losses = 0
        """How many sessions have ended since it was sent first."""
        self.again = True
        """Whether it may be sent again."""
        self.lost = b""
        """The answer to give if the real one is lost; empty until the session has sent it."""


class Pipe:
    """Carries lines until the agent closes its end or the session is over."""

    def __init__(
        self,
        source: int,
        target: int,
        opener: Opener,
        prepared: Callable[[bytes], bytes | None] = lambda _line: None,
    ) -> None:
        """Read the agent's lines from the descriptor `source` and write to `target`.

        opener: Opens a session, and reopens it after a loss; called in a thread.
        prepared: Returns the answer to the agent's next line, if that needs no session.
        """
        self._source = source
        self._target = target
        self._opener = opener
        self._prepared = prepared
        self._opening: Opening | None = None
        """A session that is being opened."""
        self._sock: _socket.socket | None = None
        """The connection to the session."""
        self._in_daemon = False
        """Whether the session runs in the daemon."""
        self._lines: dict[int, PendingLine] = {}
        self._kept: dict[int, bytes] = {}
        self._state = ""
        self._sessions = 0
        self._number = 0
        self._bytes = 0
        self._from_agent, self._from_session = LineBuffer(LINE_MAX + 1), LineBuffer()
        self._to_session, self._to_agent = bytearray(), bytearray()
        self._at_end = False
        """Whether the agent has closed its end."""
        self._over = False
        """Whether the session has reported that it is over."""
        self._last_received = monotonic()

    def run(self) -> None:
        """Carry lines until there are no more to carry.

        Raises:
            OSError: the agent has closed the end that it reads from.
            BackendFailure: no session lasts until it has taken a line.
        """
        while not self._is_done():
            ready = self._wait()
            if self._target in ready:
                written = os.write(self._target, self._to_agent[: select.PIPE_BUF])
                del self._to_agent[:written]
            if self._opening is not None and self._opening.descriptor in ready:
                self._begin(self._opening)
            elif self._sock is not None and self._sock.fileno() in ready:
                self._exchange(self._sock, ready[self._sock.fileno()])
            if self._source in ready:
                self._read_agent()
            self._watch_session()

    def close(self) -> None:
        """Close the connection to the session."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def _is_done(self) -> bool:
        if self._to_agent:
            return False
        if self._opening is not None:
            return self._at_end and not self._lines
        is_silent = monotonic() - self._last_received >= LINGER_S
        return self._over or (self._at_end and (self._sock is None or is_silent))

    # Waiting

    def _wait(self) -> dict[int, int]:
        """Wait until a descriptor is ready; return the poll events by descriptor."""
        poll = select.poll()
        if self._to_agent:
            poll.register(self._target, select.POLLOUT)
        if self._is_listening():
            poll.register(self._source, select.POLLIN)
        timeout_s = -1.0
        if self._opening is not None:
            poll.register(self._opening.descriptor, select.POLLIN)
        elif self._sock is not None:
            events = select.POLLIN if len(self._to_agent) < BUFFER_MAX else 0
            poll.register(self._sock, events | (select.POLLOUT if self._to_session else 0))
            if self._lines or self._at_end:
                patience_s = LINGER_S if self._at_end else address.SILENCE_S
                timeout_s = max(0.05, self._last_received + patience_s - monotonic())
        return dict(poll.poll(-1 if timeout_s < 0 else timeout_s * 1e3))

    def _is_listening(self) -> bool:
        return (
            not self._at_end
            and not self._over
            and len(self._to_session) < BUFFER_MAX
            and len(self._lines) < OPEN_MAX
            and self._bytes < OPEN_BYTES_MAX
        )

    def _watch_session(self) -> None:
        """Check that the daemon is alive if its session has open lines and is silent."""
        if self._sock is None or not self._in_daemon or not self._lines:
            return
        if monotonic() - self._last_received < address.SILENCE_S:
            return
        if address.is_alive():
            self._last_received = monotonic()
        else:
            self._lose()

    # The agent

    def _read_agent(self) -> None:
        data = os.read(self._source, CHUNK)
        for line in self._from_agent.add(data) if data else [self._from_agent.rest()]:
            if line.strip():
                self._take(line)
        if not data:
            self._at_end = True
            self._last_received = monotonic()
            self._to_session += b".\n"

    def _take(self, data: bytes) -> None:
        self._number += 1
        if answer := self._prepared(data):
            self._answer(answer)
            if self._number == 1:  # it establishes the session
                self._kept[1] = data
                self._open()
            return
        line = self._lines[self._number] = PendingLine(data)
        self._bytes += len(data)
        # A session in this process is left as soon as a daemon is available again.
        is_local = self._sock is not None and not self._in_daemon
        if is_local and len(self._lines) == 1 and self._opener.is_daemon_back():
            self.close()
        if self._sock is None:
            self._open()
        else:
            self._send(self._number, line)

    def _answer(self, message: bytes) -> None:
        self._to_agent += message + b"\n"

    # The session

    def _open(self) -> None:
        """Begin to open a session, unless one is being opened."""
        if self._opening is None:
            losses = max((line.losses for line in self._lines.values()), default=0)
            self._opening = Opening(self._opener, self._state, self._sessions, losses)

    def _begin(self, opening: Opening) -> None:
        """Send the session that has been opened the lines that are not settled."""
        self._opening = None
        self._sock, self._in_daemon = opening.result()
        self._sessions += 1
        self._sock.setblocking(False)
        self._last_received = monotonic()
        self._to_session.clear()
        self._from_session.clear()
        for number, data in self._kept.items():
            if number not in self._lines:
                self._to_session += b"~%d %s\n" % (number, data)
        for number, line in list(self._lines.items()):
            self._send(number, line)
        if self._at_end:
            self._to_session += b".\n"

    def _send(self, number: int, line: PendingLine) -> None:
        self._to_session += b"%d %s\n" % (number, line.data)

    def _exchange(self, sock: _socket.socket, events: int) -> None:
        """Write the buffered bytes to the session, and read and handle its lines."""
        if self._to_session and events & select.POLLOUT:
            self._write_session(sock)
        if not events & (select.POLLIN | select.POLLHUP | select.POLLERR):
            return
        try:
            data = sock.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        self._last_received = monotonic()
        for line in self._from_session.add(data):
            self._hear(line)

    def _write_session(self, sock: _socket.socket) -> None:
        try:
            del self._to_session[: sock.send(self._to_session[:CHUNK])]
        except OSError:
            # The session may have ended. What it said last can still be read, and is needed: a call
            # that it had begun would otherwise be sent again.
            return

    def _hear(self, line: bytes) -> None:
        kind = line[:1]
        if kind == b"{":
            self._answer(line)
        elif kind == b"%":
            self._state = line[1:].decode(errors="replace")
        elif kind == b".":
            self._over = True
        elif kind in (b"=", b"+", b"?", b"!"):
            number, _, message = line[1:].partition(b" ")
            self._note(kind, int(number), message)
        else:
            number, _, message = line.partition(b" ")
            self._settle(int(number))
            self._answer(message)

    def _note(self, kind: bytes, number: int, message: bytes) -> None:
        line = self._lines.get(number)
        if line is None:
            return
        if kind == b"=":
            self._settle(number)
        elif kind == b"+":
            self._kept[number] = line.data
        else:
            line.lost, line.again = message, kind == b"?"

    def _settle(self, number: int) -> None:
        line = self._lines.pop(number, None)
        if line is not None:
            self._bytes -= len(line.data)

    def _lose(self) -> None:
        """Handle a session that ended unexpectedly: open another one if lines are still open."""
        self.close()
        if self._over:
            return
        for number, line in list(self._lines.items()):
            line.losses += 1
            if line.lost and (not line.again or line.losses >= TRIES):
                self._settle(number)
                self._answer(line.lost)
            elif line.losses > TRIES:
                raise BackendFailure("each process that could answer ended before it began to")
        if self._lines:
            self._open()


class Opening:
    """A session that is being opened, in a thread."""

    def __init__(self, opener: Opener, state: str, sessions: int, losses: int) -> None:
        """Call `opener` with these arguments."""
        self.descriptor, self._end = os.pipe()
        """Readable once the session has been opened, or has failed to."""
        self._session: tuple[_socket.socket, bool] | None = None
        self._error: BaseException | None = None
        _thread.start_new_thread(self._run, (opener, state, sessions, losses))

    def _run(self, opener: Opener, state: str, sessions: int, losses: int) -> None:
        try:
            self._session = opener(state, sessions, losses)
        except BaseException as error:  # noqa: BLE001 - raised again by `result`
            self._error = error
        finally:
            os.close(self._end)

    def result(self) -> tuple[_socket.socket, bool]:
        """Return what the opener has returned. Raises what it has raised."""
        os.close(self.descriptor)
        if self._session is None:
            raise self._error or BackendFailure("no session was opened")
        return self._session


def serve(opener: Opener, prepared: Callable[[bytes], bytes | None]) -> None:
    """Serve an agent by standard input and output until it leaves.

    opener: Opens the agent's session, and reopens it after a loss.
    prepared: Answers the agent's lines that need no session.

    Raises:
        InvalidRequest: there is no such toolset.
    """
    source, target = _claim()
    pipe = Pipe(source, target, opener, prepared)
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        _signal.signal(number, _leave)
    try:
        pipe.run()
    except (_Leave, BrokenPipeError, ConnectionResetError):
        pass  # the agent no longer waits for answers
    finally:
        try:
            pipe.close()
            opener.close()
        except _Leave:
            pass  # agents send a second signal to those that take long


class _Leave(BaseException):
    """Raised by a signal that tells this process to end."""


def _leave(_number: int, _frame: object) -> None:
    raise _Leave


def _claim() -> tuple[int, int]:
    """Return private copies of standard input and output, and redirect the originals.

    Standard input is then empty, and what a library or a child prints goes to standard error.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:  # occupies closed descriptors
        pass
    source, target = os.dup(0), os.dup(1)
    os.dup2(opened, 0)
    os.dup2(2, 1)
    os.close(opened)
    sys.stdout = sys.stderr
    return source, target
