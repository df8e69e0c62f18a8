"""Zoekt's checksum of a content."""

from triseek.zoekt.checksum import crc64


def test_it_is_crc_64_of_ecma():
    assert crc64(b"123456789").hex() == "995dc9bbdf1939fa"
    assert crc64(b"") == bytes(8)


def test_contents_of_any_size_have_their_own():
    sums = {crc64(b"a" * size) for size in range(3000)}
    assert len(sums) == 3000
    assert {len(each) for each in sums} == {8}
