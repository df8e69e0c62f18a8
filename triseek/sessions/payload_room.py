"""Shares the room of a payload among its parts, and counts what does not fit.

Parts take room in the order of their rank, but each has a guaranteed share of it, so that a long
part does not push out the others. What is left out is left out in whole blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.model.plain_text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from triseek.model.snapshot import Pin


class Block(NamedTuple):
    """Lines that are included or left out together."""

    lines: list[str]
    pin: Pin | None = None
    """The pin that the lines quote."""


class PayloadPart(NamedTuple):
    """A section of a payload."""

    title: list[str]
    blocks: list[Block]
    rank: int
    """The order in which parts take room; the lowest rank goes first."""
    sure: float = 0.0
    """The share of the budget that parts of lower rank leave to it."""
    passes_over: bool = False
    """Whether the next block is tried after one that does not fit."""
    chapter: list[str] = []  # noqa: RUF012 - never changed
    """The title above this part and its neighbours."""
    is_owed: bool = False
    """Whether it has its share before others have theirs, if there is not room for all shares."""
    noun: str = "line"
    """What its blocks are, for the count of those that are left out."""

    @property
    def size(self) -> int:
        """Bytes of all its lines."""
        return size_of(self.title) + sum(size_of(block.lines) for block in self.blocks)


def part(
    title: str, lines: Iterable[str], *, rank: int, sure: float, noun: str = "line"
) -> PayloadPart:
    """Return a part of single lines, each of which may be left out."""
    blocks = [Block([line]) for line in lines]
    return PayloadPart(["", title, ""], blocks, rank, sure, noun=noun)


def chosen(parts: Sequence[PayloadPart], room: int) -> list[list[Block]]:
    """Return the blocks of each part that fit.

    Args:
        parts: In the order in which they are shown.
        room: Bytes for all of them.
    """
    room = max(0, room)
    blocks: list[list[Block]] = [[] for _ in parts]
    waiting = _shares(parts, room)
    chapters: list[list[str]] = []
    for number in sorted(range(len(parts)), key=lambda number: parts[number].rank):
        each = parts[number]
        waiting[number] = 0
        titles = [*each.title, *(each.chapter if each.chapter not in chapters else [])]
        left = room - sum(waiting) - size_of(titles)
        for block in each.blocks:
            size = size_of(block.lines)
            if size <= left:
                blocks[number].append(block)
                left -= size
            elif not each.passes_over:
                break
        if blocks[number]:
            room -= size_of(titles) + sum(size_of(block.lines) for block in blocks[number])
            chapters.append(each.chapter)
    return blocks


def _shares(parts: Sequence[PayloadPart], room: int) -> list[int]:
    """Return the bytes that are kept for each part."""
    shares = [min(each.size, int(each.sure * room)) for each in parts]
    owed = sum(share for each, share in zip(parts, shares, strict=True) if each.is_owed)
    others = sum(shares) - owed
    scale = max(0, room - owed) / others if others and others > room - owed else 1.0
    return [
        share if each.is_owed else int(share * scale)
        for each, share in zip(parts, shares, strict=True)
    ]


def lines(parts: Sequence[PayloadPart], blocks: Sequence[Sequence[Block]]) -> Iterator[str]:
    """Yield the lines of the chosen blocks, under their titles."""
    chapter: list[str] = []
    for each, taken in zip(parts, blocks, strict=True):
        if not taken:
            continue
        if each.chapter and each.chapter != chapter:
            yield from each.chapter
        chapter = each.chapter
        yield from each.title
        for block in taken:
            yield from block.lines


def left_out(parts: Sequence[PayloadPart], blocks: Sequence[Sequence[Block]]) -> str:
    """Return what was left out, counted: `3 earlier requests, 1 pin`; "" for nothing."""
    counts: dict[str, int] = {}
    for each, taken in zip(parts, blocks, strict=True):
        missing = len(each.blocks) - len(taken)
        counts[each.noun] = counts.get(each.noun, 0) + missing
    return ", ".join(
        f"{count:,} {noun if count == 1 else _many(noun)}"
        for noun, count in counts.items()
        if count > 0
    )


def size_of(some: Iterable[str]) -> int:
    """Return the bytes of lines, with their ends."""
    return sum(len(line.encode()) + 1 for line in some)


def _many(noun: str) -> str:
    first, of, rest = noun.partition(" of ")
    return (f"{first}es" if first.endswith("ch") else plural(2, first)) + of + rest
