"""One MCP session over a socket: the SDK's server at this end, an agent's pipe at the other.

The lines are numbered, and the session reports for each whether it is settled (see
`mcp.wire_lines`). Every line is answered as JSON-RPC requires. The SDK's own transport drops
invalid messages, and takes a request whose id has the wrong type for a notification; both leave a
client waiting. When the agent closes its end or asks to shut down, its earlier requests are still
answered.
"""

from __future__ import annotations

import codecs
import contextlib
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import mcp_types as types
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

from triseek.mcp.wire_lines import LINE_MAX, LineBuffer

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server

LINGER_S = 3.5
"""Seconds to wait for the next answer after the agent has closed its end."""
END = b"."
_CHUNK = 1 << 16


class Loss(NamedTuple):
    """What to do with a request if the daemon ends before it is answered."""

    again: bool
    """Whether the request may be sent again."""
    answer: types.JSONRPCMessage
    """The answer if it may not be sent again, or if it is lost too often."""


async def serve(
    server: Server[Any],
    sock: socket.socket,
    lost: Callable[[types.JSONRPCRequest], Loss],
    state: Callable[[], str],
) -> None:
    """Serve one agent until it has left.

    Args:
        server: The server that answers.
        sock: The socket connected to the pipe; the caller closes it.
        lost: Returns what to do with a request if it is lost.
        state: Returns the state to pass to the next session if this one is lost.
    """
    to_server, from_agent = anyio.create_memory_object_stream[SessionMessage | Exception]()
    to_agent, from_server = anyio.create_memory_object_stream[SessionMessage]()
    session = AgentSession(sock, to_server, lost, state)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.listen, tasks.cancel_scope)
        tasks.start_soon(session.tell, from_server, tasks.cancel_scope)
        await server.run(from_agent, to_agent, server.create_initialization_options())


class Invalid(Exception):
    """A line that is not a valid message."""

    def __init__(self, code: int, message: str, number: types.RequestId | None = None) -> None:
        super().__init__(message)
        self.error = types.JSONRPCError(
            jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=message)
        )


def parse(line: bytes) -> types.JSONRPCMessage:
    """Parse a line as a message.

    Raises:
        Invalid: the line is no valid message; has the error to answer.
    """
    if len(line) > LINE_MAX:
        raise Invalid(types.INVALID_REQUEST, f"a message has more than {LINE_MAX:,} bytes")
    try:
        body = from_json(line.removeprefix(codecs.BOM_UTF8), allow_inf_nan=False)
    except ValueError:
        raise Invalid(types.PARSE_ERROR, "Parse error") from None
    try:
        message = types.jsonrpc_message_adapter.validate_python(body, by_name=False)
    except ValidationError:
        raise Invalid(types.INVALID_REQUEST, "Invalid Request", _number(body)) from None
    if isinstance(message, types.JSONRPCNotification) and "id" in body:
        raise Invalid(types.INVALID_REQUEST, "Invalid Request: id has to be a string or an integer")
    return message


def _number(body: object) -> types.RequestId | None:
    """Return the id of an invalid request; None for other messages."""
    if not isinstance(body, dict) or "method" not in body:
        return None
    number = body.get("id")
    return number if isinstance(number, (str, int)) and not isinstance(number, bool) else None


