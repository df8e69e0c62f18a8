"""One-pass parser of Rust's regular expression grammar into `hir`.

Open groups are on an explicit stack, so that no pattern can reach the interpreter's recursion
limit. Nesting depth is measured, and limited, as in regex-syntax.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from triseek.model import budget
from triseek.query.regex import unicode
from triseek.query.regex.charset import BYTES, UNICODE, complement
from triseek.query.regex.hir import NOTHING, Hir, Literal, choice, class_of, loop, sequence
from triseek.query.regex.parse_class import Spelled, parse_class
from triseek.query.regex.parse_cursor import END, WHITESPACE, parse_flags
from triseek.query.regex.parse_escape import Scalar, Set, parse_escape
from triseek.query.regex.syntax import Assertion, Capture, LookKind

if TYPE_CHECKING:
    from triseek.query.regex.parse_cursor import Flags, PatternCursor

NEST_LIMIT = 250
"""ripgrep's limit, counted in its way: each group, repetition, class, sequence or choice is a
level."""

_COUNT_MAX = 2**32 - 1
_SPACE = f"[{''.join(sorted(WHITESPACE))}]*"
_COUNT = f"{_SPACE}[0-9]+{_SPACE}"
_QUANTIFIER = re.compile(rf"\{{{_COUNT}(,({_COUNT})?)?\}}")
"""Text that is a complete quantifier; tested before `{` is parsed as one."""

Item: TypeAlias = "tuple[Hir, int, bool]"
"""A part of a sequence, its nesting depth, and whether it can be repeated (flags cannot)."""


@dataclass(slots=True)
class _Open:
    """An open group (or the whole pattern)."""

    start: int
    outer: Flags
    """The flags to restore after it."""
    number: int = 0
    """Number of a capturing group, else 0."""
    items: list[Item] = field(default_factory=list)
    """The current branch."""
    branches: list[tuple[Hir, int]] = field(default_factory=list)
    """The branches before the current one."""


class Meaning(NamedTuple):
    """A parsed pattern, and the names of its capturing groups."""

    hir: Hir
    names: dict[str, int]


def parse_regex(cursor: PatternCursor, flags: Flags, spelled: Spelled) -> Meaning:
    """Parse all of the cursor's text.

    Raises:
        InvalidQuery: The pattern is invalid, also for ripgrep.
    """
    reader = _Reader(cursor, flags, spelled)
    return Meaning(reader.read(), reader.names)


class _Reader:
    """State of one run of the parser."""

    def __init__(self, cursor: PatternCursor, flags: Flags, spelled: Spelled) -> None:
        self.cursor = cursor
        self.flags = flags
        self.spelled = spelled
        self.groups = 0
        """Number of capturing groups so far."""
        self.names: dict[str, int] = {}
        """Group name → group number."""
        self.open: list[_Open] = [_Open(0, flags)]
        self.set_flags(flags)

    def set_flags(self, flags: Flags) -> None:
        self.flags = flags
        self.cursor.ignore_space = flags.ignore_space

    def read(self) -> Hir:
        """Parse to the end."""
        steps = {
            "(": self.begin_group,
            ")": self.end_group,
            "|": self.end_branch,
            "[": self.read_class,
            "?": lambda: self.repeat(0, 1),
            "*": lambda: self.repeat(0, None),
            "+": lambda: self.repeat(1, None),
            "{": self.read_brace,
        }
        while True:
            self.cursor.skip_space()
            here = self.cursor.here
            if here == END:
                break
            budget.check()
            steps.get(here, self.read_primitive)()
        if len(self.open) > 1:
            raise self.cursor.error("this group does not end; `)` is missing", self.open[-1].start)
        return self.finish(self.open[0])[0]

    def push(self, hir: Hir, depth: int = 0, *, repeatable: bool = True) -> None:
        if depth > NEST_LIMIT:
            raise self.cursor.error(f"this nests deeper than {NEST_LIMIT} levels")
        self.open[-1].items.append((hir, depth, repeatable))

    # Groups

    def begin_group(self) -> None:
        cursor, start = self.cursor, self.cursor.at
        cursor.bump_over_space()
        self.refuse_foreign_groups(start)
        group = _Open(start, self.flags, number=self.groups + 1)
        if cursor.bump_if("?P<") or cursor.bump_if("?<"):
            self.read_name()
        elif cursor.bump_if("?"):
            flags, any_flags = parse_flags(cursor, self.flags)
            if cursor.bump() == ")":
                if not any_flags:
                    raise cursor.error("there is nothing to repeat before `?`", start + 1)
                self.set_flags(flags)
                self.push(NOTHING, repeatable=False)
                return
            group.number = 0
            self.set_flags(flags)
        if len(self.open) > NEST_LIMIT:
            raise cursor.error(f"this nests deeper than {NEST_LIMIT} levels", start)
        self.groups = max(self.groups, group.number)
        self.open.append(group)

    def refuse_foreign_groups(self, start: int) -> None:
        """Raise an error for a `(?…` construct of another dialect that Rust does not have."""
        text, at = self.cursor.text, self.cursor.at
        for prefix, what in _FOREIGN_GROUPS.items():
            if text.startswith(prefix, at):
                raise self.cursor.error(f"{what} not supported", start, _FOREIGN_NEXT_STEP)

    def read_name(self) -> None:
        cursor, start = self.cursor, self.cursor.at
        while cursor.here != ">":
            here = cursor.here
            if here == END:
                raise cursor.error("this group's name does not end; `>` is missing", start)
            good = here == "_" or unicode.is_alphabetic(here)
            if cursor.at > start:
                good = good or here in ".[]" or unicode.is_alphanumeric(here)
            if not good:
                raise cursor.error(f"{here!r} cannot stand in a group's name")
            cursor.bump()
        name = cursor.text[start : cursor.at]
        if not name or name in self.names:
            raise cursor.error(
                f"the name {name} stands twice" if name else "this name is empty", start
            )
        self.names[name] = self.groups + 1
        cursor.bump()

    def end_group(self) -> None:
        if len(self.open) == 1:
            raise self.cursor.error("`)` closes nothing; write \\) for the character")
        group = self.open.pop()
        self.cursor.bump()
        self.set_flags(group.outer)
        hir, depth = self.finish(group)
        self.push(Capture(hir, group.number) if group.number else hir, depth + 1)

    def end_branch(self) -> None:
        group = self.open[-1]
        group.branches.append(_row(group.items))
        group.items = []
        self.cursor.bump()

    def finish(self, group: _Open) -> tuple[Hir, int]:
        branches = [*group.branches, _row(group.items)]
        if len(branches) == 1:
            hir, depth = branches[0]
        else:
            hir = choice([branch for branch, _ in branches])
            depth = max(depth for _, depth in branches) + 1
        if depth > NEST_LIMIT:
            raise self.cursor.error(f"this nests deeper than {NEST_LIMIT} levels", group.start)
        return hir, depth

    # Repetition

    def repeat(self, low: int, high: int | None) -> None:
        """Parse `?`, `*` or `+`."""
        start = self.cursor.at
        body, depth = self.repeated()
        self.cursor.bump()
        self.push_loop(body, depth, low, high, start)

    def push_loop(self, body: Hir, depth: int, low: int, high: int | None, start: int) -> None:
        """Parse the `?` that makes a repetition lazy, and add the repetition to the branch."""
        lazy = self.cursor.bump_if("?")
        if high is not None and high < low:
            raise self.cursor.error(f"a repetition from {low} to {high} is empty", start)
        greedy = lazy == self.flags.swap_greed
        self.push(loop(body, low, high, greedy=greedy), depth + 1)

    def repeated(self) -> tuple[Hir, int]:
        """Remove and return the part before a quantifier."""
        items = self.open[-1].items
        if not items or not items[-1][2]:
            what = self.cursor.here
            message = (
                f"there is nothing to repeat before `{what}`; write \\{what} for the character"
            )
            raise self.cursor.error(message)
        hir, depth, _ = items.pop()
        return hir, depth

    def read_brace(self) -> None:
        """Parse `{…}` as a quantifier, or as text if it is not one."""
        cursor, start = self.cursor, self.cursor.at
        if not self.is_quantifier():
            # ripgrep refuses this; but in code, `interface{}` is meant literally.
            note = f"`{{` at {cursor.place(start)} starts no repetition and was read as text; "
            cursor.text_braces.add(start)
            if not cursor.notes:
                cursor.notes.append(note + "ripgrep wants \\{")
            self.read_primitive()
            return
        body, depth = self.repeated()
        cursor.bump_over_space()
        low = self.read_count()
        high: int | None = low
        if cursor.here == ",":
            high = None if cursor.bump_over_space() == "}" else self.read_count()
        cursor.bump_over_space()
        self.push_loop(body, depth, low, high, start)

    def is_quantifier(self) -> bool:
        """Return whether `{` begins a quantifier of the form `{2}`, `{2,}` or `{2,3}`."""
        if not self.flags.ignore_space:
            return _QUANTIFIER.match(self.cursor.text, self.cursor.at) is not None
        kept = self.cursor.at
        solid = self.cursor.here
        self.cursor.bump_over_space()
        while self.cursor.here in _COUNT_SIGNS:
            solid += self.cursor.here
            self.cursor.bump_over_space()
        solid += self.cursor.here
        self.cursor.at = kept
        return _QUANTIFIER.fullmatch(solid) is not None

    def read_count(self) -> int:
        """Parse one number and the white space around it, which is allowed without `x`."""
        cursor, digits, start = self.cursor, "", self.cursor.at
        while cursor.here in WHITESPACE:
            cursor.bump()
        while cursor.here in _DIGITS:
            digits += cursor.here
            cursor.bump_over_space()
        while cursor.here in WHITESPACE:
            cursor.bump_over_space()
        if int(digits) > _COUNT_MAX:
            raise cursor.error("this count is too large", start)
        return int(digits)

    # Characters, classes and assertions

    def read_class(self) -> None:
        ranges, depth = parse_class(self.cursor, self.flags, self.spelled)
        self.push(class_of(ranges, of_bytes=not self.flags.unicode), depth)

    def read_primitive(self) -> None:
        cursor = self.cursor
        here = cursor.here
        if here == "\\":
            self.read_escape()
            return
        cursor.bump()
        if here == ".":
            self.push(self.dot())
        elif here in "^$":
            self.push(Assertion(self.line_look("start" if here == "^" else "end")))
        else:
            self.push_scalar(Scalar(ord(here)))

    def read_escape(self) -> None:
        escape = parse_escape(self.cursor, self.flags)
        if isinstance(escape, Scalar):
            self.push_scalar(escape)
        elif isinstance(escape, Set):
            self.push(class_of(escape.ranges, of_bytes=not self.flags.unicode))
        else:
            self.push(escape)

    def push_scalar(self, scalar: Scalar) -> None:
        """Add one character or byte, with its case variants if case is ignored."""
        self.spelled.add(scalar)
        flags, code = self.flags, scalar.code
        if not flags.unicode and scalar.is_byte and code > 0x7F:
            self.push(Literal(bytes((code,))))
        elif flags.ignore_case and flags.unicode:
            self.push(class_of(unicode.fold(((code, code),))))
        elif flags.ignore_case and code < 0x80:
            self.push(class_of(unicode.fold_ascii(((code, code),)), of_bytes=True))
        else:
            self.push(Literal(chr(code).encode()))

    def dot(self) -> Hir:
        universe = UNICODE if self.flags.unicode else BYTES
        ends = ((10, 10), (13, 13)) if self.flags.crlf else ((10, 10),)
        ranges = universe if self.flags.dot_all else complement(ends, universe)
        return class_of(ranges, of_bytes=not self.flags.unicode)

    def line_look(self, which: str) -> LookKind:
        """Return the assertion of `^` (`start`) or `$` (`end`) under the current flags."""
        if not self.flags.multi_line:
            return "text_start" if which == "start" else "text_end"
        if self.flags.crlf:
            return "line_start_crlf" if which == "start" else "line_end_crlf"
        return "line_start" if which == "start" else "line_end"


_DIGITS = frozenset("0123456789")
_COUNT_SIGNS = frozenset("0123456789,")

_FOREIGN_GROUPS = {
    "?=": "look-ahead `(?=…)` is",
    "?!": "negative look-ahead `(?!…)` is",
    "?<=": "look-behind `(?<=…)` is",
    "?<!": "negative look-behind `(?<!…)` is",
    "?>": "atomic groups `(?>…)` are",
    "?P=": "back-references `(?P=…)` are",
    "?P>": "recursion `(?P>…)` is",
    "?&": "recursion `(?&…)` is",
    "?|": "branch reset `(?|…)` is",
    "?#": "comments `(?#…)` are",
    "?(": "conditionals `(?(…)…)` are",
    "?'": "names in quotes `(?'…'…)` are",
}
_FOREIGN_NEXT_STEP = "Write the pattern without it, or pass -F to search for the text as it stands."


def _row(items: list[Item]) -> tuple[Hir, int]:
    """Return a branch and its nesting depth, which is one more if it has several parts."""
    depth = max((depth for _, depth, _ in items), default=0)
    return sequence([hir for hir, _, _ in items]), depth + (len(items) > 1)
