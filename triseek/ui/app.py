"""The page's server: its files and its API. Every route but `enter` only reads."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from triseek.daemon.standalone import front
from triseek.engine.roots import project
from triseek.engine.service import Service
from triseek.errors import BackendFailure, Cancelled, InvalidRequest, TriseekError
from triseek.loopback import serving
from triseek.loopback.address import Address, listening
from triseek.model.call import Call
from triseek.search import envelopes
from triseek.ui import history, searches, state, work
from triseek.ui.auth import API, ENTER, Auth, Keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from triseek.app.dispatch import Dispatch
    from triseek.daemon.server import Result

    Handler = Callable[[Mapping[str, str], Call], Result]

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
GRACE_S = 2
"""Seconds that open requests have when the process is told to end."""
THREADS = 8
"""API requests answered at once; further ones wait."""
LEFT = 499
"""The status of an answer whose client has left; it is not sent."""

_HTML, _CSS, _JS = "text/html", "text/css", "text/javascript"
FILES = {
    "/": ("index.html", _HTML),
    "/page.css": ("page.css", _CSS),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    **{
        f"/{name}.js": (f"{name}.js", _JS)
        for name in (
            "main", "ask", "dom", "search", "state", "sessions", "entries", "snapshots",
            "history", "heatmap", "conversation",
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
        app = application(dispatch, address, keys)
        dispatch.prepare()
        serving.run(app, bound, lambda _: announce(links), grace_s=GRACE_S)


def static_files() -> dict[str, Response]:
    """Read the page's own files; return them by their path in a URL.

    Only these can be opened: a path from a browser is never used to open a file.
    """
    return {
        path: Response((_FOLDER / name).read_bytes(), media_type=media_type)
        for path, (name, media_type) in FILES.items()
    }


def application(dispatch: Dispatch, address: Address, keys: Keys) -> ASGIApp:
    """Return the application for the page of one root, wrapped in its access checks."""

    async def enter(_request: Request) -> Response:
        return _Document({"token": keys.token})

    runner = HandlerRunner()
    routes = [Route(path, file, methods=["GET"]) for path, file in static_files().items()]
    routes += [
        Route(API + path, runner.endpoint(handler)) for path, handler in _handlers(dispatch).items()
    ]
    routes.append(Route(ENTER, enter, methods=["POST"]))
    return Auth(Starlette(routes=routes), address, keys)


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


class HandlerRunner:
    """Runs the API's handlers in threads, and cancels those whose client has left."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(THREADS)

    def endpoint(self, handler: Handler) -> Callable[[Request], Any]:
        """Return an endpoint that runs a handler."""

        async def respond(request: Request) -> Response:
            params = {**request.query_params, **request.path_params}
            left = threading.Event()
            call = Call(cancelled=left.is_set)
            answer: Response = Response(status_code=LEFT)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_watch, request, left, tasks.cancel_scope)
                try:
                    answer = await anyio.to_thread.run_sync(
                        lambda: _answer(handler, params, call),
                        abandon_on_cancel=True, limiter=self._limiter,
                    )  # fmt: skip
                finally:
                    left.set()
                tasks.cancel_scope.cancel()
            return answer

        return respond


async def _watch(request: Request, left: threading.Event, scope: anyio.CancelScope) -> None:
    """Cancel the answer when the browser disconnects, as it does when the user types on."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    left.set()
    scope.cancel()


def _answer(handler: Handler, params: Mapping[str, str], call: Call) -> Response:
    try:
        return _Document(handler(params, call))
    except Cancelled:
        return Response(status_code=LEFT)
    except InvalidRequest as error:
        return _failed(error, 400)
    except TriseekError as error:
        return _failed(error, 503 if error.retryable else 400)
    except Exception as error:
        logger.exception("a request of the page failed")
        return _failed(BackendFailure(f"internal error: {type(error).__name__}"), 500)


def _failed(error: TriseekError, status: int) -> Response:
    """Return an error in the form agents get, but with the next step meant for people."""
    envelope = envelopes.failure(error)
    if error.next_step:
        envelope["error"]["suggested_action"] = error.next_step
    return _Document(envelope, status)


class _Document(JSONResponse):
    """JSON in ASCII, because a path may hold lone surrogates, which have to be escaped.

    A session, log entry, manifest or other record is written as its document.
    """

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - JSON
        text = json.dumps(content, separators=(",", ":"), default=lambda record: record.document())
        return text.encode("ascii")
