"""Whom a server hears, by the head of a request, before its body is read.

Any page in a browser can send requests to a port of this machine. So a request has to name this
server (a page whose name was made to resolve to 127.0.0.1 names itself, which is DNS rebinding), to
come from no page but the server's own, and to know a token.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from triseek.loopback.address import Address


class Refusal(NamedTuple):
    """Why a request is not heard."""

    status: int
    reason: str


class Names:
    """What one server is called, by itself and by its own pages."""

    def __init__(self, address: Address) -> None:
        names = ("127.0.0.1", "localhost", "[::1]", address.authority.rpartition(":")[0])
        self._hosts = frozenset(f"{name}:{address.port}" for name in names)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)

    def refusal(self, headers: Headers) -> Refusal | None:
        """Why a request was not meant for this server, or is a foreign page's; None if neither."""
        if only(headers, "host").lower() not in self._hosts:
            return Refusal(421, "Invalid Host header")
        if "origin" in headers and only(headers, "origin").lower() not in self._origins:
            return Refusal(403, "Invalid Origin header")
        return None


def knows(headers: Headers, token: str) -> bool:
    """Whether a request has the bearer token; how long that takes to say tells nothing of it."""
    scheme, _, given = only(headers, "authorization").partition(" ")
    is_known = hmac.compare_digest(given.strip().encode(), token.encode())
    return scheme.lower() == "bearer" and is_known


def only(headers: Headers, name: str) -> str:
    """The value of a header that is there once; else none."""
    values = headers.getlist(name)
    return values[0] if len(values) == 1 else ""
