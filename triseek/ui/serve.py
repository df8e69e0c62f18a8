"""Serve the page until the process is told to end."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, NamedTuple

import anyio

from triseek.daemon.standalone import front
from triseek.engine.roots import project
from triseek.engine.service import Service
from triseek.ipc import ending
from triseek.loopback import serving
from triseek.loopback.address import Address, listening
from triseek.ui.app import application
from triseek.ui.auth import Keys

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterable, Callable

    from starlette.types import ASGIApp

HOST = "127.0.0.1"
GRACE_S = 2


class Links(NamedTuple):
    """Links to the page; anyone who has one of them sees what the page shows."""

    root: str
    port: int
    lasting: str
    """Valid as long as this process runs."""
    once: str
    """Valid once: a browser is started with it, and other users can read its command line."""


def serve(folder: str, port: int, announce: Callable[[Links], None]) -> None:
    """Serve the page of the project around a folder; port 0 is any free one.

    announce: Called once, when connections are accepted.

    Raises:
        RepoNotDetected: There is no such folder.
        Busy: The port is in use.
    """
    keys = Keys()
    root = Service().engine(project(folder), exact=True).root
    with (
        front(root) as dispatch,
        contextlib.closing(listening(Address(HOST, port))) as bound,
    ):
        address = Address(HOST, bound.getsockname()[1])
        link = f"http://{address.authority}/#"
        links = Links(
            root, address.port, f"{link}token={keys.token}", f"{link}ticket={keys.ticket()}"
        )
        dispatch.prepare()
        anyio.run(_serve, application(dispatch, address, keys), bound, lambda: announce(links))


async def _serve(app: ASGIApp, bound: socket.socket, announce: Callable[[], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        asgi = serving.server(app, grace_s=GRACE_S)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_end_when_told, signals, asgi)
            announce()
            await asgi.serve(sockets=[bound])
            tasks.cancel_scope.cancel()


async def _end_when_told(signals: AsyncIterable[signal.Signals], asgi: serving.Uvicorn) -> None:
    async for _ in signals:
        ending.within()
        asgi.should_exit = True
