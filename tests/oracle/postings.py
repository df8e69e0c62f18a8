"""Posting lists as lists of integers."""


def encode(numbers: list[int]) -> bytes:
    """Varints of the steps between the numbers, the first from zero."""
    steps = [b - a for a, b in zip([0, *numbers], numbers, strict=False)]
    return b"".join(varint(step) for step in steps)


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def decode(data: bytes, blocks: int) -> list[int] | None:
    """The numbers, or None: cut short, of more than five bytes, standing still or out of range."""
    numbers, value, shift, step = [], 0, 0, 0
    for byte in data:
        step |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            value += step
            if value >= blocks or (numbers and step == 0):
                return None
            numbers.append(value)
            shift = step = 0
        elif shift > 28:
            return None
    return None if shift else numbers


def merge(
    sources: list[tuple[dict[int, list[int]], dict[int, int]]],
) -> dict[int, list[int]]:
    """Lists by trigram of several sources in one; each source: its lists, and its new numbers.

    A block that has no new number is left out, and so is a trigram without a block.
    """
    merged: dict[int, list[int]] = {}
    for lists, renumber in sources:
        for trigram, blocks in lists.items():
            kept = [renumber[block] for block in blocks if block in renumber]
            if kept:
                merged[trigram] = sorted(merged.get(trigram, []) + kept)
    return merged
