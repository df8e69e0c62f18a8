"""Random regular expressions that are likely to match given texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

SPECIAL = set(r"\.+*?()|[]{}^$#&-~/ ")
CLASSES = [
    r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", ".", "[a-z]", "[^a]", "[ab]", r"[^\w]",
    "[[:alpha:]]",
    "[[:^space:]]", r"[^\n]", "[a-zé]", "[A-Z&&[^N]]", r"\p{L}", r"\pN", r"\P{Lu}", r"\p{Greek}",
    r"\p{Script=Latin}", r"[\x00-\x7f]", "[^\\x00-\\x7f]", r"(?-u:\w)", r"(?-u:.)", r"(?-u:\xff)",
    r"(?-u:[^a])", r"\x{e9}", "[k-s]",
]  # fmt: skip
LOOKS = [
    "^", "$", r"\b", r"\B", r"\A", r"\z", r"\<", r"\>", r"\b{start}", r"\b{end}",
    r"\b{start-half}", r"\b{end-half}", r"(?m:^)", r"(?m:$)", r"(?-u:\b)", r"(?-u:\B)", "(?R:$)",
]  # fmt: skip
REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0}", "{,2}", "{0,1}?"]
WHOLE = [
    "", "^", "$", "^$", ".*", ".", r"\s+", r"\w+", "x*", "(?:)", r"\b", r"\n",
    r"\r", r"\r$", r"\x00", "()", r"\A", r"\z", "a|", "|a", "(?i)k", "(?i)s", "(?i)ß", "[^a]",
    r"(?s).", "(?s).*", "a{", "(", r"\W", "^foo", "foo$", r"e\n", r"\s+$", "needle", "foo",
    "[a-z]+", r"\bfoo\b",
]  # fmt: skip
BETWEEN_LINES = [r"\n", r"\s", r"\s+", r"[^x]", r"(?s:.)", r"(?s:.*?)", r"\r?\n", r"\n\n", r"\W+"]


class PatternMaker:
    """Makes patterns from a grammar of the dialect, with literals cut out of texts."""

    def __init__(self, random: Random, texts: Sequence[str]) -> None:
        self.random = random
        self.texts = [text for text in texts if text] or ["foo bar\n"]

    def make(self, *, multiline: bool) -> str:
        """One pattern; with `multiline`, often one that matches across lines."""
        random = self.random
        kind = random.random()
        if kind < 0.16:
            return random.choice(WHOLE)
        if kind < 0.42:
            return escape(self.literal())
        pattern = self._alternation(0, multiline=multiline)
        if random.random() < 0.12:
            pattern = (
                random.choice(["(?i)", "(?s)", "(?m)", "(?x)", "(?U)", "(?-u)", "(?R)"]) + pattern
            )
        return pattern

    def fixed(self) -> str:
        """Plain text for -F."""
        return self.literal() if self.random.random() < 0.9 else ""

    def literal(self) -> str:
        """A piece of some line, now and then with a mistake or in another case."""
        random = self.random
        lines = random.choice(self.texts).split("\n")
        line = random.choice(lines) or random.choice(lines) or "foo"
        words = line.split()
        if words and random.random() < 0.6:
            piece = random.choice(words)[:20]
        else:
            at = random.randrange(len(line))
            piece = line[at : at + random.choice([1, 1, 2, 3, 5, 9])]
        piece = piece.replace("\r", "").replace("\0", "") or "a"
        if random.random() < 0.12:
            at = random.randrange(len(piece))
            piece = piece[:at] + random.choice(["", "x", "é", " "]) + piece[at + 1 :]
        if random.random() < 0.12:
            piece = piece.swapcase()
        return piece

    def _alternation(self, depth: int, *, multiline: bool) -> str:
        count = self.random.choices([1, 2, 3], [7, 2, 1])[0]
        return "|".join(self._sequence(depth, multiline=multiline) for _ in range(count))

    def _sequence(self, depth: int, *, multiline: bool) -> str:
        random = self.random
        parts = [
            self._item(depth, multiline=multiline) for _ in range(random.choice([1, 1, 2, 2, 3]))
        ]
        if multiline and random.random() < 0.5:
            parts.insert(random.randint(0, len(parts)), random.choice(BETWEEN_LINES))
        if random.random() < 0.15:
            parts.insert(random.choice([0, len(parts)]), random.choice(LOOKS))
        return "".join(parts)

    def _item(self, depth: int, *, multiline: bool) -> str:
        random = self.random
        kind = random.random()
        if kind < 0.4:
            return escape(self.literal())
        if kind < 0.62:
            return self._repeated(random.choice(CLASSES))
        if kind < 0.72:
            return self._repeated(escape(self.literal()[:1]))
        if kind < 0.8:
            return random.choice(LOOKS)
        if depth >= 2:
            return random.choice(CLASSES)
        inner = self._alternation(depth + 1, multiline=multiline)
        opening = random.choice(
            ["(", "(", "(?:", "(?P<n>", "(?i:", "(?s:", "(?<n>"] if depth == 0 else ["(?:", "("]
        )
        return self._repeated(f"{opening}{inner})")

    def _repeated(self, atom: str) -> str:
        return atom + self.random.choice(REPEATS) if self.random.random() < 0.4 else atom


def escape(text: str) -> str:
    """The pattern that matches a text."""
    special = SPECIAL - {" ", "/", "-", "#", "&", "~"}
    names = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\0": r"\x00"}
    return "".join(names.get(char, f"\\{char}" if char in special else char) for char in text)
