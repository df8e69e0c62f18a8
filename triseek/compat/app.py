"""The application that answers as Zoekt's web server does, from any source of code."""

from __future__ import annotations

import logging
import threading
from itertools import chain
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from triseek.compat import pages, replies
from triseek.compat.go_json import Unreadable, encode
from triseek.compat.options import Options, list_arguments, search_arguments
from triseek.errors import BackendFailure, Cancelled, InvalidQuery, InvalidRequest, TriseekError
from triseek.model import budget
from triseek.model.code_search import CodeResult
from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.syntax import Type
from triseek.query.zoekt.text import repo_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from triseek.model.code_search import CodeFile, CodeSource

    Answer = Callable[[], Response]

logger = logging.getLogger(__name__)

BODY_MAX = 4 << 20
"""Size limit of a request's body in bytes."""
BODY_S = 30.0
"""Seconds in which it has to come."""
THREADS = 8
"""Requests answered at once; further ones wait."""
WAITING_MAX = 256
"""Requests that wait or are answered; further ones are refused."""
PIECE = 1 << 18
"""Bytes of an answer that are sent at once; only longer answers are sent in pieces."""
TEAPOT = 418
"""The status of all errors of the pages for people."""
LEFT = 499
"""The status of an answer whose client has left; it is not sent."""
_JSON = "application/json"


def application(source: CodeSource, is_ready: Callable[[], bool]) -> ASGIApp:
    """Return the application; its access checks are the caller's."""
    endpoints = Endpoints(source, is_ready)
    by_path = {
        "/api/search": endpoints.search,
        "/api/list": endpoints.list,
        "/search": endpoints.page,
        "/print": endpoints.print,
        "/healthz": endpoints.health,
        "/readyz": endpoints.ready,
    }

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer any method: which ones are refused, and how, is each endpoint's."""
        if scope["type"] != "http":
            return
        endpoint = by_path.get(scope["path"], _missing)
        response = await endpoint(Request(scope, receive))
        await response(scope, receive, send)

    return answer


class Endpoints:
    """The endpoints of one source."""

    def __init__(self, source: CodeSource, is_ready: Callable[[], bool]) -> None:
        self._source = source
        self._is_ready = is_ready
        self._limiter = anyio.CapacityLimiter(THREADS)
        self._open = 0

    async def search(self, request: Request) -> Response:
        """`/api/search`."""
        return await self._api(request, self._search)

    async def list(self, request: Request) -> Response:
        """`/api/list`."""
        return await self._api(request, self._list)

    async def page(self, request: Request) -> Response:
        """`/search`, of which only the JSON is served."""
        return await self._run(request, lambda: self._page(request))

    async def print(self, request: Request) -> Response:
        """`/print`."""
        return await self._run(request, lambda: self._print(request))

    async def health(self, request: Request) -> Response:
        """`/healthz`: the answer of a search."""
        return await self._run(request, self._health)

    async def ready(self, _request: Request) -> Response:
        """`/readyz`: 503 while the first searches would be slow."""
        return Response() if self._is_ready() else _text("not ready", 503)

    def _search(self, body: bytes) -> Response:
        arguments = search_arguments(body)
        options = arguments.options
        query = self._of_files(arguments.query)
        ids = arguments.repository_ids
        if ids is not None and 0 not in ids:  # no repository here has an identifier
            return Response(replies.estimate([]), media_type=_JSON)
        if options.only_estimate:
            return Response(
                replies.estimate(self._source.repositories().repositories), media_type=_JSON
            )
        result = self._source.search(options.request(query)) if query else CodeResult()
        return _in_pieces(replies.search(result, options, self._read))

    def _of_files(self, query: str) -> str:
        """Return a query for files: of one with `type:repo`, for all files of its repositories.

        That is what Zoekt makes of it here; "" if there are no such repositories.

        Raises:
            InvalidQuery: The query cannot be understood.
        """
        node = parse(query)
        if not (isinstance(node, Type) and node.kind == "repo"):
            return query
        repositories = self._source.repositories(query).repositories
        return " or ".join(repo_name(repository.name) for repository in repositories)

    def _list(self, body: bytes) -> Response:
        query, field = list_arguments(body)
        parse(query)
        if field == 1:
            raise BackendFailure("RepoListFieldMinimal (1) is no longer supported")
        if field not in (0, 2):
            raise BackendFailure(f"unknown RepoListField {field}")
        return Response(replies.listed(self._source.repositories(query)), media_type=_JSON)

    def _page(self, request: Request) -> Response:
        fields = pages.fields_of(request.scope["query_string"])
        try:
            body = pages.search(self._source, fields, self._read)
            if fields.get("format") != "json":
                raise InvalidRequest("this server has no page: add format=json")
        except TriseekError as error:
            return _text(_message(error), TEAPOT)
        return Response(body, media_type=_JSON)

    def _print(self, request: Request) -> Response:
        fields = pages.fields_of(request.scope["query_string"])
        try:
            content = pages.content(self._source, fields)
        except TriseekError as error:
            return _text(_message(error), TEAPOT)
        if fields.get("format") == "raw":
            return _text(content)
        headers = {"Content-Security-Policy": pages.POLICY, "X-Content-Type-Options": "nosniff"}
        return _in_pieces(pages.printed(fields, content), "text/html", headers)

    def _health(self) -> Response:
        options = Options(max_files=1, max_matches=1)
        try:
            result = self._source.search(options.request('file:""'))
        except TriseekError as error:
            return _text(f"not ready: {_message(error)}", 500)
        body = b"".join(replies.bare_search(result, options, self._read)) + b"\n"
        return Response(body, media_type=_JSON)

    def _read(self, file: CodeFile) -> bytes | None:
        """Return the content of a file; None if it is gone."""
        try:
            return self._source.read(file.repository, file.path)
        except TriseekError:
            return None

    async def _api(self, request: Request, answer: Callable[[bytes], Response]) -> Response:
        """Answer a POST; every error is a document of one field."""
        if request.method != "POST":
            return refused("Only POST is supported", 405)
        body = bytearray()
        with anyio.move_on_after(BODY_S) as waiting:
            async for piece in request.stream():
                body += piece
                if len(body) > BODY_MAX:
                    return refused(f"the body is longer than {BODY_MAX} bytes", 413)
        if waiting.cancelled_caught:
            return refused(f"the body did not come within {BODY_S:g} seconds", 408)
        return await self._run(request, lambda: _api_answer(answer, bytes(body)))

    async def _run(self, request: Request, answer: Answer) -> Response:
        """Return what `answer` makes in a thread; end it when the client leaves."""
        if self._open >= WAITING_MAX:
            return refused("too many requests at once", 503)
        left = threading.Event()
        response = Response(status_code=LEFT)
        self._open += 1
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_watch, request.receive, left, tasks.cancel_scope)
                response = await anyio.to_thread.run_sync(
                    lambda: _watched(answer, left), abandon_on_cancel=True, limiter=self._limiter
                )
                tasks.cancel_scope.cancel()
        finally:
            left.set()
            self._open -= 1
        return response


