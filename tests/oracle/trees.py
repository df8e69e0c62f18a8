"""Random pattern trees, texts that they often match, and the same pattern for Python's `re`.

Everything draws from a `random.Random`, so the same code serves Hypothesis and long seeded runs.
"""

import random
from itertools import product

from hypothesis import strategies as st

from triseek.query.regex.syntax import Alternate, Assertion, Bytes, Chars, Concat, Empty, Repeat

rngs = st.integers(0, 2**63).map(random.Random)
"""Not `st.randoms()`, which shrinks better and draws thirty times as slowly."""

ASCII_LOOKS = [
    "line_start",
    "line_end",
    "word",
    "not_word",
    "word_start",
    "word_end",
    "word_start_half",
    "word_end_half",
]
TEXT_LOOKS = ["text_start", "text_end"]
CLASSES = [
    ((97, 99),),
    ((48, 57),),
    ((48, 57), (65, 90), (95, 95), (97, 122)),
    ((0, 9), (11, 127)),
    ((9, 9), (32, 32)),
    ((75, 75), (107, 107)),
    ((83, 83), (115, 115)),
    (),
]
WIDE_CLASSES = [
    ((75, 75), (107, 107), (0x212A, 0x212A)),
    ((83, 83), (115, 115), (0x17F, 0x17F)),
    ((0xE0, 0xE9),),
    ((0x3C2, 0x3C3),),
    ((0, 9), (11, 0x10FFFF)),
    ((0xD7FE, 0xE001),),
    ((0x1F600, 0x1F602),),
    ((9, 10), (32, 32)),
]
LETTERS = "abckKsS_1 -("


def literal(word: str):
    """The tree of plain text."""
    return Concat(tuple(Chars(((ord(char), ord(char)),)) for char in word))


def tree(rng, depth: int = 3, *, wide: bool = False):
    """A random tree at most `depth` joins deep; `wide`: beyond ASCII, newlines, any assertion."""
    if depth == 0 or rng.random() < 0.15:
        return leaf(rng, wide=wide)
    kind = rng.randrange(10)
    if kind < 4:
        return Concat(tuple(tree(rng, depth - 1, wide=wide) for _ in range(rng.randrange(5))))
    if kind < 7:
        return Alternate(tuple(tree(rng, depth - 1, wide=wide) for _ in range(rng.randrange(1, 4))))
    low = rng.choice((0, 0, 0, 1, 1, 2, 3))
    high = rng.choice((None, None, low + rng.randrange(3), max(low, 1)))
    return Repeat(tree(rng, depth - 1, wide=wide), low, high, rng.random() < 0.5)


def leaf(rng, *, wide: bool):
    kind = rng.randrange(12)
    if kind < 5:
        letters = LETTERS + ("é\nК" if wide else "")
        return literal("".join(rng.choice(letters) for _ in range(rng.randrange(1, 7))))
    if kind < 9:
        return Chars(rng.choice(CLASSES + WIDE_CLASSES if wide else CLASSES))
    if kind == 9:
        return Assertion(rng.choice(ASCII_LOOKS + TEXT_LOOKS if wide else ASCII_LOOKS))
    if kind == 10:
        return Bytes(((97, 98), (0x80, 0xFF)) if wide else ((97, 98), (107, 107)))
    return Empty()


def tiny(rng, depth: int, *, looks: bool):
    """A random tree over a and b, small enough to be held against every short text."""
    if depth == 0:
        leaves = [Chars(((97, 97),)), Chars(((98, 98),)), Chars(((97, 98),))]
        return (
            Assertion(rng.choice(ASCII_LOOKS))
            if looks and rng.random() < 0.2
            else rng.choice(leaves)
        )
    below = [tiny(rng, rng.randrange(depth), looks=looks) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.3:
        low, more = rng.randrange(4), rng.choice((None, 0, 1, 2))
        return Repeat(below[0], low, None if more is None else low + more)
    return Concat(tuple(below)) if rng.random() < 0.7 else Alternate(tuple(below))


def every_text(alphabet: bytes, longest: int) -> list[bytes]:
    """All texts of up to `longest` bytes."""
    sizes = range(longest + 1)
    return [bytes(text) for size in sizes for text in product(alphabet, repeat=size)]


def text(rng, node) -> bytes:
    """A text that `node` probably matches, among other things, one time in four damaged."""
    noise = [b"", b" ", b"a", b"kK", b"_1", b"-", b"x = 1; "]
    found = bytearray(rng.choice(noise) + sample(rng, node) + rng.choice(noise))
    if found and rng.random() < 0.25:
        found[rng.randrange(len(found))] = rng.choice(b"abk_ -\xc5")
    return bytes(found)


def sample(rng, node) -> bytes:
    """What `node` matches, were it not for assertions."""
    match node:
        case Chars(ranges) | Bytes(ranges):
            if not ranges:
                return b""
            low, high = rng.choice(ranges)
            code = rng.randint(max(low, min(32, high)), min(high, low + 95))
            if isinstance(node, Bytes):
                return bytes([code])
            return chr(code).encode(errors="replace")
        case Concat(parts):
            return b"".join(sample(rng, part) for part in parts)
        case Alternate(parts):
            return sample(rng, rng.choice(parts))
        case Repeat(part, low, high):
            most = low + 2 if high is None else min(high, low + 2)
            return b"".join(sample(rng, part) for _ in range(rng.randint(low, most)))
    return b""


PYTHON_LOOKS = {
    "line_start": r"(?:\A|(?<=\n))",
    "line_end": r"(?![^\n])",
    "text_start": r"\A",
    "text_end": r"\Z",
    "word": r"(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))",
    "not_word": r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))",
    "word_start": r"(?<!\w)(?=\w)",
    "word_end": r"(?<=\w)(?!\w)",
    "word_start_half": r"(?<!\w)",
    "word_end_half": r"(?!\w)",
}


def is_backtrackable(node, *, in_repeat: bool = False) -> bool:
    """Whether `re` will be done with it this year: no repetition stands within another."""
    match node:
        case Concat(parts) | Alternate(parts):
            return all(is_backtrackable(part, in_repeat=in_repeat) for part in parts)
        case Repeat(part):
            return not in_repeat and is_backtrackable(part, in_repeat=True)
    return True


def to_python(node) -> str:
    """The tree as an expression for `re` over bytes; exact on texts of ASCII only."""
    match node:
        case Empty():
            return ""
        case Chars(ranges) | Bytes(ranges):
            known = [(low, min(high, 255)) for low, high in ranges if low < 256]
            spelled = "".join(f"\\x{low:02x}-\\x{high:02x}" for low, high in known)
            return f"[{spelled}]" if known else r"(?!)"
        case Assertion(kind):
            return PYTHON_LOOKS[kind]
        case Concat(parts):
            return "".join(f"(?:{to_python(part)})" for part in parts)
        case Alternate(parts):
            return "|".join(f"(?:{to_python(part)})" for part in parts)
        case Repeat(part, low, high):
            return f"(?:{to_python(part)}){{{low},{'' if high is None else high}}}"
