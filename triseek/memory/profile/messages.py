"""JSON-RPC messages as lines of text: read, checked and written.

A line is hostile until it is checked. What gets through has an id that can be sent back as it came:
a string, a finite number or null.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from triseek.memory.profile.lines import LINE_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping

Id: TypeAlias = str | int | float | None

PARSE_ERROR = -32700
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
SHOWN_MAX = 200
"""Characters of a caller's name that an error message repeats."""


class Message(NamedTuple):
    """A request, or a notification, which has no id and gets no answer."""

    method: object
    """What the caller sent as such: text, if the caller is right."""
    params: Mapping[str, object]
    """Empty if none were sent."""
    id: Id
    has_id: bool


class RpcError(Exception):
    """The request fails with this code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def parsed(line: bytes | None) -> Message:
    """Return the message that a line holds.

    line: None if it is too long.

    Raises:
        RpcError: It holds no message (`PARSE_ERROR`).
    """
    if line is None:
        raise RpcError(PARSE_ERROR, f"Parse error: the line has more than {LINE_MAX:,} bytes")
    try:
        value = json.loads(line.decode(), parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise RpcError(PARSE_ERROR, "Parse error: it is nested too deeply") from None
    except ValueError as error:  # a UnicodeDecodeError, too
        raise RpcError(PARSE_ERROR, f"Parse error: {error}") from None
    if isinstance(value, list):
        reason = "batches are not supported; send one request per line"
        raise RpcError(PARSE_ERROR, f"Parse error: {reason}")
    if not isinstance(value, dict):
        raise RpcError(PARSE_ERROR, "Parse error: the line is not a request object")
    number = value.get("id")
    if isinstance(number, (bool, dict, list)):
        raise RpcError(PARSE_ERROR, "Parse error: the id is not a string, a number or null")
    params = value.get("params")
    return Message(
        value.get("method"), params if isinstance(params, dict) else {}, number, "id" in value
    )


def result_line(number: Id, result: object) -> bytes:
    """Return the line that answers a request."""
    return _line({"jsonrpc": "2.0", "id": number, "result": result})


def error_line(number: Id, error: RpcError) -> bytes:
    """Return the line that says how a request failed."""
    return _line(
        {"jsonrpc": "2.0", "id": number, "error": {"code": error.code, "message": str(error)}}
    )


def compact(value: object) -> str:
    """Return a value as JSON without blanks. Lone surrogates become U+FFFD: UTF-8 has none."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _line(message: dict[str, object]) -> bytes:
    return compact(message).encode() + b"\n"


def _finite(text: str) -> float:
    """Return a number that JSON can hold. Raises ValueError for NaN and what is too large."""
    number = float(text)
    if number - number != 0.0:  # infinite, or not a number
        raise ValueError(f"{text[:SHOWN_MAX]} is not a number of JSON")
    return number
