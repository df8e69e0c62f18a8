"""Runs the handlers of the page's API in threads, and writes what they return as JSON."""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.responses import JSONResponse, Response

from triseek.errors import BackendFailure, Cancelled, InvalidRequest, TriseekError
from triseek.model.call import Call
from triseek.search import envelopes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from triseek.daemon.server import Result

    Handler = Callable[[Mapping[str, str], Call], Result]

logger = logging.getLogger(__name__)

THREADS = 8
"""API requests answered at once; further ones wait."""
LEFT = 499
"""The status of an answer whose client has left; it is not sent."""


class HandlerRunner:
    """Runs the API's handlers in threads, and cancels those whose client has left."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(THREADS)

    def endpoint(self, handler: Handler) -> Callable[[Request], Any]:
        """Return an endpoint that runs a handler."""

        async def respond(request: Request) -> Response:
            params = {**request.query_params, **request.path_params}
            return await self.run(request, lambda call: _answer(handler, params, call))

        return respond

    async def run(self, request: Request, work: Callable[[Call], Response]) -> Response:
        """Return the response that `work` makes in a thread, for a request whose body was read."""
        left = threading.Event()
        call = Call(cancelled=left.is_set)
        answer = Response(status_code=LEFT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, request, left, tasks.cancel_scope)
            try:
                answer = await anyio.to_thread.run_sync(
                    lambda: work(call), abandon_on_cancel=True, limiter=self._limiter
                )
            finally:
                left.set()
            tasks.cancel_scope.cancel()
        return answer


async def _watch(request: Request, left: threading.Event, scope: anyio.CancelScope) -> None:
    """Cancel the answer when the browser disconnects, as it does when the user types on."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    left.set()
    scope.cancel()


def _answer(handler: Handler, params: Mapping[str, str], call: Call) -> Response:
    try:
        return Document(handler(params, call))
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
    return Document(envelope, status)


class Document(JSONResponse):
    """JSON in ASCII, because a path may hold lone surrogates, which have to be escaped.

    A session, log entry, manifest or other record is written as its document.
    """

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - JSON
        """Return the body."""
        text = json.dumps(content, separators=(",", ":"), default=lambda record: record.document())
        return text.encode("ascii")
