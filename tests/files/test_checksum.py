"""Checksums equal those of the real Zoekt, recorded from its answers."""

from __future__ import annotations

import base64

import pytest

from triseek.files.checksum import crc64


@pytest.mark.parametrize(
    ("content", "recorded"),
    [
        (b"", "AAAAAAAAAAA="),
        (b"plain\n", "YU2JlB7+kAA="),
        (b'def needle():\r\n    return "x"\r\nno_end = needle', "saRLm1EIL+g="),
    ],
)
def test_the_checksum_is_the_one_zoekt_stores(content: bytes, recorded: str) -> None:
    assert base64.b64encode(crc64(content)).decode() == recorded
