"""The checksum by which Zoekt names contents: CRC-64 with ECMA's polynomial."""

from __future__ import annotations

import lzma

_FILTERS = (
    {"id": lzma.FILTER_LZMA2, "dict_size": 4096, "mode": lzma.MODE_FAST, "nice_len": 273,
     "mf": lzma.MF_HC3, "depth": 1},
)  # fmt: skip
_FOOTER_BYTES = 12
_SUM_BYTES = 8


def crc64(content: bytes) -> bytes:
    """Return the checksum of a content, 8 bytes, most significant first.

    The checksum is that of the xz format, so it is read from the end of a compressed block: the
    compressor is written in C, and a loop in Python takes ten times as long.
    """
    packed = lzma.compress(content, lzma.FORMAT_XZ, lzma.CHECK_CRC64, filters=_FILTERS)
    size = 4 * (1 + int.from_bytes(packed[-8:-4], "little"))
    end = len(packed) - _FOOTER_BYTES - size
    return packed[end - _SUM_BYTES : end][::-1] if content else bytes(_SUM_BYTES)
