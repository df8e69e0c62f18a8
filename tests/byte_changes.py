"""Changes bytes of JSON lines at random, for fuzzers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


def changed(line: bytes, chance: Random) -> bytes:
    """Return a line with one to five changes, without line ends; never empty."""
    data = bytearray(line)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(data))
        how = chance.randrange(4)
        if how == 0:
            data[at] = chance.choice(b'"{}[]:,\\ 0123456789eE-+.aZ\x00\x1f\x7f\x80\xff')
        elif how == 1:
            del data[at : at + chance.choice((1, 1, 5))]
        elif how == 2:
            data[at:at] = chance.choice((b'"', b"\\", b"{", b"\xe2\x82", b"0", b","))
        else:
            data[at] ^= 1 << chance.randrange(8)
        data = bytearray(bytes(data).replace(b"\n", b"") or b"0")
    return bytes(data)
