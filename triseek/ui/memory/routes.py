"""The routes of the memory by HTTP: REST under `/api/v1`, a health check and the feed of events.

Errors are `{"error": MESSAGE}`: 400 for a bad value, 404 for what is not there, 409 for a conflict,
422 for a field of another type, 503 for what may succeed later.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Mount, Route

from triseek.errors import Cancelled, InvalidRequest, TriseekError
from triseek.model import budget
from triseek.ui.auth import HEALTH, REST, SSE
from triseek.ui.memory import operations
from triseek.ui.memory.requests import Refused, read
from triseek.ui.runner import LEFT, Document, HandlerRunner

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from triseek.memory.service import Memory
    from triseek.model.call import Call
    from triseek.ui.memory.feed import Feed
    from triseek.ui.memory.operations import Operation
    from triseek.ui.memory.requests import Asked

logger = logging.getLogger(__name__)

ANSWER_S = 30.0
"""Seconds after which a request that reads is given up."""
_PALACE = "/palaces/{palace}"
_DRAWER = f"{_PALACE}/drawers/{{drawer_id}}"
OPERATIONS: dict[str, dict[str, Operation]] = {
    "/status": {"GET": operations.status},
    "/config": {"GET": operations.config},
    "/palaces": {"GET": operations.palace_list, "POST": operations.palace_create},
    _PALACE: {
        "GET": operations.palace_info,
        "PATCH": operations.palace_update,
        "DELETE": operations.palace_delete,
    },
    f"{_PALACE}/drawers": {"GET": operations.drawer_list, "POST": operations.drawer_create},
    _DRAWER: {"DELETE": operations.drawer_delete},
    f"{_DRAWER}/restore": {"POST": operations.drawer_restore},
    f"{_PALACE}/recall": {"GET": operations.recall},
    "/recall": {"GET": operations.recall_all},
    f"{_PALACE}/kg": {"GET": operations.facts, "POST": operations.fact_assert},
    f"{_PALACE}/kg/subjects": {"GET": operations.subjects},
    f"{_PALACE}/kg/graph": {"GET": operations.graph},
    f"{_PALACE}/dream/status": {"GET": operations.dream_status},
    "/dream/status": {"GET": operations.dream_status_all},
    "/dream/run": {"POST": operations.dream_run},
}
"""By path below `REST` and by method."""
_CREATED = frozenset(("created", "stored", "asserted"))


def routes(memory: Memory, feed: Feed) -> list[BaseRoute]:
    """Return the routes of a memory, for an application that checks who asks."""
    runner = HandlerRunner()

    def endpoint(by_method: dict[str, Operation]) -> Callable[[Request], Any]:
        async def respond(request: Request) -> Response:
            operation = by_method["GET" if request.method == "HEAD" else request.method]
            try:
                asked = await read(request)
            except Refused as refused:
                return _error(refused.status, str(refused), request)
            return await runner.run(request, lambda call: _answer(operation, memory, asked, call))

        return respond

    rest = [
        Route(path, endpoint(by_method), methods=list(by_method))
        for path, by_method in OPERATIONS.items()
    ]
    application = Starlette(routes=rest, exception_handlers={HTTPException: _unrouted})
    return [
        Route(HEALTH, endpoint({"GET": operations.health}), methods=["GET"]),
        Route(SSE, feed.respond, methods=["GET"]),
        Mount(REST, application),
    ]


def _answer(operation: Operation, memory: Memory, asked: Asked, call: Call) -> Response:
    def ask() -> None:
        if call.cancelled():
            raise Cancelled("the client has left")

    try:
        with budget.limited(ANSWER_S, ask):
            reply = operation(memory, asked)
        return Document(reply, 201 if reply.get("status") in _CREATED else 200)
    except Cancelled:
        return Response(status_code=LEFT)
    except Refused as refused:
        return _error(refused.status, str(refused))
    except InvalidRequest as error:
        return _error(400, error.message)
    except TriseekError as error:
        return _error(503 if error.retryable else 500, error.message)
    except Exception as error:
        logger.exception("a request of the memory failed")
        return _error(500, f"internal error: {type(error).__name__}")


def _error(status: int, message: str, request: Request | None = None) -> Response:
    """Return an error. A connection whose body was not read to its end is closed."""
    headers = {"Connection": "close"} if request is not None else None
    return Document({"error": message}, status, headers)


async def _unrouted(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - what it is registered for
    reasons = {404: "there is no such path", 405: "the path does not take this method"}
    return Document(
        {"error": reasons.get(error.status_code, error.detail)}, error.status_code, error.headers
    )
