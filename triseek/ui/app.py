"""The page's application: its files, and what it asks. All but entering only reads."""

from __future__ import annotations

import functools
import json
import logging
import threading
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from triseek.errors import BackendFailure, Cancelled, InvalidRequest, TriseekError
from triseek.service import envelopes
from triseek.service.desk import Call
from triseek.ui import files, lines, searches, state, work
from triseek.ui.door import API, ENTER, Door

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from triseek.loopback.address import Address
    from triseek.service.desk import Desk
    from triseek.ui.door import Keys

    Asked = Callable[[Mapping[str, str], Call], dict[str, Any]]

logger = logging.getLogger(__name__)

THREADS = 8
"""Questions answered at once; the next wait."""
LEFT = 499
"""The status of an answer that nobody waits for any more; it is not sent."""


def application(desk: Desk, address: Address, keys: Keys) -> ASGIApp:
    """The page of one root, behind its door."""

    async def enter(_request: Request) -> Response:
        return _Document({"token": keys.token})

    asking = Asking()
    routes = [Route(path, _file(file)) for path, file in files.load().items()]
    routes += [Route(API + path, asking.by(asked)) for path, asked in _questions(desk).items()]
    routes.append(Route(ENTER, enter, methods=["POST"]))
    return Door(Starlette(routes=routes), address, keys)


def _questions(desk: Desk) -> Mapping[str, Asked]:
    """Everything there is to ask, by its path; what a path holds is among the parameters."""
    root = desk.root
    return {
        "about": lambda _, __: state.about(desk),
        "status": lambda _, __: state.status(desk),
        "search": lambda given, call: searches.answer(desk, given, call),
        "lines": lambda given, _: lines.around(
            root, given.get("path", ""), searches.number(given, "line", 1, 1 << 30)
        ),
        "sessions": lambda _, __: work.sessions(root),
        "sessions/{id}": lambda given, _: work.session(root, given["id"]),
        "sessions/{id}/log": lambda given, _: work.log(given["id"], given),
        "snapshots": lambda given, _: work.snapshots(root, everywhere="all" in given),
        "snapshots/diff": lambda given, _: work.difference(given.get("a", ""), given.get("b", "")),
        "snapshots/{id}": lambda given, _: work.snapshot(given["id"]),
    }


class Asking:
    """Has questions answered by threads, and stops those that nobody waits for."""

    def __init__(self) -> None:
        self._limiter: anyio.CapacityLimiter | None = None

    def by(self, asked: Asked) -> Callable[[Request], Any]:
        """An endpoint that asks it."""

        async def endpoint(request: Request) -> Response:
            if self._limiter is None:
                self._limiter = anyio.CapacityLimiter(THREADS)
            given = {**request.query_params, **request.path_params}
            return await self._answered(request, functools.partial(asked, given))

        return endpoint

    async def _answered(self, request: Request, asked: Callable[[Call], Any]) -> Response:
        left = threading.Event()
        answer: Response = Response(status_code=LEFT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, request, left, tasks.cancel_scope)
            try:
                answer = await anyio.to_thread.run_sync(
                    _answer, asked, Call(cancelled=left.is_set),
                    abandon_on_cancel=True, limiter=self._limiter,
                )  # fmt: skip
            finally:
                left.set()
            tasks.cancel_scope.cancel()
        return answer


async def _watch(request: Request, left: threading.Event, scope: anyio.CancelScope) -> None:
    """Wait until the browser has left, as it does when somebody types on."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    left.set()
    scope.cancel()


def _answer(asked: Callable[[Call], dict[str, Any]], call: Call) -> Response:
    try:
        return _Document(asked(call))
    except Cancelled:
        return Response(status_code=LEFT)
    except InvalidRequest as error:
        return _failed(error, 400)
    except TriseekError as error:
        return _failed(error, 503 if error.retryable else 400)
    except Exception as error:
        logger.exception("the page's question failed")
        return _failed(BackendFailure(f"internal error: {type(error).__name__}"), 500)


def _failed(error: TriseekError, status: int) -> Response:
    """What went wrong, as agents are told it, with the step meant for people."""
    told = envelopes.failure(error)
    if error.next_step:
        told["error"]["suggested_action"] = error.next_step
    return _Document(told, status)


class _Document(JSONResponse):
    """JSON in ASCII: a path may hold what is no character, and escaped it passes."""

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - JSON
        return json.dumps(content, separators=(",", ":")).encode("ascii")


def _file(file: files.File) -> Callable[[Request], Any]:
    async def endpoint(_request: Request) -> Response:
        return Response(file.content, media_type=file.media_type)

    return endpoint
