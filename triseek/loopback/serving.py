"""uvicorn as both servers run it: silent, on a socket that is there, ended by who runs it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import uvicorn

from triseek.loopback.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp


def server(app: ASGIApp, *, grace_s: int) -> Uvicorn:
    """A server of an application, to be run with `serve(sockets=[…])`.

    grace_s: how long what is under way has when `should_exit` is set.
    """
    return Uvicorn(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            http=Protocol,
            proxy_headers=False,
            timeout_graceful_shutdown=grace_s,
        )
    )


class Uvicorn(uvicorn.Server):
    """Leaves signals alone: uvicorn raises them anew at its end, which would end us unfinished."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield
