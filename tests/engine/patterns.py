"""Random patterns as people type them, and texts they often match.

Everything draws from one `random.Random`, so a seed names a case. Words are short and share
letters, so that trigrams meet often; some are beyond ASCII, some are not UTF-8.
"""

from triseek.model.search import PatternSpec

WORDS = [
    "foo", "foobar", "bar", "barfoo", "kmalloc", "Kmalloc", "kfree", "ab", "abc", "abcd", "a", "x",
    "init", "__init__", "struct", "struct_", "PM_RESUME", "straße", "STRASSE", "Σίσυφος", "σ", "é",
    "naïve", "\u212a", "\u017f", "日本語", "return", "0x1F", "1234", "12", "==", "->", "(",
    "a.b", "{",
]  # fmt: skip
CLASSES = [
    r"\w",
    r"\d",
    r"\s",
    ".",
    "[a-f]",
    "[^a-f]",
    "[ßé]",
    r"\W",
    r"\S",
    "[[:alpha:]]",
    r"\x41",
]
LOOKS = ["^", "$", r"\b", r"\B", r"\<", r"\>", r"\b{start}", r"\b{end-half}"]
REPEATS = ["*", "+", "?", "{2}", "{1,3}", "*?", "{2,}"]


def pattern(rng) -> str:
    """A random regular expression; not always a valid one."""
    kind = rng.randrange(12)
    if kind < 4:
        return escaped(rng.choice(WORDS))
    if kind < 9:
        return "".join(piece(rng, 2) for _ in range(rng.randrange(1, 4)))
    return "|".join(pattern(rng) for _ in range(rng.randrange(2, 4)))


def piece(rng, depth: int) -> str:
    kind = rng.randrange(12)
    if kind < 5:
        return escaped(rng.choice(WORDS))
    if kind < 7:
        return rng.choice(CLASSES)
    if kind == 7:
        return rng.choice(LOOKS)
    if kind == 8:
        return piece(rng, depth) + rng.choice(REPEATS)
    if kind == 9 and depth:
        return f"(?:{pattern(rng)}){rng.choice(['', *REPEATS])}"
    if kind == 10 and depth:
        return f"({piece(rng, depth - 1)}|{piece(rng, depth - 1)})"
    word = rng.choice(WORDS)
    return escaped(word[: rng.randrange(1, len(word) + 1)])


def escaped(word: str) -> str:
    return "".join("\\" + char if char in r"\.+*?()|[]{}^$" else char for char in word)


def spec(rng) -> PatternSpec:
    """What to find, with the flags people use."""
    count = rng.choice((1, 1, 1, 1, 2, 3))
    fixed = rng.random() < 0.2
    patterns = tuple(rng.choice(WORDS) if fixed else pattern(rng) for _ in range(count))
    return PatternSpec(
        patterns=patterns,
        fixed=fixed,
        case=rng.choice(("sensitive", "sensitive", "insensitive", "smart")),
        word=rng.random() < 0.2,
        line=rng.random() < 0.05,
        multiline=rng.random() < 0.1,
        unicode=rng.random() < 0.9,
        crlf=rng.random() < 0.05,
    )


def text(rng) -> bytes:
    """The content of a file."""
    if rng.random() < 0.03:
        return b""
    end = rng.choice(("\n", "\n", "\n", "\n", "\r\n", "\n\n"))
    lines = [line(rng) for _ in range(rng.randrange(1, rng.choice((4, 30))))]
    whole = end.join(lines) + rng.choice((end, ""))
    kind = rng.random()
    if kind < 0.06:
        return b"\xef\xbb\xbf" + whole.encode()
    if kind < 0.12:
        return b"\xff\xfe" + whole.encode("utf-16-le")
    if kind < 0.16:
        return whole.encode("latin-1", "replace")
    if kind < 0.20:
        return whole.encode() * rng.choice((1, 200))
    if kind < 0.22:
        return whole.encode() + b"\0"
    data = bytearray(whole.encode())
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        if data:
            data[rng.randrange(len(data))] = rng.choice(b"abk_ \n\xff\xc3")
    return bytes(data)


def line(rng) -> str:
    gap = rng.choice((" ", " ", "", "_", "  ", "-"))
    words = [rng.choice(WORDS) for _ in range(rng.randrange(6))]
    mixed = [word.upper() if rng.random() < 0.15 else word for word in words]
    return gap.join(mixed)
