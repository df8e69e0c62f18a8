"""Access checks on the headers of a request, made before its body is read.

Any page in a browser can send requests to a port of this machine. So a request has to name this
server (a page whose name was made to resolve to 127.0.0.1 names itself, which is DNS rebinding), to
come from no page but the server's own, and to carry a token.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from triseek.loopback.address import Address


class Refusal(NamedTuple):
    """HTTP status and reason for refusing a request."""

    status: int
    reason: str


class ServerNames:
    """The values of Host and Origin that a server accepts: its own names and its own pages."""

    def __init__(self, address: Address) -> None:
        names = ("127.0.0.1", "localhost", "[::1]", address.authority.rpartition(":")[0])
        self._hosts = frozenset(f"{name}:{address.port}" for name in names)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)

    def refusal(self, headers: Headers) -> Refusal | None:
        """Return a refusal if a request names another host or comes from a foreign page."""
        if only(headers, "host").lower() not in self._hosts:
            return Refusal(421, "Invalid Host header")
        if "origin" in headers and only(headers, "origin").lower() not in self._origins:
            return Refusal(403, "Invalid Origin header")
        return None


def knows(headers: Headers, token: str) -> bool:
    """Return whether a request has the bearer token; the comparison takes constant time."""
    scheme, _, credentials = only(headers, "authorization").partition(" ")
    is_known = hmac.compare_digest(credentials.strip().encode(), token.encode())
    return scheme.lower() == "bearer" and is_known


def only(headers: Headers, name: str) -> str:
    """Return the value of a header that occurs exactly once; else ""."""
    values = headers.getlist(name)
    return values[0] if len(values) == 1 else ""
