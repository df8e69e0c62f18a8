"""Standard input and output as the SDK's stdio transport reads and writes them, made robust.

Standard output carries frames and nothing else: while the server runs, descriptor 1 is standard
error for whatever else writes there, children and C libraries too. A line that is no message is
answered as JSON-RPC asks for (the SDK drops it), and one of any length takes no more memory than
`LINE_MAX`. When the client closes its end, what it asked before is still answered.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server.lowlevel import Server

LINE_MAX = 8 << 20
"""Bytes of a message; the tools' arguments are no longer than some hundred kilobytes."""
LINGER_S = 10.0
"""How long answers are waited for after the client has closed its end."""
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_CHUNK = 1 << 16


async def serve(server: Server[Any]) -> None:
    """Serve one client until it closes its end."""
    with Wire.claimed() as wire:
        async with stdio_server(wire, wire) as (read, write):  # type: ignore[arg-type] # duck-typed
            await server.run(read, write, server.create_initialization_options())


class Wire:
    """Lines in, lines out; the two ends of one connection."""

    def __init__(self, source: int, target: int) -> None:
        """Read from one descriptor, write to another."""
        self._source = source
        self._target = target
        self._lock = anyio.Lock()
        self._buffer = bytearray()
        self._open: dict[str, int] = {}

    @classmethod
    def claimed(cls) -> _Claim:
        """Standard input and output, and nobody else's from now on."""
        return _Claim()

    def __aiter__(self) -> AsyncIterator[str]:
        return self._messages()

    async def _messages(self) -> AsyncIterator[str]:
        """Every line that may be a message."""
        while True:
            line = await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True)
            if line is None:
                await self._linger()
                return
            text = await self._checked(line)
            if text is not None:
                yield text

    def _line(self) -> bytes | None:
        """The next line without its end, at most a little more than `LINE_MAX`; None at the end."""
        searched, dropped = 0, False
        while (at := self._buffer.find(b"\n", searched)) < 0:
            if len(self._buffer) > LINE_MAX:
                dropped = True
                del self._buffer[LINE_MAX + 1 :]
                searched = len(self._buffer)
            else:
                searched = len(self._buffer)
            chunk = os.read(self._source, _CHUNK)
            if not chunk:
                left = bytes(self._buffer)
                self._buffer.clear()
                return left or None
            self._buffer += chunk
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        return line[: LINE_MAX + 1] if dropped else line

    async def _checked(self, line: bytes) -> str | None:
        """A line as text, if it is a message; if it is none, the client is told."""
        if not line.strip():
            return None
        if len(line) > LINE_MAX:
            await self._refuse(_INVALID_REQUEST, f"a message has more than {LINE_MAX:,} bytes")
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            await self._refuse(_PARSE_ERROR, "Parse error")
            return None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            await self._refuse(_INVALID_REQUEST, "Invalid Request", _id_of(message))
            return None
        self._note(message)
        return line.decode("utf-8", "replace")

    async def _refuse(self, code: int, message: str, number: object = None) -> None:
        error = {"code": code, "message": message}
        await self.write(json.dumps({"jsonrpc": "2.0", "id": number, "error": error}) + "\n")

    def _note(self, message: dict[str, Any]) -> None:
        """Count what waits for an answer."""
        if "method" in message and "id" in message:
            key = json.dumps(message["id"])
            self._open[key] = self._open.get(key, 0) + 1
        elif message.get("method") == "notifications/cancelled":
            params = message.get("params")
            if isinstance(params, dict):  # it is never answered
                self._open.pop(json.dumps(params.get("requestId")), None)

    async def _linger(self) -> None:
        until = time.monotonic() + LINGER_S
        while self._open and time.monotonic() < until:
            await anyio.sleep(0.01)

    async def write(self, text: str) -> None:
        """Write a line, whole and not mixed with another."""
        data = text.encode("utf-8", "backslashreplace")
        async with self._lock:
            await anyio.to_thread.run_sync(self._write, data)
        answered = json.loads(text)
        if "method" not in answered:
            self._open.pop(json.dumps(answered.get("id")), None)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._target, view) :]

    async def flush(self) -> None:
        """Nothing is held back."""


class _Claim:
    """The process's standard input and output while a client is served by them."""

    def __enter__(self) -> Wire:
        self._kept = os.dup(0), os.dup(1)
        for descriptor in self._kept:
            os.set_inheritable(descriptor, False)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return Wire(*self._kept)

    def __exit__(self, *_: object) -> None:
        # A thread may still be reading: the descriptors are put back, and not closed.
        os.dup2(self._kept[0], 0)
        os.dup2(self._kept[1], 1)


def _id_of(message: object) -> object:
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, (str, int)) and not isinstance(number, bool) else None
