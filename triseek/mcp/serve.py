"""`triseek mcp serve`: one root, one transport, until the client has left."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek import logs
from triseek.mcp import roots

if TYPE_CHECKING:
    from collections.abc import Sequence


def serve(repo: str | None, toolsets: Sequence[str], http: str | None = None) -> None:
    """Serve a client by standard input and output, or clients by HTTP at `HOST:PORT`.

    Raises:
        InvalidRequest: that is no address of this machine's own.
        Busy: the port is in use.
        StateUnwritable: the token cannot be kept where clients find it.
    """
    _occupy_standard_streams()
    logs.configure("mcp")
    import anyio

    from triseek.daemon.chores import Chores
    from triseek.ipc import ending
    from triseek.mcp import server
    from triseek.mcp.startup import Startup, sync_is_wanted
    from triseek.service.desk import Desk
    from triseek.service.lending import Lending
    from triseek.service.noting import Noting
    from triseek.service.service import Service
    from triseek.service.tools import chosen

    startup = Startup(Chores(), sync=sync_is_wanted())
    with Service(is_cold=lambda: startup.is_cold, lender=Lending) as service:
        root = roots.choose(repo)
        noting = Noting(root)
        desk = Desk(service, root, sink=noting, flush=noting.flush)
        desk.is_syncing = lambda: startup.is_syncing
        made = server.create(desk, chosen(toolsets), lambda: startup.begin(desk))
        try:
            if http is None:
                from triseek.mcp import stdio

                anyio.run(stdio.serve, made, ending.within)
            else:
                from triseek.loopback.address import Address
                from triseek.mcp import http as over_http

                over_http.serve(made, Address.parse(http), ending.within)
        finally:
            startup.end()
            noting.close()


def _occupy_standard_streams() -> None:
    """Have nothing that is opened from now on take the place of one that the client has closed.

    What is written there by whatever package or child would be written to it.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(opened)
