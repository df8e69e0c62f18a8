"""One host that runs Zoekt: its endpoints, and what its wrong answers mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from triseek.errors import InvalidQuery
from triseek.model.plain_text import visible_line
from triseek.zoekt import decode, fields, web_decode
from triseek.zoekt.failure import HostFailure

if TYPE_CHECKING:
    from triseek.model.code_search import CodeRequest
    from triseek.zoekt.addresses import HostAddress
    from triseek.zoekt.decode import HostAnswer
    from triseek.zoekt.transport import Reply, Transport

NO_RPC = "it serves no /api: start zoekt-webserver with -rpc"
_WEB_CONTEXT_MAX = 10
_WEB_LISTED_MAX = 1_000_000
_MESSAGE_MAX = 300
_JSON = "application/json"


class Body(NamedTuple):
    """An answer that has yet to be decoded, and by which of the interfaces it came."""

    data: bytes
    is_web: bool = False

    @property
    def detail(self) -> str:
        """What the user should change on the host; "" if nothing."""
        return NO_RPC if self.is_web else ""


class ZoektHost:
    """Sends the requests of one host. Its coroutines run in the loop of `transport`."""

    def __init__(self, address: HostAddress, transport: Transport) -> None:
        self.address = address
        self.name = address.name
        self._transport = transport

    async def search(
        self, query: str, request: CodeRequest, seconds: float, deadline: float
    ) -> Body:
        """Search for a query.

        Args:
            query: The query to send, which may be narrower than the request's.
            request: How much of the answer is wanted.
            seconds: The host's own time limit, after which it returns what it has.
            deadline: When no answer is waited for any longer, by `time.monotonic`.

        Raises:
            InvalidQuery: The host does not understand the query.
            HostFailure: There is no answer.
        """
        options = {
            "MaxDocDisplayCount": request.max_files,
            "MaxMatchDisplayCount": request.max_matches,
            "MaxWallTime": max(1, int(seconds * 1e9)),
            "NumContextLines": request.context_lines,
            "ChunkMatches": True,  # with context, and matches that cross line ends
            "Whole": request.whole,
        }
        reply = await self._post("/api/search", {"Q": query, "Opts": options}, deadline)
        if reply is not None:
            return Body(reply.body)
        context = min(request.context_lines, _WEB_CONTEXT_MAX)
        return await self._web_search(query, request.max_files, context, deadline)

    async def list(self, query: str, deadline: float) -> Body:
        """List the repositories in which a query matches; all of them for "".

        Raises:
            InvalidQuery, HostFailure: As `search`.
        """
        reply = await self._post("/api/list", {"Q": query}, deadline)
        if reply is not None:
            return Body(reply.body)
        # A query of `r:` alone, or with `type:repo`, lists repositories there.
        wanted = f"({query} ) type:repo" if query else "r:"
        return await self._web_search(wanted, _WEB_LISTED_MAX, 0, deadline)

    async def read(self, repository: str, path: bytes, deadline: float) -> bytes | None:
        """Return the content of a file from the default branch; None if the page has none.

        Raises:
            HostFailure: There is no answer.
        """
        words = urlencode({"r": repository, "f": path, "format": "raw"})
        reply = await self._transport.send(
            self.address, "GET", f"/print?{words}", deadline=deadline
        )
        is_raw = reply.status == 200 and reply.content_type == "text/plain"
        if is_raw or reply.status in (200, 404, 405, 418):
            return reply.body if is_raw else None
        raise _failure(reply, self.address)

    async def is_ready(self, deadline: float) -> bool:
        """Return whether the host has loaded its indexes.

        Raises:
            HostFailure: There is no answer.
        """
        reply = await self._transport.send(self.address, "GET", "/readyz", deadline=deadline)
        if reply.status in (200, 404):  # older servers have no such page
            return True
        if reply.status == 503:
            return False
        raise _failure(reply, self.address)

    def decoded_search(self, body: Body, request: CodeRequest) -> HostAnswer:
        """Decode an answer of `search`.

        Raises:
            HostFailure: The answer is malformed.
        """
        if body.is_web:
            return web_decode.search_answer(body.data, self.name)
        return decode.search_answer(
            body.data, self.name, request.context_lines, whole=request.whole
        )

    def decoded_list(self, body: Body) -> HostAnswer:
        """Decode an answer of `list`.

        Raises:
            HostFailure: The answer is malformed.
        """
        if body.is_web:
            return web_decode.search_answer(body.data, self.name)
        return decode.list_answer(body.data, self.name)

    async def _post(self, path: str, document: dict[str, Any], deadline: float) -> Reply | None:
        """Return the answer; None if the host does not have the interface."""
        reply = await self._transport.send(
            self.address, "POST", path, deadline=deadline,
            content=json.dumps(document).encode("ascii"),
            headers={"content-type": _JSON, "accept": _JSON},
        )  # fmt: skip
        is_json = reply.content_type == _JSON
        if reply.status == 200 and is_json:
            return reply
        is_page = reply.status == 200 and reply.content_type.startswith("text/")
        if reply.status in (404, 405) or is_page:
            return None
        raise _refusal(reply) or _failure(reply, self.address)

    async def _web_search(self, query: str, files: int, context: int, deadline: float) -> Body:
        words = urlencode({"q": query, "num": files, "ctx": context, "format": "json"})
        reply = await self._transport.send(
            self.address, "GET", f"/search?{words}", deadline=deadline
        )
        if reply.status == 200 and reply.content_type == _JSON:
            return Body(reply.body, is_web=True)
        if reply.status in (200, 404, 405):
            raise HostFailure("wrong", f"{NO_RPC}, if it is one")
        raise _refusal(reply) or _failure(reply, self.address)


def _refusal(reply: Reply) -> InvalidQuery | None:
    """Return the error of a query that the host does not understand; None of another answer."""
    message = _complaint(reply)
    if reply.status in (400, 418) and message:
        return InvalidQuery(message, next_step="Correct the query.")
    return None


def _failure(reply: Reply, address: HostAddress) -> HostFailure:
    """Return why an answer of an unexpected status is none."""
    status, reason = reply.status, _complaint(reply)
    if 300 <= status < 400:
        return HostFailure("wrong", f"it redirects to {visible_line(reply.location)[:200]}; no "
                           "redirect is followed: set that address")  # fmt: skip
    if status in (401, 403):
        what = "the authorization that was sent" if address.authorization else "access"
        step = "correct" if address.authorization else "set"
        return HostFailure(
            "error", f"it refuses {what} (HTTP {status}): {step} TRISEEK_ZOEKT_AUTHORIZATION, as "
            "'Bearer TOKEN', or the name and password in its address",
        )  # fmt: skip
    if status == 503:
        return HostFailure("loading", "it is not ready (HTTP 503)")
    if status == 200:
        return HostFailure("wrong", f"its answer is {reply.content_type or 'of no type'}, not JSON")
    return HostFailure("error", f"it answers HTTP {status}{f': {reason}' if reason else ''}")


def _complaint(reply: Reply) -> str:
    """Return the message of an error, in one line; "" if there is none."""
    if reply.content_type == _JSON:
        try:
            text = fields.document(reply.body[:100_000]).text("Error")
        except HostFailure:
            text = ""
    elif reply.content_type == "text/html":
        text = ""
    else:
        text = reply.body[: 4 * _MESSAGE_MAX].decode("utf-8", "replace")
    return visible_line(text.strip())[:_MESSAGE_MAX]
