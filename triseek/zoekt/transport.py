"""HTTP requests to hosts: deadlines, caps on bytes, one pool of connections, no redirects.

All requests run in the event loop of one thread, so that a deadline ends whatever a request waits
for, and many hosts are asked at once without a thread for each.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import errno
import os
import ssl
import threading
import time
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from triseek import __version__
from triseek.errors import Cancelled
from triseek.zoekt.failure import HostFailure

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    import httpx2

    from triseek.zoekt.addresses import HostAddress

T = TypeVar("T")
ANSWER_BYTES = 64 << 20
"""Default cap on the bytes of an answer, after they are unpacked."""
_CONNECTIONS = 16
"""Most connections to one host."""
_IDLE_S = 30.0
"""Seconds that an unused connection is kept."""


class Reply(NamedTuple):
    """An answer of HTTP."""

    status: int
    content_type: str
    """In lower case, without parameters."""
    body: bytes
    location: str = ""
    """Where a redirect, which is not followed, leads."""


class Transport:
    """Sends requests to hosts; its thread and connections exist from the first one to `close`."""

    def __init__(self, answer_bytes: int = ANSWER_BYTES) -> None:
        self._answer_bytes = answer_bytes
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._clients: dict[str, httpx2.AsyncClient] = {}
        self._is_closed = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine that calls `send`, and return its result.

        Raises:
            Cancelled: The transport was closed.
        """
        with self._lock:  # what is submitted under it is ended by `close`
            if self._is_closed:
                work.close()
                raise Cancelled("the connections to the hosts are closed")
            future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise Cancelled("the search was ended with its connections") from None
        finally:
            future.cancel()  # of a caller that was interrupted

    def close(self) -> None:
        """End all requests, the connections and the thread. More than one call does no harm."""
        with self._lock:
            self._is_closed = True
            loop, thread, self._thread = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    async def send(
        self,
        address: HostAddress,
        method: str,
        path: str,
        *,
        deadline: float,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request; send it once more if its connection is reset.

        Args:
            address: The host.
            method: GET or POST; what it does there must be harmless to do twice.
            path: What follows the host's URL.
            deadline: A time of `time.monotonic`.
            content: The body.
            headers: Further headers.

        Raises:
            HostFailure: There is no whole answer by the deadline, or it is too long.
        """
        import httpx2

        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                for attempt in (1, 2):
                    try:
                        return await self._sent(address, method, path, content, headers or {})
                    except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError) as e:
                        if attempt == 2:
                            raise HostFailure("down", f"the connection broke ({_cause(e)})") from e
                raise AssertionError("unreachable")
        except TimeoutError:
            raise HostFailure("timeout", "no answer within the time limit") from None
        except httpx2.ConnectError as error:
            raise HostFailure("down", f"it cannot be reached: {_cause(error)}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError, ImportError) as error:
            # The message of these may quote a header, and one header holds a password.
            raise HostFailure("down", f"it cannot be asked ({type(error).__name__})") from None

    async def _sent(
        self,
        address: HostAddress,
        method: str,
        path: str,
        content: bytes | None,
        headers: Mapping[str, str],
    ) -> Reply:
        own = {"accept-encoding": "gzip", "user-agent": f"triseek/{__version__}", **headers}
        if address.authorization:
            own["authorization"] = address.authorization
        client = self._client(address)
        async with client.stream(
            method, address.url + path, content=content, headers=own
        ) as response:
            body = _Body(response.headers.get("content-encoding", ""), self._answer_bytes)
            async for piece in response.aiter_raw():
                body.add(piece)
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            location = response.headers.get("location", "")
            return Reply(response.status_code, kind, body.whole(), location)

    def _client(self, address: HostAddress) -> httpx2.AsyncClient:
        if address.url not in self._clients:
            import httpx2

            self._clients[address.url] = httpx2.AsyncClient(
                timeout=None,  # the deadline of `send` holds for the whole of a request
                follow_redirects=False,
                trust_env=not address.is_loopback,  # a proxy has no way to this machine
                verify=address.url.startswith("https:"),  # certificates take 0.1 s to load
                limits=httpx2.Limits(
                    max_connections=_CONNECTIONS,
                    max_keepalive_connections=_CONNECTIONS,
                    keepalive_expiry=_IDLE_S,
                ),
            )
        return self._clients[address.url]

    def _running(self) -> asyncio.AbstractEventLoop:
        """Return the loop, started if it is not running; the caller holds the lock."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._serve, args=(self._loop,), name="zoekt", daemon=True
            )
            self._thread.start()
        return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(self._ended())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def _ended(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for client in self._clients.values():
            with contextlib.suppress(Exception):  # a connection that is broken is closed too
                await client.aclose()


class _Body:
    """Collects a body, unpacks it, and refuses one that is too long."""

    def __init__(self, encoding: str, limit: int) -> None:
        encoding = encoding.strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise HostFailure("wrong", "it answers in an encoding that was not accepted")
        self._unpacking = zlib.decompressobj(31) if "gzip" in encoding else None
        self._limit = limit
        self._data = bytearray()

    def add(self, piece: bytes) -> None:
        if self._unpacking is not None:
            if self._unpacking.eof:
                raise HostFailure("wrong", "its answer is damaged: it goes on behind its end")
            try:
                piece = self._unpacking.decompress(piece, self._limit - len(self._data) + 1)
            except zlib.error:
                raise HostFailure("wrong", "its answer is damaged: it is not gzip") from None
        self._data += piece
        if len(self._data) > self._limit:
            raise HostFailure(
                "error", f"its answer is longer than {self._limit:,} bytes; ask for fewer matches"
            )

    def whole(self) -> bytes:
        if self._unpacking is not None and not self._unpacking.eof:
            raise HostFailure("wrong", "its answer is damaged: its end is missing")
        return bytes(self._data)


def _cause(error: BaseException) -> str:
    """Return the system's own words for why a connection failed."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.strerror:
            is_systems = seen.errno in errno.errorcode and not isinstance(seen, ssl.SSLError)
            return os.strerror(seen.errno) if is_systems and seen.errno else seen.strerror
        nested = getattr(seen, "exceptions", ())
        seen = nested[0] if nested else seen.__cause__ or seen.__context__
    return type(error).__name__
