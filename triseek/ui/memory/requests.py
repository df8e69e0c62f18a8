"""Requests to the memory's REST interface: each field is checked before it is used."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from starlette.requests import ClientDisconnect

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

BODY_MAX = 2 << 20
"""Size limit of a request's body in bytes: several times the longest text of a drawer."""
BODY_S = 10.0
"""Seconds in which a body has to arrive."""
QUERY_MAX = 10_000
"""Characters of a query."""
_MS_MAX = 253_402_300_799_999
"""The last millisecond of the year 9999."""
_REQUIRED: Any = object()


class Refused(Exception):
    """A request that gets an HTTP status of its own, and one line that says why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Parameters:
    """The parameters of a request by name; each method checks the one that it returns."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        """Return a part of the path."""
        return self._values[name]

    def text(self, name: str, most: int = 1_000) -> str:
        """Return a text; "" if it is not passed. Raises InvalidRequest if it is too long."""
        value = self._values.get(name, "")
        if len(value) > most:
            raise InvalidRequest(f"{name} has {len(value):,} characters; at most {most:,} are read")
        return value

    def count(self, name: str, default: int, most: int) -> int:
        """Return a number from 0 to `most`. Raises InvalidRequest if it is another."""
        value = self._values.get(name)
        if value is None:
            return default
        if not (value.isascii() and value.isdigit() and len(value) <= 9 and int(value) <= most):
            raise InvalidRequest(f"{name} is a number from 0 to {most:,}, not {value[:60]!r}")
        return int(value)

    def flag(self, name: str) -> bool:
        """Return whether a flag is set: by its name alone, 1 or true. Raises InvalidRequest."""
        value = self._values.get(name, "false").lower()
        if value not in ("", "0", "1", "true", "false"):
            raise InvalidRequest(f"{name} is true or false, not {value[:60]!r}")
        return value in ("", "1", "true")

    def time_ms(self, name: str) -> int | None:
        """Return a time in Unix milliseconds; None if it is not passed. Raises as `time_ms`."""
        value = self._values.get(name)
        return None if not value else time_ms(name, value)


class Fields:
    """The fields of a request's body; each method checks the one that it returns.

    Each raises `Refused` (422) if the field is not of its type, or missing without a default.
    """

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = body

    def __contains__(self, name: str) -> bool:
        """Return whether a field is passed."""
        return self._body.get(name) is not None

    def text(self, name: str, default: str = _REQUIRED) -> str:
        """Return a text."""
        value = self._value(name, default)
        if not isinstance(value, str):
            raise _wrong(name, "a string", value)
        return value

    def number(self, name: str, default: float) -> float:
        """Return a number."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _wrong(name, "a number", value)
        try:
            return float(value)
        except OverflowError:
            raise _wrong(name, "a number", "a longer one") from None

    def flag(self, name: str) -> bool:
        """Return true or false; false if it is missing."""
        value = self._value(name, default=False)
        if not isinstance(value, bool):
            raise _wrong(name, "true or false", value)
        return value

    def texts(self, name: str) -> list[object]:
        """Return a list; an empty one if it is missing."""
        value = self._value(name, [])
        if not isinstance(value, list):
            raise _wrong(name, "a list", value)
        return value

    def _value(self, name: str, default: object) -> object:
        value = self._body.get(name)
        if value is not None:
            return value
        if default is _REQUIRED:
            raise Refused(422, f"missing field {name!r}")
        return default


class Asked(NamedTuple):
    """A request: the parameters of its path and query, and the fields of its body."""

    params: Parameters
    fields: Fields


async def read(request: Request) -> Asked:
    """Read and check a request.

    Raises:
        Refused: The body is too large, too slow, of another type, or no JSON object.
    """
    values = {**request.query_params, **request.path_params}
    body = await _body(request) if request.method in ("POST", "PATCH", "PUT") else {}
    return Asked(Parameters(values), Fields(body))


def time_ms(name: str, value: str) -> int:
    """Return a time in Unix milliseconds.

    value: As RFC 3339 or a date, in UTC if it names no zone; or Unix milliseconds.

    Raises:
        InvalidRequest: It is none.
    """
    if value.isascii() and value.isdigit() and len(value) <= 15 and int(value) <= _MS_MAX:
        return int(value)
    try:
        moment = datetime.fromisoformat(value.strip())
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise InvalidRequest(
            f"{name} is a time as 2026-05-19 or 2026-05-19T14:03:00Z, not {value[:60]!r}"
        ) from None


async def _body(request: Request) -> Mapping[str, Any]:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    data = await _bytes(request)
    if not data:
        return {}
    if media_type != "application/json":
        raise Refused(415, "send the body as `Content-Type: application/json`")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise Refused(400, "the body is not valid JSON") from None
    if not isinstance(body, dict):
        raise Refused(422, "the body is not a JSON object")
    return body


async def _bytes(request: Request) -> bytes:
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit():
        raise Refused(400, "Content-Length is not a number")
    data = bytearray()
    try:
        with anyio.fail_after(BODY_S):
            async for part in request.stream():
                data += part
                if max(len(data), int(length[:20])) > BODY_MAX:
                    raise Refused(413, f"a body has at most {BODY_MAX:,} bytes")
    except TimeoutError:
        raise Refused(408, f"the body has not arrived within {BODY_S:g} seconds") from None
    except ClientDisconnect:
        raise Refused(400, "the client has left") from None
    return bytes(data)


def _wrong(name: str, kind: str, value: object) -> Refused:
    return Refused(422, f"field {name!r} is {kind}, not {repr(value)[:60]}")
