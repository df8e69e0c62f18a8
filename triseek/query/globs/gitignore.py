r"""Globs in ripgrep's dialect: the lines of ignore files, `-g`, and the globs of file types.

A glob is parsed into tokens, which become one regular expression over bytes. The semantics are
those of gitignore as implemented by ripgrep 15.1.0: `*` and `?` stay inside one path component,
`**/`, `/**/` and `/**` cross components, `{a,{b,c}}` nests, the last matching line wins. ripgrep's
oddities are reproduced, because the listed files must be the same:

- a negated class (`[!a]`) also matches `/`;
- a class consists of bytes, so `[é]` matches either byte of é;
- an empty alternative is dropped (`{,a}` is `{a}`);
- an unclosed `[` is a literal in ignore files and an error in `-g`.

Many paths are matched at once: a *wrapped* blob holds every path between a NUL byte, which no path
contains, and a `/` with a NUL byte, so that one search finds all matches. The `/` prevents a glob
that matches the empty string (`{**,b}`) from matching between two paths.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import re2

from triseek.errors import InvalidQuery

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Characters that Rust's `str::trim_end` removes; Python's `rstrip` also removes U+001C to U+001F.
_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)

Kind: TypeAlias = Literal[
    "literal",  # these bytes
    "any",  # ?
    "star",  # *
    "class",  # [...]
    "prefix",  # **/ in front: this folder or any below
    "suffix",  # /** at the end: everything below
    "between",  # /**/: one separator or any number of components
    "either",  # {a,b}
]


class Token(NamedTuple):
    """A piece of a glob."""

    kind: Kind
    members: frozenset[int] = frozenset()
    """`class`: the bytes it matches."""
    text: bytes = b""
    """`literal`: one character, as UTF-8."""
    branches: tuple[tuple[Token, ...], ...] = ()
    """`either`: the alternatives."""


Tokens: TypeAlias = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file, one `-g`, or one glob of a file type."""

    text: str
    """The rule as written."""
    negated: bool
    """Whether it begins with `!`."""
    only_dir: bool
    """Whether it ends with `/` and so matches directories only."""
    name_only: bool
    """Whether only the last component is matched; then `body` is for that component."""
    body: str
    """A regular expression for the whole path (or name), bytes above 0x7f as `\\xHH`. Empty for
    a glob such as `/`, which matches only the folder that paths are relative to."""
    tokens: Tokens
    fold_case: bool = False

    def below(self, folder: bytes) -> Rule:
        """Return the rule for paths prefixed with `folder`, which ends in `/`."""
        if self.name_only or not self.tokens:
            return self
        lead = tuple(Token("literal", text=bytes([byte])) for byte in folder[:-1])
        if self.tokens[0].kind != "prefix":
            tokens = (*lead, Token("literal", text=b"/"), *self.tokens)
        elif len(self.tokens) == 1:
            tokens = (*lead, Token("suffix"))
        else:
            tokens = (*lead, Token("between"), *self.tokens[1:])
        body = _regex(tokens, fold_case=self.fold_case)
        return replace(self, body=body, tokens=tokens)


@lru_cache(maxsize=8192)  # trees repeat their ignore files
def parse_line(line: str, *, fold_case: bool = False, unclosed_class: bool = False) -> Rule | None:
    """Parse one line as in gitignore; return `None` for blank lines and comments.

    Args:
        line: The line without its terminator.
        fold_case: Whether to ignore the case of ASCII letters.
        unclosed_class: Whether a `[` without a `]` is a literal, as in ignore files.

    Raises:
        InvalidQuery: The line is not a valid glob.
    """
    if line.startswith("#"):
        return None
    original = line if line.endswith("\\ ") else line.rstrip(_SPACE)
    if not original:
        return None
    glob, negated, anchored = _strip_marks(original)
    only_dir = glob.endswith("/")
    if only_dir:
        glob = glob[:-1].removesuffix("\\")
    if not anchored and "/" not in glob and glob != "**":
        glob = f"**/{glob}"
    if glob.endswith("/**"):
        # `foo/**` matches what is in foo, not foo itself.
        glob += "/*"
    parser = _Parser(glob, original, fold_case=fold_case, unclosed_class=unclosed_class)
    tokens = parser.parse()
    name_only = len(tokens) > 1 and tokens[0].kind == "prefix" and not _crosses(tokens[1:])
    body = _regex(tokens[1:] if name_only else tokens, fold_case=fold_case)
    return Rule(original, negated, only_dir, name_only, body, tokens, fold_case)


def parse_name_glob(glob: str) -> Rule:
    """Parse a file type's glob, which is matched against a file's name only.

    Raises:
        InvalidQuery: It is not a valid glob.
    """
    tokens = _Parser(glob, glob, fold_case=False).parse()
    body = _regex(tokens)
    return Rule(glob, negated=False, only_dir=False, name_only=True, body=body, tokens=tokens)


def _strip_marks(line: str) -> tuple[str, bool, bool]:
    """Remove `!`, a leading `/`, a backslash before `!` or `#`: (glob, negated, anchored)."""
    if line.startswith(("\\!", "\\#")):
        return line[1:], False, False
    negated = line.startswith("!")
    line = line[negated:]
    return line.removeprefix("/"), negated, line.startswith("/")


def _crosses(tokens: Tokens) -> bool:
    """Return whether these tokens can match a `/`."""
    return any(
        token.kind in ("prefix", "suffix", "between")
        or token.text == b"/"
        or ord("/") in token.members
        or any(map(_crosses, token.branches))
        for token in tokens
    )


class _Parser:
    """Parser of a glob into tokens, including ripgrep's oddities."""

    def __init__(
        self, glob: str, text: str, *, fold_case: bool, unclosed_class: bool = False
    ) -> None:
        self.glob = glob
        self.text = text
        self.fold_case = fold_case
        self.unclosed_class = unclosed_class
        self.at = 0
        self.stack: list[list[Token]] = [[]]
        """The tokens outside of braces, then those of each alternative of the open braces."""
        self.opened: list[int] = []
        """For each open brace, the index of its first alternative in `stack`."""
        self.bracket_is_literal = False

    def parse(self) -> Tokens:
        while self.at < len(self.glob):
            char = self.glob[self.at]
            self.at += 1
            self._step(char)
        if len(self.stack) > 1:
            raise self._error("a `{` is never closed; write `[{]` for a brace")
        return tuple(self.stack[0])

    def _step(self, char: str) -> None:
        if char == "?":
            self._push(Token("any"))
        elif char == "*":
            self._star()
        elif char == "[":
            self._bracket()
        elif char == "{":
            self.opened.append(len(self.stack))
            self.stack.append([])
        elif char == "}":
            self._close()
        elif char == "," and self.opened:
            self.stack.append([])
        elif char == "\\":
            self._escape()
        else:
            self._literal(char)

    def _push(self, token: Token) -> None:
        self.stack[-1].append(token)

    def _literal(self, char: str) -> None:
        self._push(Token("literal", text=char.encode("utf-8", "surrogateescape")))

    def _close(self) -> None:
        if not self.opened:
            raise self._error("a `}` closes nothing; write `[}]` for a brace")
        begin = self.opened.pop()
        branches = tuple(tuple(part) for part in self.stack[begin:])
        del self.stack[begin:]
        self._push(Token("either", branches=branches))

    def _bracket(self) -> None:
        """Parse a class, or a literal if the bracket is not closed; then no later one is closed."""
        begin = self.at
        ranges = None if self.bracket_is_literal else self._class()
        if ranges is None:
            self.bracket_is_literal = True
            self.at = begin
            self._literal("[")
        else:
            self._push(Token("class", members=ranges))

    def _escape(self) -> None:
        if self.at == len(self.glob):
            raise self._error("nothing follows the last `\\`")
        self._literal(self.glob[self.at])
        self.at += 1

    def _peek(self) -> str:
        return self.glob[self.at : self.at + 1]

    def _star(self) -> None:
        before = self.glob[self.at - 2] if self.at > 1 else ""
        if self._peek() != "*":
            self._push(Token("star"))
            return
        self.at += 1
        following = self._peek()
        if not self.stack[-1]:
            if following in ("", "/"):
                self._push(Token("prefix"))
                self.at += 1
            else:
                self._push(Token("star"))
            return
        ends = following == "" or (len(self.stack) > 1 and following in ",}")
        at_boundary = before == "/" or (len(self.stack) > 1 and before in (",", "{"))
        if not at_boundary or not (ends or following == "/"):
            self._push(Token("star"))
            return
        self.at += following == "/"
        last = self.stack[-1].pop()
        kept = last.kind in ("prefix", "suffix")
        self._push(last if kept else Token("suffix" if ends else "between"))

    def _class(self) -> frozenset[int] | None:
        """Return the bytes of the class that begins here; None if it is unclosed and may be."""
        negated = self._peek() in ("!", "^")
        self.at += negated
        ranges = self._ranges()
        if ranges is None:
            return None
        members = bytes(byte for low, high in ranges for byte in _range_bytes(low, high))
        if self.fold_case:
            members = members.lower() + members.upper()
        return frozenset(range(256)).difference(members) if negated else frozenset(members)

    def _ranges(self) -> list[tuple[str, str]] | None:
        ranges: list[tuple[str, str]] = []
        open_range = False
        while True:
            char = self._peek()
            if not char and self.unclosed_class:
                return None
            if not char:
                raise self._error("a `[` is never closed; write `[[]` for a bracket")
            self.at += 1
            if char == "]" and ranges:
                break
            if char == "-" and ranges and not open_range:
                open_range = True
            elif open_range:
                ranges[-1] = (ranges[-1][0], char)
                if char < ranges[-1][0]:
                    raise self._error(f"the range {ranges[-1][0]}-{char} runs backwards")
                open_range = False
            else:
                ranges.append((char, char))
        return [*ranges, ("-", "-")] if open_range else ranges

    def _error(self, what: str) -> InvalidQuery:
        return InvalidQuery(
            f"invalid glob {self.text!r}: {what}",
            next_step="Correct the glob; `\\` before a character makes it literal.",
        )


