"""The server of the memory beside another one: it runs in a thread of that one's process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
from typing import TYPE_CHECKING

from starlette.applications import Starlette

from triseek.loopback import serving
from triseek.loopback.address import Address, listening
from triseek.loopback.token import Token
from triseek.ui.auth import Auth, Keys
from triseek.ui.memory.feed import Feed
from triseek.ui.memory.routes import routes

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from triseek.memory.service import Memory

logger = logging.getLogger(__name__)

GRACE_S = 1
"""Seconds that open requests have when the server is stopped."""
JOIN_S = 0.8
"""Seconds beyond `GRACE_S` that `stop` waits for the thread."""


def application(memory: Memory, address: Address, token: str) -> tuple[ASGIApp, Feed]:
    """Return the application of a memory behind its access checks, and its feed."""
    feed = Feed(memory)
    inner = Starlette(routes=routes(memory, feed))
    return Auth(inner, address, Keys(token), public=frozenset()), feed


def start(address: str, memory: Memory, failed: Callable[[], None] = lambda: None) -> Companion:
    """Serve a memory at `HOST:PORT` in a thread, and say on standard error where.

    Every request needs the token: that of the variable `TRISEEK_MEMORY_TOKEN` or of the file named
    in `TRISEEK_MEMORY_TOKEN_FILE`, or one that is made and lies in a private file until the end.

    Args:
        address: The host is `localhost` or a loopback address; port 0 is any free one.
        memory: It stays open when the server is stopped.
        failed: Called in the server's thread if it ends by itself.

    Raises:
        InvalidRequest: The address is none, other machines could reach it, or the token is invalid.
        Busy: The port is in use.
        StateUnwritable: The token file cannot be written.
    """
    bound, own = listening(Address.parse(address))
    try:
        return Companion(bound, own, memory, failed)
    except BaseException:
        bound.close()
        raise


class Companion:
    """A server that runs; `stop` ends it."""

    def __init__(
        self,
        bound: socket.socket,
        address: Address,
        memory: Memory,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        self.address = address
        self._failed = failed
        self._bound = bound
        self._leaving = contextlib.ExitStack()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_serving = threading.Event()
        token = Token("memory")
        app, self._feed = application(memory, address, token.value)
        self._server = serving.server(app, grace_s=GRACE_S)
        self._thread = threading.Thread(target=self._run, name="memory companion", daemon=True)
        shown = self._leaving.enter_context(token.shown(address))
        self._thread.start()
        self._is_serving.wait()
        print(  # noqa: T201 - output for the user
            f"triseek: memory on http://{address.authority}/api/v1\n"
            f"triseek: clients send `Authorization: Bearer {shown}`",
            file=sys.stderr,
            flush=True,
        )

    def stop(self) -> None:
        """End the server within two seconds, open streams included; does nothing the second time.

        Requests that are running have `GRACE_S` seconds to finish.
        """
        self._server.should_exit = True
        with contextlib.suppress(RuntimeError):  # the loop is closed
            assert self._loop is not None  # noqa: S101 - set before `_is_serving`
            self._loop.call_soon_threadsafe(self._feed.stop)
        self._thread.join(GRACE_S + JOIN_S)
        self._leaving.close()

    def _run(self) -> None:
        try:
            with self._bound:
                asyncio.run(self._serve())
        except Exception:
            logger.exception("the server by HTTP has failed")
        finally:
            self._is_serving.set()
            if not self._server.should_exit:
                self._failed()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._is_serving.set()
        await self._server.serve(sockets=[self._bound])
