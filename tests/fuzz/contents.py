"""Random file contents: every encoding, line end and size that a search treats differently."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

WORDS = [
    "a", "b", "ab", "foo", "bar", "foobar", "needle", "Needle", "NEEDLE", "need", "x1", "_x",
    "k", "s",
    "K", "S", "1", "42", "-", "--", "(", "{", "}", "[x]", "a.b", "$1", "\\n", "foo(bar)", "=",
    "::",
]  # fmt: skip
FOREIGN = [
    "é", "É", "naïve", "σ", "ς", "Σ", "ß", "ẞ", "ſ", "\u212a", "日本", "🎉", "e\u0301", "\u2028",
    "\u00a0", "İ", "ı", "\u0378",
]  # fmt: skip
SPACES = [" ", " ", " ", "  ", "\t", "", "."]
BROKEN = [
    b"\x80",
    b"\xa9\xa9",
    b"\xc3",
    b"\xe2\x84",
    b"\xf0\x9f",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc0\x80",
]


def make_content(random: Random) -> bytes:
    """The bytes of one file."""
    kinds = {
        _ascii: 40, _foreign: 16, _utf16: 9, _nul: 7, _late_nul: 3, _broken: 9, _crlf: 9, _blank: 5,
        _long_lines: 4, _many_blocks: 2, _marked: 3, _empty: 3,
    }  # fmt: skip
    make = random.choices(list(kinds), list(kinds.values()))[0]
    return make(random)


def text_of(content: bytes) -> str:
    """The text of a file, for cutting literals out of it."""
    if content.startswith(codecs.BOM_UTF16_LE):
        return content[2:].decode("utf-16-le", errors="ignore")
    if content.startswith(codecs.BOM_UTF16_BE):
        return content[2:].decode("utf-16-be", errors="ignore")
    return content[:4000].decode(errors="ignore")


def _line(random: Random, words: list[str] = WORDS) -> str:
    count = random.choice([0, 1, 1, 2, 3, 4, 8])
    return "".join(random.choice(words) + random.choice(SPACES) for _ in range(count))


def _lines(random: Random, words: list[str] = WORDS, most: int = 8) -> str:
    lines = [_line(random, words) for _ in range(random.randint(1, most))]
    if random.random() < 0.3:
        lines += random.choices(lines, k=2)
    return "\n".join(lines) + random.choice(["\n", "\n", "\n", "", "\n\n"])


def _ascii(random: Random) -> bytes:
    return _lines(random).encode()


def _foreign(random: Random) -> bytes:
    return _lines(random, WORDS + FOREIGN * 2).encode()


def _utf16(random: Random) -> bytes:
    text = _lines(random, WORDS + FOREIGN)
    if random.random() < 0.2:
        text = text.replace("\n", "\r\n")
    order, mark = random.choice(
        [("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)]
    )
    if random.random() < 0.1:
        text += "\0a\n"
    data = (b"" if random.random() < 0.1 else mark) + text.encode(order)
    return data + random.choices([b"", b"x", b"\x00\xd8"], [8, 1, 1])[0]


def _nul(random: Random) -> bytes:
    data = _lines(random, WORDS + FOREIGN).encode()
    for _ in range(random.choice([1, 1, 1, 3])):
        at = random.randint(0, len(data))
        data = data[:at] + b"\0" + data[at:]
    return data


def _late_nul(random: Random) -> bytes:
    size = random.choice([8_000, 65_000, 65_536, 70_000, 131_072, 140_000])
    data = _repeated(random, size + random.choice([0, 100, 5000]))
    at = min(size + random.randint(-3, 3), len(data))
    return data[:at] + b"\0" + data[at:]


def _broken(random: Random) -> bytes:
    data = _lines(random, WORDS + FOREIGN).encode()
    for _ in range(random.choice([1, 2, 4])):
        at = random.randint(0, len(data))
        data = data[:at] + random.choice(BROKEN) + data[at:]
    return data


def _crlf(random: Random) -> bytes:
    data = _lines(random, WORDS + FOREIGN[:4]).encode()
    if random.random() < 0.5:
        return data.replace(b"\n", b"\r\n")
    ends = [b"\n", b"\r\n", b"\r\n", b"\r", b"\r\r\n"]
    return b"".join(line + random.choice(ends) for line in data.split(b"\n"))


def _blank(random: Random) -> bytes:
    return "".join(random.choice(["\n", "\n", " \n", "foo\n", "\t\n"]) for _ in range(6)).encode()


def _long_lines(random: Random) -> bytes:
    long = " ".join(random.choice(WORDS + FOREIGN) for _ in range(random.choice([30, 200, 2000])))
    return "\n".join([_line(random), long, _line(random), ""]).encode()


def _many_blocks(random: Random) -> bytes:
    data = _repeated(random, random.choice([17_000, 40_000, 70_000, 200_000]))
    return data + _lines(random, WORDS + FOREIGN).encode()


def _repeated(random: Random, size: int) -> bytes:
    """Lines of which few hold a common word, so that answers stay short."""
    head = _lines(random).encode()
    line = random.choice(
        [b"filler text\n", b"zzzz\n", b"........................................\n", b"q\n"]
    )
    return (head + line * (size // len(line) + 1))[:size]


def _marked(random: Random) -> bytes:
    return codecs.BOM_UTF8 + _lines(random, WORDS + FOREIGN).encode()


def _empty(_random: Random) -> bytes:
    return b""
