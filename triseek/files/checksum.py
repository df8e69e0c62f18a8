"""The checksum by which Zoekt's answers tell whether two files have the same content."""

from __future__ import annotations


def crc64(content: bytes) -> bytes:
    """Return the CRC-64 of a content, 8 bytes in big-endian order.

    The polynomial is ISO's, as in Go's `crc64.ISO`: Zoekt stores it with each document.
    """
    from fastcrc.crc64 import go_iso

    return go_iso(content).to_bytes(8, "big")
