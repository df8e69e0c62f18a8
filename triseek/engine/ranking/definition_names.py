"""Location of the name that a line defines, found by matching the language's forms with RE2.

`defined_name` examines one line. `line_finder` combines a family's forms into one expression, which
finds the lines of a text that may define a name containing given words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import re2

from triseek.engine.ranking.definition_forms import (
    BRACES,
    FAMILIES,
    FORMS,
    HEADERS,
    NAMES,
    NEVER,
    RESERVED,
)
from triseek.query.globs.file_types import language_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Span: TypeAlias = tuple[int, int]
Match: TypeAlias = "Callable[[Any, bytes, int, int], Sequence[Span]]"
Finder: TypeAlias = "Callable[[bytes, int, int], int | None]"
"""Return the start of the first line in text[at:end] that may define something, or None. `at` must
be the start of a line."""

_WORD = rb"[\w$\x80-\xff]"
_TERM = rb"[\w$./+*?!<>=%@\x80-\xff-]"
_CAPTURING = {
    "NAME": rb"((?:[A-Za-z_$\x80-\xff])" + _WORD + rb"*)",
    "CONST": rb"([A-Z][A-Z0-9_]*)",
    "UPPER": rb"([A-Z]\w*)",
    "TERM": rb"(" + _WORD + _TERM + rb"*)",
}
_MEMORY_BYTES = 64 << 20
"""Memory limit of one RE2 program, including its cached states."""


def defined_name(line: bytes, family: str) -> Span | None:
    """Return the span of the name that a line (without its terminator) defines; None if none."""
    forms, size = _forms(family), len(line)
    if forms.never is not None and forms.never(_AT_START, line, 0, size)[0][0] >= 0:
        return None
    for match in forms.names:
        spans = match(_AT_START, line, 0, size)
        if spans[0][0] >= 0 and line[slice(*spans[1])] not in forms.reserved:
            return spans[1]
    return None


def family_of(path: bytes) -> str | None:
    """Return the language family of a file, by its name; None if its type defines no names."""
    name = path[path.rfind(b"/") + 1 :]
    dot = name.rfind(b".")
    if dot > 0 and name not in NAMES:
        return _of_suffix(name[dot:])
    return NAMES.get(name) or FAMILIES.get(language_of(name))


@lru_cache(maxsize=1024)
def _of_suffix(suffix: bytes) -> str | None:
    family = FAMILIES.get(language_of(b"any" + suffix))
    return "header" if family == "c" and suffix in HEADERS else family


@lru_cache(maxsize=256)
def line_finder(family: str, words: tuple[bytes, ...], *, whole: bool, any_case: bool) -> Finder:
    """Return a function that finds lines that may define a name containing one of these words.

    words: Empty to accept any name.
    whole: Accept only names equal to one of the words, except for names of the kind TERM.
    any_case: Ignore the case of ASCII letters.
    """
    flags = b"(?mi)" if any_case else b"(?m)"
    pattern = flags + b"^(?:" + _all_forms(family) + b")"
    for kind, name in _names_with(words, whole=whole).items():
        pattern = pattern.replace(_MARKS[kind], name)
    match = _matcher(pattern, capture=False)

    def find(text: bytes, at: int, end: int) -> int | None:
        begin = match(_ANYWHERE, text, at, end)[0][0]
        return begin if begin >= 0 else None

    return find


_MARKS = {kind: b"\0" + kind.encode() for kind in _CAPTURING}


@lru_cache(maxsize=len(FORMS))
def _all_forms(family: str) -> bytes:
    """Return a family's forms as one alternation, with a mark in place of each name."""
    return b"|".join(_expanded(form, _MARKS) for form in FORMS[family])


def _names_with(words: tuple[bytes, ...], *, whole: bool) -> dict[str, bytes]:
    """Return the subpattern to insert for each kind of name."""
    if not words:
        return {kind: name.replace(b"(", b"(?:", 1) for kind, name in _CAPTURING.items()}
    any_word = b"(?:" + b"|".join(map(_quoted, words)) + b")"
    whole_word = b"(?:" + b"|".join(map(_bounded, words)) + b")"
    name = whole_word if whole else _WORD + b"*" + any_word + _WORD + b"*"
    term = _TERM + b"*" + any_word + _TERM + b"*"  # may contain bytes that separate words
    return {"NAME": name, "CONST": name, "UPPER": name, "TERM": term}


def _quoted(word: bytes) -> bytes:
    return b"".join(b"\\x%02x" % byte for byte in word)


def _bounded(word: bytes) -> bytes:
    """Return a pattern for a word that is not part of a longer one.

    RE2 can check this on bytes only where the word begins or ends with an ASCII character.
    """
    begin, end = (
        b"\\b" if byte < 128 and byte != ord("$") else b"" for byte in (word[0], word[-1])
    )
    return begin + _quoted(word) + end


class _Forms(NamedTuple):
    """The compiled forms of a family."""

    names: tuple[Match, ...]
    never: Match | None
    reserved: frozenset[bytes]


@lru_cache(maxsize=len(FORMS))
def _forms(family: str) -> _Forms:
    never = NEVER.get(family)
    return _Forms(
        tuple(_matcher(_expanded(form, _CAPTURING), capture=True) for form in FORMS[family]),
        None if never is None else _matcher(_expanded(never, {}), capture=False),
        RESERVED if family in BRACES else frozenset(),
    )


def _matcher(pattern: bytes, *, capture: bool) -> Match:
    """Return RE2's own match method, because the wrapper in `re2` takes longer than the match."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = not capture
    options.max_mem = _MEMORY_BYTES
    match: Match = re2.compile(pattern, options)._regexp.Match  # noqa: SLF001
    return match


_AT_START = re2._Anchor.ANCHOR_START  # noqa: SLF001
_ANYWHERE = re2._Anchor.UNANCHORED  # noqa: SLF001


def _expanded(form: str, names: Mapping[str, bytes]) -> bytes:
    """Expand the shorthands of a form (see `definition_forms`)."""
    pattern = bytearray()
    in_class = False
    for piece in _PIECE.findall(form):
        if in_class:
            pattern += _IN_CLASS.get(piece) or piece.encode()
        else:
            pattern += names.get(piece) or _OUTSIDE.get(piece) or piece.encode()
        in_class = piece in ("[", "[^") or (in_class and piece != "]")
    return bytes(pattern)


_PIECE = re.compile(r"NAME|CONST|UPPER|TERM|\[\^|\\.|.", re.DOTALL)
"""A shorthand, an escaped character or a character."""
_BLANKS = rb"[ \t]"
_OUTSIDE = {" ": _BLANKS + b"+", "~": _BLANKS + b"*", "[^": rb"[^\n", "$": rb"\r?$"}
_IN_CLASS = {" ": rb" \t", "~": rb" \t"}
