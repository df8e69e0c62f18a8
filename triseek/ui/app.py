"""The page's server: its files and its API.

The routes of the memory write; every other route but `enter` only reads.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from triseek.daemon.standalone import front
from triseek.engine.roots import project
from triseek.engine.service import Service
from triseek.loopback import serving
from triseek.loopback.address import Address, listening
from triseek.memory.service import Memory
from triseek.ui import history, searches, state, work
from triseek.ui.auth import API, ENTER, Auth, Keys
from triseek.ui.memory.feed import Feed
from triseek.ui.memory.routes import routes as memory_routes
from triseek.ui.runner import Document, HandlerRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    from triseek.app.dispatch import Dispatch
    from triseek.ui.runner import Handler

HOST = "127.0.0.1"
GRACE_S = 2
"""Seconds that open requests have when the process is told to end."""

_HTML, _CSS, _JS = "text/html", "text/css", "text/javascript"
FILES = {
    "/": ("index.html", _HTML),
    "/page.css": ("page.css", _CSS),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    **{
        f"/{name}.js": (f"{name}.js", _JS)
        for name in (
            "main", "ask", "dom", "search", "state", "sessions", "entries", "snapshots",
            "history", "heatmap", "conversation", "memory", "drawers", "graph", "picture", "layout",
            "follow",
        )
    },
}  # fmt: skip
_FOLDER = Path(__file__).parent / "static"


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
    with front(root) as dispatch:
        bound, address = listening(Address(HOST, port))
        link = f"http://{address.authority}/#"
        links = Links(
            root, address.port, f"{link}token={keys.token}", f"{link}ticket={keys.ticket()}"
        )
        with contextlib.closing(Memory()) as memory:
            feed = Feed(memory)
            app = application(dispatch, address, keys, memory_routes(memory, feed))
            dispatch.prepare()
            serving.run(app, bound, lambda _: announce(links), grace_s=GRACE_S, ended=feed.end)


def static_files() -> dict[str, Response]:
    """Read the page's own files; return them by their path in a URL.

    Only these can be opened: a path from a browser is never used to open a file.
    """
    return {
        path: Response((_FOLDER / name).read_bytes(), media_type=media_type)
        for path, (name, media_type) in FILES.items()
    }


def application(
    dispatch: Dispatch, address: Address, keys: Keys, more: Sequence[BaseRoute]
) -> ASGIApp:
    """Return the application for the page of one root, wrapped in its access checks.

    more: Routes beside the page's own.
    """

    async def enter(_request: Request) -> Response:
        return Document({"token": keys.token})

    runner = HandlerRunner()
    routes: list[BaseRoute] = [
        Route(path, file, methods=["GET"]) for path, file in static_files().items()
    ]
    routes += more
    routes += [
        Route(API + path, runner.endpoint(handler)) for path, handler in _handlers(dispatch).items()
    ]
    routes.append(Route(ENTER, enter, methods=["POST"]))
    return Auth(Starlette(routes=routes), address, keys, public=FILES)


def _handlers(dispatch: Dispatch) -> Mapping[str, Handler]:
    """Return the API's handlers by path; path parameters are among a handler's parameters."""
    root = dispatch.root
    return {
        "about": lambda _, __: state.about(root),
        "status": lambda _, __: state.status(dispatch),
        "search": lambda params, call: searches.answer(dispatch, params, call),
        "lines": lambda params, _: searches.around(
            root, params.get("path", ""), searches.number(params, "line", 1, 1 << 30)
        ),
        "sessions": lambda _, __: work.sessions(root),
        "sessions/{id}": lambda params, _: work.session(root, params["id"]),
        "sessions/{id}/log": lambda params, _: work.log(params["id"], params),
        "snapshots": lambda params, _: work.snapshots(root, everywhere="all" in params),
        "snapshots/diff": lambda params, _: work.difference(
            params.get("a", ""), params.get("b", "")
        ),
        "snapshots/{id}": lambda params, _: work.snapshot(params["id"]),
        "history": lambda params, _: history.browse(params),
        "history/overview": lambda params, _: history.overview(params),
        "history/{number}": lambda params, _: history.conversation(params),
    }
