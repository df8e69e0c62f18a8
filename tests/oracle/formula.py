"""Trigrams as a set, and whether a formula holds of them."""

from triseek.query.trigrams.formula import All, And, Gram, Never, Or


def grams(text: bytes) -> set[int]:
    """The grams an index holds of these lines: none with a newline in it."""
    windows = (text[at : at + 3] for at in range(len(text) - 2))
    return {int.from_bytes(gram, "big") for gram in windows if b"\n" not in gram}


def holds(formula, found: set[int]) -> bool:
    match formula:
        case All():
            return True
        case Never():
            return False
        case Gram(key):
            return key in found
        case And(parts):
            return all(holds(part, found) for part in parts)
        case Or(parts):
            return any(holds(part, found) for part in parts)
