"""The parser's position in a pattern, errors that name a position, and the flags in effect."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from triseek.errors import InvalidQuery

WHITESPACE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | frozenset(
    map(chr, range(0x2000, 0x200B))
)
"""Unicode White_Space. `str.isspace` also accepts the separators U+001C to U+001F."""

END = ""
"""The character after the last one. Compare it with `==`: `in` is true for it in every string."""


@dataclass(slots=True)
class PatternCursor:
    """A position in `text`, which joins all patterns as ripgrep joins them: `(?:a)|(?:b)`."""

    text: str
    starts: tuple[int, ...]
    """Offset in `text` of each of the user's patterns."""
    at: int = 0
    ignore_space: bool = False
    """Whether `x` is on: white space and `# comments` are ignored."""
    number: int = 0
    """Number of the pattern if `text` is one of several by itself, else 0."""
    notes: list[str] = field(default_factory=list)
    """Differences from ripgrep in how the pattern was read, one sentence each."""
    text_braces: set[int] = field(default_factory=set)
    """Offsets of each `{` that was read as text."""

    @property
    def here(self) -> str:
        """The character under the cursor, or `END`."""
        return self.text[self.at : self.at + 1]

    @property
    def next(self) -> str:
        """The character after the cursor's, or `END`."""
        return self.text[self.at + 1 : self.at + 2]

    def next_solid(self) -> str:
        """Return the character after the cursor's; skip white space and comments under `x`."""
        kept, self.at = self.at, self.at + 1
        self.skip_space()
        character, self.at = self.here, kept
        return character

    def bump(self) -> str:
        """Consume one character and return it."""
        character = self.here
        self.at += 1
        return character

    def bump_over_space(self) -> str:
        """Consume one character and the white space after it; return the character that follows."""
        self.at += 1
        self.skip_space()
        return self.here

    def bump_if(self, prefix: str) -> bool:
        """Consume `prefix` if it is next; return whether it was."""
        if not self.text.startswith(prefix, self.at):
            return False
        self.at += len(prefix)
        return True

    def skip_space(self) -> None:
        """Consume white space and comments; do nothing unless `x` is on."""
        while self.ignore_space and self.here != END:
            if self.here in WHITESPACE:
                self.at += 1
            elif self.here == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end + 1
            else:
                return

    def place(self, at: int) -> str:
        """Return the text for a position: the 1-based column in the user's pattern, its number."""
        number = sum(1 for start in self.starts if start <= at) or 1
        column = max(at - self.starts[number - 1], 0) + 1
        if len(self.starts) == 1:
            number = self.number
        return f"column {column}" + (f" of pattern {number}" if number else "")

    def error(
        self, message: str, at: int | None = None, next_step: str | None = None
    ) -> InvalidQuery:
        """Return the error for the position `at` (default: the cursor)."""
        place = self.place(self.at if at is None else at)
        return InvalidQuery(f"invalid pattern, {place}: {message}", next_step=next_step)


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags in effect for the following part of a pattern."""

    ignore_case: bool = False
    multi_line: bool = True
    dot_all: bool = False
    swap_greed: bool = False
    unicode: bool = True
    crlf: bool = False
    ignore_space: bool = False


_NAMES = {
    "i": "ignore_case",
    "m": "multi_line",
    "s": "dot_all",
    "U": "swap_greed",
    "u": "unicode",
    "R": "crlf",
    "x": "ignore_space",
}


def parse_flags(cursor: PatternCursor, flags: Flags) -> tuple[Flags, bool]:
    """Parse flags up to the terminating `:` or `)`, which is not consumed.

    Returns:
        `flags` with the changes, and whether there was any flag or `-`.
    """
    seen: set[str] = set()
    while cursor.here not in (":", ")"):
        letter = cursor.here
        if letter == END:
            raise cursor.error("these flags do not end; `)` or `:` is missing")
        if letter in seen:
            raise cursor.error(f"`{letter}` stands twice among these flags")
        if letter != "-" and letter not in _NAMES:
            raise cursor.error(f"unknown flag {letter!r}; there are i, m, s, R, U, u and x")
        if letter != "-":
            flags = replace(flags, **{_NAMES[letter]: "-" not in seen})
        seen.add(letter)
        cursor.bump()
    if seen and cursor.text[cursor.at - 1] == "-":
        raise cursor.error("`-` turns off nothing", cursor.at - 1)
    return flags, bool(seen)
