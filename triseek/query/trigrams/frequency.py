"""Frequencies of bytes and byte pairs in source code.

Counted once over C, Python, JavaScript, TypeScript, Go, Rust, Perl, shell and Markdown, at most
30 MB of each (the Linux kernel, the standard libraries and packages of those languages), with equal
weights and without line ends. They only guide choices: a wrong figure costs time, never a match.

The table (`byte_pairs.txt`, next to this file) has a row for each first byte and a column for each
second byte, in the order tab, 0x20 to 0x7E, any other: -log2 of the pair's share of all pairs, one
base-36 digit.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

SYMBOLS = 97
_TABLE = "byte_pairs.txt"


def rarity(text: bytes) -> float:
    """Return -log2 of the probability that `text` (not empty) begins at a given byte.

    Assumes that each byte depends only on the one before it.
    """
    pairs, single = _tables()
    before = _place(text[0])
    total = single[before]
    for byte in text[1:]:
        place = _place(byte)
        total += pairs[before][place] - single[before]
        before = place
    return total


def byte_rarity(byte: int) -> float:
    """Return -log2 of the byte's share of source code."""
    return _tables()[1][_place(byte)]


def probability(bits: float) -> float:
    """Return the probability whose -log2 is `bits`."""
    return math.exp(-bits * math.log(2))


@cache
def _tables() -> tuple[list[list[int]], list[float]]:
    rows = Path(__file__).with_name(_TABLE).read_text("utf-8").split()
    pairs = [[int(digit, 36) for digit in row] for row in rows]
    return pairs, [-math.log2(sum(probability(bits) for bits in row)) for row in pairs]


def _place(byte: int) -> int:
    if 0x20 <= byte < 0x7F:
        return byte - 0x1F
    return 0 if byte == 0x09 else SYMBOLS - 1
