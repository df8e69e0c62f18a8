"""Blocks as a list comprehension away from `bytes.splitlines`."""

from typing import NamedTuple


class Block(NamedTuple):
    """Whole lines of a file."""

    offset: int
    text: bytes
    first_line: int

    @property
    def flags(self) -> int:
        return int(any(byte >= 128 for byte in self.text))


def cut(text: bytes, size: int) -> list[Block]:
    """Every block ends at the first newline that makes it `size` bytes or more."""
    blocks, begin, number, first_line = [], 0, 1, 1
    while begin < len(text):
        newline = text.find(b"\n", begin + size - 1)
        end = len(text) if newline < 0 else newline + 1
        first_line, number = number, number + text.count(b"\n", begin, end)
        blocks.append(Block(begin, text[begin:end], first_line))
        begin = end
    return blocks