def _range_bytes(low: str, high: str) -> Iterator[int]:
    """Yield the bytes of a range in a class, whose ends are encoded as UTF-8."""
    first = low.encode("utf-8", "surrogateescape")
    if low == high:
        yield from first
        return
    last = high.encode("utf-8", "surrogateescape")
    yield from first[:-1]
    yield from range(first[-1], last[0] + 1)
    yield from last[1:]


def _regex(tokens: Tokens, *, fold_case: bool = False) -> str:
    """Return the regular expression of a glob, without anchors. It never matches a NUL byte."""
    if len(tokens) == 1 and tokens[0].kind == "prefix":
        return r"[^\x00]*"
    return _joined_regex(tokens, fold_case=fold_case)


def _joined_regex(tokens: Tokens, *, fold_case: bool) -> str:
    return "".join(_token_regex(token, fold_case=fold_case) for token in tokens)


def _token_regex(token: Token, *, fold_case: bool) -> str:
    if token.kind == "literal":
        return "".join(_byte_regex(byte, fold_case=fold_case) for byte in token.text)
    if token.kind == "class":
        return _class_regex(token.members)
    if token.kind == "either":
        parts = [_joined_regex(branch, fold_case=fold_case) for branch in token.branches]
        kept = "|".join(filter(None, parts))
        return f"(?:{kept})" if kept else ""
    return _WILD[token.kind]


_WILD: dict[str, str] = {
    "any": r"[^/\x00]",
    "star": r"[^/\x00]*",
    "prefix": r"(?:/?|[^\x00]*/)",
    "suffix": r"/[^\x00]*",
    "between": r"(?:/|/[^\x00]*/)",
}


def _byte_regex(byte: int, *, fold_case: bool) -> str:
    char = chr(byte)
    if not (byte < 128 and char.isalnum()):
        return _hex(byte)
    if fold_case and char.isalpha():
        return f"[{char.lower()}{char.upper()}]"
    return char


