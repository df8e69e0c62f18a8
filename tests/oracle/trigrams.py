"""Distinct trigrams of a text, as a set."""


def distinct(text: bytes) -> set[int]:
    """The keys b0 << 16 | b1 << 8 | b2 of all three bytes in a row that are no newline."""
    threes = zip(text, text[1:], text[2:], strict=False)
    return {a << 16 | b << 8 | c for a, b, c in threes if 10 not in (a, b, c)}


def lists(blocks: list[set[int]]) -> dict[int, list[int]]:
    """Trigram → the blocks that have it, rising."""
    return {
        gram: [number for number, grams in enumerate(blocks) if gram in grams]
        for gram in sorted(set().union(*blocks))
    }
