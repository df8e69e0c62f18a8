"""Frames between the box and triseek: four bytes of length, most significant first, then JSON."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False  # importing typing takes longer than all of this
if TYPE_CHECKING:
    from typing import Any

HEADER_BYTES = 4
MAX_CALL_BYTES = 1 << 20
"""The longest frame the box may send."""


def pack(message: object) -> bytes:
    """Return a message as a frame.

    Raises:
        TypeError, ValueError: it is not JSON.
    """
    body = json.dumps(message, allow_nan=False).encode()
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def receive(descriptor: int) -> Any:  # noqa: ANN401
    """Read the next message that triseek has sent.

    Raises:
        EOFError: the other end is closed.
        OSError: the descriptor is.
    """
    length = int.from_bytes(_exactly(descriptor, HEADER_BYTES), "big")
    return json.loads(_exactly(descriptor, length))


def send(descriptor: int, message: object) -> None:
    """Send a message to triseek.

    Raises:
        OSError: the other end is closed.
        TypeError, ValueError: the message is not JSON, or longer than `MAX_CALL_BYTES`.
    """
    frame = memoryview(pack(message))
    if len(frame) > MAX_CALL_BYTES:
        raise ValueError(f"{len(frame)} bytes of arguments; at most {MAX_CALL_BYTES} can be passed")
    while frame:
        frame = frame[os.write(descriptor, frame) :]


def _exactly(descriptor: int, count: int) -> bytearray:
    data = bytearray()
    while len(data) < count:
        part = os.read(descriptor, min(count - len(data), 1 << 20))
        if not part:
            raise EOFError("the channel to triseek is closed")
        data += part
    return data
