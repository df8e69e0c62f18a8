"""Serve the page until the process is told to end."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

import anyio

from triseek.daemon.chores import Chores
from triseek.errors import TriseekError
from triseek.ipc import address as daemon_address
from triseek.ipc import ending, spawn
from triseek.loopback import serving
from triseek.loopback.address import Address, listening
from triseek.service.desk import Desk
from triseek.service.lending import Lending
from triseek.service.roots import project
from triseek.service.service import Service
from triseek.ui.app import application
from triseek.ui.door import Keys

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterable, Callable

    from starlette.types import ASGIApp

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
GRACE_S = 2
PAUSE_S = 0.05
"""Before anything heavy: the page is shown meanwhile."""


class Links(NamedTuple):
    """How the page is reached; whoever has one of these sees what it shows."""

    root: str
    port: int
    lasting: str
    """Good for as long as this process runs."""
    once: str
    """Good for one entry: what a browser is started with, which others see among its words."""


def serve(folder: str, port: int, announce: Callable[[Links], None]) -> None:
    """Serve the page of the project around a folder; port 0 is any.

    announce: Called once, when connections are taken.

    Raises:
        RepoNotDetected: There is no such folder.
        Busy: The port is in use.
    """
    keys, chores = Keys(), Chores()
    with (
        Service(is_cold=lambda: not chores.warm.is_set(), lender=Lending) as service,
        contextlib.closing(listening(Address(HOST, port))) as bound,
    ):
        address = Address(HOST, bound.getsockname()[1])
        desk = Desk(service, service.engine(project(folder), exact=True).root)
        link = f"http://{address.authority}/#"
        links = Links(
            desk.root, address.port, f"{link}token={keys.token}", f"{link}ticket={keys.ticket()}"
        )
        threading.Thread(target=_prepare, args=(desk, chores), daemon=True).start()
        try:
            anyio.run(_serve, application(desk, address, keys), bound, lambda: announce(links))
        finally:
            chores.close()


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


def _prepare(desk: Desk, chores: Chores) -> None:
    """Load the kernels, and have the daemon follow the root; searches take other roads until then.

    A daemon is started if one may start by itself, as by any command.
    """
    time.sleep(PAUSE_S)
    chores.warm_up()
    try:
        with contextlib.suppress(daemon_address.Unreached, OSError):
            _find_daemon()
            desk.lending.ask("preload_root", {"exact": True})
    except TriseekError as error:
        logger.warning("no daemon follows this root: %s", error)


def _find_daemon() -> None:
    try:
        daemon_address.connect(1.0).close()
    except daemon_address.Absent:
        if spawn.behind():
            spawn.wait_until_ready(5.0)
