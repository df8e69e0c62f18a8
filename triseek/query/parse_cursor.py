"""Where the parser stands in a pattern, and how it says that something is wrong there."""

from __future__ import annotations

from dataclasses import dataclass, field

from triseek.errors import InvalidQuery

WHITESPACE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | frozenset(
    map(chr, range(0x2000, 0x200B))
)
"""White_Space; `str.isspace` also says yes to the separators U+001C to U+001F."""

END = ""
"""What stands behind the last character. It is in no string of choices: compare, don't use `in`."""


@dataclass(slots=True)
class Cursor:
    """A position in `text`, which joins all patterns as ripgrep joins them: `(?:a)|(?:b)`."""

    text: str
    starts: tuple[int, ...]
    """Where in `text` each of the user's patterns begins."""
    at: int = 0
    ignore_space: bool = False
    """Whether `x` is on: white space and `# comments` mean nothing."""
    number: int = 0
    """Which of several patterns `text` is, if it is one of them by itself."""
    notes: list[str] = field(default_factory=list)
    """What was understood in another way than ripgrep does, one sentence each."""
    text_braces: set[int] = field(default_factory=set)
    """Where a `{` was read as text."""

    @property
    def here(self) -> str:
        """The character under the cursor, or `END`."""
        return self.text[self.at : self.at + 1]

    @property
    def next(self) -> str:
        """The character after that, or `END`."""
        return self.text[self.at + 1 : self.at + 2]

    def next_solid(self) -> str:
        """Return the character after this one, behind white space and comments under `x`."""
        kept, self.at = self.at, self.at + 1
        self.skip_space()
        found, self.at = self.here, kept
        return found

    def bump(self) -> str:
        """Step over one character and return it."""
        character = self.here
        self.at += 1
        return character

    def bump_over_space(self) -> str:
        """Step over one character and the white space behind it; return what follows."""
        self.at += 1
        self.skip_space()
        return self.here

    def bump_if(self, prefix: str) -> bool:
        """Step over `prefix` if it stands here."""
        if not self.text.startswith(prefix, self.at):
            return False
        self.at += len(prefix)
        return True

    def skip_space(self) -> None:
        """Step over white space and comments; does nothing unless `x` is on."""
        while self.ignore_space and self.here != END:
            if self.here in WHITESPACE:
                self.at += 1
            elif self.here == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end + 1
            else:
                return

    def place(self, at: int) -> str:
        """Return how to name a position: the user's own pattern and its 1-based column."""
        number = sum(1 for start in self.starts if start <= at) or 1
        column = max(at - self.starts[number - 1], 0) + 1
        if len(self.starts) == 1:
            number = self.number
        return f"column {column}" + (f" of pattern {number}" if number else "")

    def error(
        self, message: str, at: int | None = None, next_step: str | None = None
    ) -> InvalidQuery:
        """Return the error for what stands at `at` (default: here)."""
        place = self.place(self.at if at is None else at)
        return InvalidQuery(f"invalid pattern, {place}: {message}", next_step=next_step)