class AgentSession:
    """Carries the messages of one agent between its pipe and the server."""

    def __init__(
        self,
        sock: socket.socket,
        to_server: MemoryObjectSendStream[SessionMessage | Exception],
        lost: Callable[[types.JSONRPCRequest], Loss],
        state: Callable[[], str],
    ) -> None:
        """Read the pipe's lines from `sock` and write to it."""
        sock.setblocking(False)
        self._sock = sock
        self._to_server = to_server
        self._lost = lost
        self._state = state
        self._reported_state = state()
        self._lock = anyio.Lock()
        self._open: defaultdict[types.RequestId, deque[int]] = defaultdict(deque)
        """Numbers of the lines that wait for an answer, by the id of their request."""
        self._establishing: set[int] = set()
        """Numbers of `initialize` requests."""
        self._repeated: set[int] = set()
        """Numbers of lines whose answer the agent already has."""
        self._settled = anyio.Event()

    async def listen(self, scope: anyio.CancelScope) -> None:
        """Forward the agent's messages until its last, then wait for the answers.

        Then, or as soon as the pipe is gone, `scope` is cancelled.
        """
        async with self._to_server:
            with contextlib.suppress(OSError):  # the pipe is gone
                if await self._listen():
                    await self._answered()
                    await self._say(END)
        scope.cancel()

    async def _listen(self) -> bool:
        """Forward messages; return True after the agent's last one, False if the pipe is gone."""
        async for line in self._lines():
            if line == END:
                return True
            is_repeated = line.startswith(b"~")
            number, _, data = line.removeprefix(b"~").partition(b" ")
            try:
                message = parse(data)
            except Invalid as invalid:
                await self._say(b"%s %s" % (number, encoded(invalid.error)))
                continue
            await self._pass_on(int(number), message, is_repeated=is_repeated)
            if isinstance(message, types.JSONRPCRequest) and message.method == "shutdown":
                return True
        return False

    async def _pass_on(
        self, number: int, message: types.JSONRPCMessage, *, is_repeated: bool
    ) -> None:
        if isinstance(message, types.JSONRPCRequest):
            await self._expect(number, message, is_repeated=is_repeated)
            await self._to_server.send(SessionMessage(message))
            if is_repeated:  # later lines need an established session
                await self._answered()
            return
        await self._to_server.send(SessionMessage(message))
        if is_repeated:
            return
        lines = [b"=%d" % number]
        if isinstance(message, types.JSONRPCNotification):
            if message.method == "notifications/initialized":
                lines.insert(0, b"+%d" % number)
            lines += self._cancelled(message)
        await self._say(*lines)

    async def _expect(
        self, number: int, request: types.JSONRPCRequest, *, is_repeated: bool
    ) -> None:
        """Register a request as open, and tell the pipe what to do if its answer is lost."""
        self._open[coerce_request_id(request.id)].append(number)
        if is_repeated:
            self._repeated.add(number)
            return
        if request.method == "initialize":
            self._establishing.add(number)
        loss = self._lost(request)
        await self._say((b"?" if loss.again else b"!") + b"%d %s" % (number, encoded(loss.answer)))

    def _cancelled(self, notice: types.JSONRPCNotification) -> list[bytes]:
        """Settle the line that a notification cancels; return what to tell the pipe."""
        key = (notice.params or {}).get("requestId")
        if notice.method != "notifications/cancelled" or not isinstance(key, (str, int)):
            return []
        number = self._settle(key)
        return [] if number is None else [b"=%d" % number]

    def _settle(self, key: types.RequestId | None) -> int | None:
        """Settle the oldest open line with a request's id; return its number or None."""
        name = None if key is None else coerce_request_id(key)
        if name is None or name not in self._open:
            return None
        numbers = self._open[name]
        number = numbers.popleft()
        if not numbers:
            del self._open[name]
        self._settled.set()
        return number

    async def _answered(self) -> None:
        """Wait until all requests are answered, or until none has been for `LINGER_S`."""
        while self._open:
            self._settled = anyio.Event()
            with anyio.move_on_after(LINGER_S) as silence:
                await self._settled.wait()
            if silence.cancelled_caught:
                return

    async def tell(
        self, messages: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope
    ) -> None:
        """Write answers and notifications until there are no more or the pipe is gone."""
        async with messages:
            try:
                async for session_message in messages:
                    await self._tell(session_message.message)
            except OSError:
                scope.cancel()

    async def _tell(self, message: types.JSONRPCMessage) -> None:
        if not isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
            await self._say(encoded(message))
            return
        key = message.id
        numbers = () if key is None else self._open.get(coerce_request_id(key), ())
        if not numbers:
            return  # cancelled in the meantime
        number = numbers[0]
        lines = []
        if number in self._establishing and isinstance(message, types.JSONRPCResponse):
            lines.append(b"+%d" % number)
        if (state := self._state()) != self._reported_state:
            self._reported_state = state
            lines.append(b"%" + state.encode())
        if number not in self._repeated:
            lines.append(b"%d %s" % (number, encoded(message)))
        await self._say(*lines)
        self._settle(key)

    async def _say(self, *lines: bytes) -> None:
        """Write lines to the pipe without interleaving them with others."""
        if not lines:
            return
        left = memoryview(b"\n".join(lines) + b"\n")
        async with self._lock:
            while left:
                await anyio.wait_writable(self._sock)
                try:
                    left = left[self._sock.send(left) :]
                except BlockingIOError:
                    continue

    async def _lines(self) -> AsyncIterator[bytes]:
        """Yield the pipe's lines without their line ends."""
        buffer = LineBuffer()
        while chunk := await self._read():
            for line in buffer.add(chunk):
                yield line

    async def _read(self) -> bytes:
        while True:
            await anyio.wait_readable(self._sock)
            try:
                return self._sock.recv(_CHUNK)
            except BlockingIOError:
                continue
            except OSError:  # the other end is gone
                return b""


def encoded(message: types.JSONRPCMessage) -> bytes:
    """Return a message as a line, without the line end."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError:
        error = types.ErrorData(code=types.INTERNAL_ERROR, message="the answer is not JSON")
        number = getattr(message, "id", None)
        return encoded(types.JSONRPCError(jsonrpc="2.0", id=number, error=error))
