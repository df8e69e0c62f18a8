"""Standard input and output: a message a line, and nothing on either that is not one.

While the server runs, descriptor 1 is standard error for whatever else writes there, children and C
libraries too. Every line is answered as JSON-RPC asks for: the SDK's own transport drops what is no
message, and takes a request with an id of the wrong kind for a notification; both leave a client
waiting. A line of any length takes no more memory than `LINE_MAX`. When the client closes its end
or asks to shut down, what it asked before is still answered.

Descriptors are waited for and then used, never in a thread: one that waits in `read` would hold up
the end of the process until the client wrote another line.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import mcp_types as types
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server

LINE_MAX = 8 << 20
"""Bytes of a message; the tools' arguments are no longer than some hundred kilobytes."""
LINGER_S = 3.5
"""How long the next answer is waited for after the client has closed its end."""
_CHUNK = 1 << 16
_BOM = b"\xef\xbb\xbf"


async def serve(server: Server[Any], ending: Callable[[], None] = lambda: None) -> None:
    """Serve one client until it closes its end, or the process is told to end.

    ending: called when one of both has happened, before what is under way is waited for.
    """
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception]()
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage]()
    with _claimed() as (source, target):
        client = Client(source, target, ending)
        async with anyio.create_task_group() as tasks, anyio.create_task_group() as watch:
            watch.start_soon(_end_when_told, tasks.cancel_scope, ending)
            tasks.start_soon(client.listen, to_server, to_client.clone())
            tasks.start_soon(_told, client, from_server, tasks.cancel_scope)
            await server.run(from_client, to_client, server.create_initialization_options())
            watch.cancel_scope.cancel()


async def _end_when_told(scope: anyio.CancelScope, ending: Callable[[], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            ending()
            scope.cancel()
            return


async def _told(
    client: Client, messages: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope
) -> None:
    try:
        await client.tell(messages)
    except OSError:  # it has left, and waits for nothing
        scope.cancel()


class Invalid(Exception):
    """A line that is no message."""

    def __init__(self, code: int, message: str, number: types.RequestId | None = None) -> None:
        super().__init__(message)
        self.error = types.JSONRPCError(
            jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=message)
        )


def parse(line: bytes) -> types.JSONRPCMessage:
    """A line as the message it is.

    Raises:
        Invalid: it is none; with the error to answer.
    """
    if len(line) > LINE_MAX:
        raise Invalid(types.INVALID_REQUEST, f"a message has more than {LINE_MAX:,} bytes")
    try:
        body = from_json(line.removeprefix(_BOM), allow_inf_nan=False)
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
    """The id of a request that is none; that of an answer is one of ours, and no client's."""
    if not isinstance(body, dict) or "method" not in body:
        return None
    number = body.get("id")
    return number if isinstance(number, (str, int)) and not isinstance(number, bool) else None


class Client:
    """Who is at the other end of two descriptors."""

    def __init__(self, source: int, target: int, ending: Callable[[], None] = lambda: None) -> None:
        """Read from one, write to the other; `ending` is called when there is no more to read."""
        self._ending = ending
        self._target = target
        self._lines = Lines(source)
        self._open: Counter[types.RequestId] = Counter()
        self._settled = anyio.Event()

    async def listen(
        self,
        messages: MemoryObjectSendStream[SessionMessage | Exception],
        refusals: MemoryObjectSendStream[SessionMessage],
    ) -> None:
        """Pass on what it says, until it has said its last; then wait for the answers."""
        async with messages, refusals:
            async for line in self._lines:
                try:
                    message = parse(line)
                except Invalid as invalid:
                    await refusals.send(SessionMessage(invalid.error))
                    continue
                self._note(message)
                await messages.send(SessionMessage(message))
                if isinstance(message, types.JSONRPCRequest) and message.method == "shutdown":
                    break
            self._ending()
            await self._answered()

    async def tell(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write answers and notifications, each a line, until there are no more.

        Raises:
            OSError: it has closed its end.
        """
        async with messages:
            async for one in messages:
                await self._write(_encoded(one.message))
                if isinstance(one.message, (types.JSONRPCResponse, types.JSONRPCError)):
                    self._settle(one.message.id)

    def _note(self, message: types.JSONRPCMessage) -> None:
        """Count what waits for an answer; what is cancelled has none."""
        if isinstance(message, types.JSONRPCRequest):
            self._open[coerce_request_id(message.id)] += 1
        elif isinstance(message, types.JSONRPCNotification):
            number = (message.params or {}).get("requestId")
            if message.method == "notifications/cancelled" and isinstance(number, (str, int)):
                self._settle(number)

    def _settle(self, number: types.RequestId | None) -> None:
        key = None if number is None else coerce_request_id(number)
        if key is None or key not in self._open:
            return
        self._open[key] -= 1
        if self._open[key] == 0:
            del self._open[key]
        self._settled.set()

    async def _answered(self) -> None:
        """Wait until all is answered, or nothing has been for `LINGER_S`."""
        while self._open:
            self._settled = anyio.Event()
            with anyio.move_on_after(LINGER_S) as silence:
                await self._settled.wait()
            if silence.cancelled_caught:
                return
            self._ending()  # the time begins anew with each answer

    async def _write(self, data: bytes) -> None:
        """Write it whole, in pieces that a pipe which is ready takes without waiting."""
        left = memoryview(data)
        while left:
            await _ready(anyio.wait_writable, self._target)
            left = left[os.write(self._target, left[: select.PIPE_BUF]) :]


def _encoded(message: types.JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        error = types.ErrorData(code=types.INTERNAL_ERROR, message="the answer is not JSON")
        number = getattr(message, "id", None)
        return _encoded(types.JSONRPCError(jsonrpc="2.0", id=number, error=error))


class Lines:
    """The lines that come in by a descriptor, blank ones left out."""

    def __init__(self, source: int) -> None:
        self._source = source

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Each without its end; of one that is too long a little more than `LINE_MAX`."""
        buffer = bytearray()
        while chunk := await self._read():
            *ended, begun = chunk.split(b"\n")
            for part in ended:
                buffer += part
                if buffer.strip():
                    yield bytes(buffer)
                buffer.clear()
            buffer += begun
            del buffer[LINE_MAX + 1 :]
        if buffer.strip():
            yield bytes(buffer)

    async def _read(self) -> bytes:
        await _ready(anyio.wait_readable, self._source)
        try:
            return os.read(self._source, _CHUNK)
        except ConnectionResetError:  # a socket whose other end is gone
            return b""


async def _ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    """Wait until a descriptor can be used; a file always can, and the system refuses to wait."""
    try:
        await wait(descriptor)
    except PermissionError:
        await anyio.lowlevel.checkpoint()


@contextlib.contextmanager
def _claimed() -> Iterator[tuple[int, int]]:
    """The process's standard input and output, and nobody else's meanwhile."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    kept = os.dup(0), os.dup(1)  # not inherited by children
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield kept
    finally:
        os.dup2(kept[0], 0)
        os.dup2(kept[1], 1)
        for descriptor in (nothing, *kept):
            os.close(descriptor)
