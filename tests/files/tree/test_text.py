"""What the bytes of a file mean is what ripgrep takes them for."""

import subprocess
from random import Random

import pytest

from tests import rg
from triseek.files.tree.text import decode, has_mark, is_binary

MARKS = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


def test_bytes_without_a_mark_are_searched_as_they_are():
    assert decode(b"caf\xe9\n") == (b"caf\xe9\n", 0, "utf-8")
    assert decode(b"") == (b"", 0, "utf-8")


def test_a_utf8_mark_is_taken_off_once():
    assert decode(b"\xef\xbb\xbfx\xff") == (b"x\xff", 3, "utf-8-bom")
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbfx").data == b"\xef\xbb\xbfx"


@pytest.mark.parametrize("encoding", MARKS)
def test_utf16_with_a_mark_is_transcoded(encoding):
    data = MARKS[encoding] + "é𝄞\n".encode(encoding)
    assert decode(data) == ("é𝄞\n".encode(), 0, encoding)


@pytest.mark.parametrize(
    "data",
    [b"a\0b", "x".encode("utf-16-le"), "\ufeffx".encode("utf-32-le"), "\ufeffx".encode("utf-32-be"),
     b"\xff\xfea\0\0\0"],
)  # fmt: skip
def test_a_nul_byte_makes_text_binary(data):
    assert decode(data) is None
    assert decode(data, binary=True) is not None


def test_a_mark_is_seen_in_the_first_bytes():
    assert all(has_mark(mark + b"x") for mark in (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"))
    assert not has_mark(b"\xef\xbbx")
    assert is_binary(b"\0")
    assert not is_binary(b"\xff")


@pytest.mark.rg
def test_broken_utf16_becomes_what_rg_makes_of_it(tmp_path):
    random, path = Random(3), tmp_path / "text"
    units = [0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xFEFF, 0xFFFE, 0xFFFF, 0x41, 0x0A, 0xE9, 0x20AC]
    command = [rg.program(), "--no-config", "-aN", "--no-filename", "^", str(path)]
    for _ in range(150):
        order = random.choice(["little", "big"])
        text = [0xFEFF, *random.choices(units, k=random.randrange(9))]
        data = b"".join(unit.to_bytes(2, order) for unit in text)
        path.write_bytes(data + random.choice([b"", b"", b"A", b"\xd8"]))
        printed = subprocess.run(command, capture_output=True, check=False).stdout
        ours = decode(path.read_bytes(), binary=True).data
        assert printed == ours + (b"" if ours[-1:] in (b"", b"\n") else b"\n"), data