def _api_answer(answer: Callable[[bytes], Response], body: bytes) -> Response:
    try:
        return answer(body)
    except (Unreadable, InvalidQuery, InvalidRequest) as error:
        return refused(str(error), 400)
    except Cancelled:
        raise
    except TriseekError as error:
        return refused(_message(error), 500)


def _watched(answer: Answer, left: threading.Event) -> Response:
    """Return an answer, or none once the client has left."""

    def ask() -> None:
        if left.is_set():
            raise Cancelled("the client has left")

    try:
        with budget.limited(ask=ask):
            return answer()
    except Cancelled:
        return Response(status_code=LEFT)
    except Exception as error:
        logger.exception("a request failed")
        return refused(f"internal error: {type(error).__name__}", 500)


async def _watch(
    receive: Callable[[], Awaitable[object]], left: threading.Event, scope: anyio.CancelScope
) -> None:
    """Cancel the answer when the client disconnects."""
    while (message := await receive()) and message["type"] != "http.disconnect":  # type: ignore[index]
        pass
    left.set()
    scope.cancel()


def _in_pieces(
    body: Iterator[bytes], media_type: str = _JSON, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response: at once if the body is short, else as it is made."""
    gathered = _gathered(body)
    first, second = next(gathered, b""), next(gathered, None)
    if second is None:
        return Response(first, 200, headers, media_type)
    rest = iterate_in_threadpool(chain([first, second], gathered))
    return StreamingResponse(rest, 200, headers, media_type)


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join small pieces."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def refused(message: str, status: int) -> Response:
    """Return an error in the form of the JSON interface."""
    return Response(encode({"Error": message}) + b"\n", status, media_type=_JSON)


def _text(text: str | bytes, status: int = 200) -> Response:
    body = text if isinstance(text, bytes) else (text + "\n").encode("utf-8", "replace")
    headers = {"X-Content-Type-Options": "nosniff"}
    return Response(body, status, headers, "text/plain")


async def _missing(_request: Request) -> Response:
    return _text("404 page not found", 404)


def _message(error: TriseekError) -> str:
    """Return the one line that says what is wrong."""
    return error.message