def _class_regex(members: frozenset[int]) -> str:
    """Return a class without NUL; if nothing else is in it, an expression that never matches."""
    bytes_left = sorted(members - {0})
    if not bytes_left:
        return r"[^\x00-\xff]"
    return f"[{''.join(map(_hex, bytes_left))}]"


def _hex(byte: int) -> str:
    return f"\\x{byte:02x}"


class RuleSet:
    """The rules of one ignore file, or of all `-g` options; the last that matches wins."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = list(rules)
        runs = [list(run) for _, run in groupby(self.rules, attrgetter("negated"))]
        self._runs = [_Run(run) for run in reversed(runs)]

    def __bool__(self) -> bool:
        return bool(self.rules)

    @cached_property
    def _any(self) -> _Wrapped:
        """Matcher of all rules, negated or not."""
        return _Wrapped(self.rules)

    def touches(self, folder: bytes, names: Sequence[bytes], blob: bytes) -> bool:
        """Return whether any rule matches any of `names`; `blob` is `wrap(names)`.

        `folder` is the names' folder relative to that of the rules, empty or ending in `/`.
        """
        return self._any.search(folder, names, blob)

    def decide(self, folder: bytes, names: Sequence[bytes], *, dirs: bool) -> dict[bytes, bool]:
        """Return matching name → whether the deciding rule is negated."""
        decided: dict[bytes, bool] = {}
        if not names:
            return decided
        blob = wrap(names)
        for run in self._runs:
            matcher = run.dirs if dirs else run.files
            for name in matcher.find(folder, names, blob):
                decided.setdefault(name, run.negated)
        return decided


class _Run:
    """Consecutive rules that are all negated or all not, so that their order does not matter."""

    def __init__(self, rules: list[Rule]) -> None:
        self.negated = rules[0].negated
        self.rules = rules

    @cached_property
    def dirs(self) -> _Wrapped:
        return _Wrapped(self.rules)

    @cached_property
    def files(self) -> _Wrapped:
        return _Wrapped([rule for rule in self.rules if not rule.only_dir])


class _Wrapped:
    """Rules compiled to two expressions over wrapped blobs: of names, and of paths."""

    def __init__(self, rules: list[Rule]) -> None:
        names = {rule.body for rule in rules if rule.name_only}
        paths = {rule.body for rule in rules if not rule.name_only}
        self.names = compile_wrapped(tuple(sorted(names)))
        self.paths = compile_wrapped(tuple(sorted(paths)))

    def search(self, folder: bytes, names: Sequence[bytes], blob: bytes) -> bool:
        if self.names is not None and self.names.search(blob) is not None:
            return True
        return self.paths is not None and self.paths.search(wrap(names, folder)) is not None

    def find(self, folder: bytes, names: Sequence[bytes], blob: bytes) -> Iterator[bytes]:
        if self.names is not None:
            for match in self.names.finditer(blob):
                yield match.group()[1:-2]
        if self.paths is not None:
            start = 1 + len(folder)
            for match in self.paths.finditer(wrap(names, folder)):
                yield match.group()[start:-2]


def wrap(names: Sequence[bytes], folder: bytes = b"") -> bytes:
    """Return a wrapped blob of `folder + name` for every name; empty if there are no names."""
    if not names:
        return b""
    return b"\0" + folder + (b"/\0\0" + folder).join(names) + b"/\0"


@lru_cache(maxsize=256)
def compile_wrapped(bodies: tuple[str, ...], *, runs: bool = False) -> Any:  # noqa: ANN401 - google-re2 has no types
    """Return an RE2 expression that finds the paths in a wrapped blob that any body matches.

    Return `None` if there are no bodies. With `runs`, adjacent matching paths are one match.
    """
    if not bodies:
        return None
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # one character per byte
    options.log_errors = False
    options.max_mem = 64 << 20
    expression = rf"\x00(?:{'|'.join(bodies)})/\x00"
    if runs:
        expression = f"(?:{expression})+"
    try:
        return re2.compile(expression.encode("ascii"), options)
    except re2.error as error:
        raise InvalidQuery(f"the globs are too large together: {error}") from error
