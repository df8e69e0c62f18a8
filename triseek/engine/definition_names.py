"""Where the name stands that a line defines, by the forms of its language; read by RE2.

`defined_name` reads one line. `line_finder` makes one expression of a family's forms: it finds,
among many lines at once, those that may define a name that holds given words.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import re2

from triseek.engine.definition_forms import (
    BRACES,
    FAMILIES,
    FORMS,
    HEADERS,
    NAMES,
    NEVER,
    RESERVED,
)
from triseek.query.filetypes import language_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Span: TypeAlias = tuple[int, int]
Match: TypeAlias = "Callable[[Any, bytes, int, int], Sequence[Span]]"
Finder: TypeAlias = "Callable[[bytes, int, int], int | None]"
"""Where, in text[at:end], the first line begins that may define something; `at` begins a line."""

_WORD = rb"[\w$\x80-\xff]"
_TERM = rb"[\w$./+*?!<>=%@\x80-\xff-]"
_CAPTURING = {
    "NAME": rb"((?:[A-Za-z_$\x80-\xff])" + _WORD + rb"*)",
    "CONST": rb"([A-Z][A-Z0-9_]*)",
    "UPPER": rb"([A-Z]\w*)",
    "TERM": rb"(" + _WORD + _TERM + rb"*)",
}
_MEMORY_BYTES = 64 << 20
"""What one program of RE2's may take, its cached states included."""


def defined_name(line: bytes, family: str) -> Span | None:
    """Return where the name stands that a line (without its end) defines; None if it does not."""
    forms, size = _forms(family), len(line)
    if forms.never is not None and forms.never(_AT_START, line, 0, size)[0][0] >= 0:
        return None
    for match in forms.names:
        spans = match(_AT_START, line, 0, size)
        if spans[0][0] >= 0 and line[slice(*spans[1])] not in forms.reserved:
            return spans[1]
    return None


def family_of(path: bytes) -> str | None:
    """Return the family of languages of a file, by its name; None where nothing is defined."""
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
    """Return what finds the lines that may define a name with one of these words in it.

    words: none for any name at all.
    whole: Only names that are one of the words, where the language has such names.
    any_case: ASCII letters match in both cases.
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
    """A family's forms as one alternation, with a mark for each name."""
    return b"|".join(_expanded(form, _MARKS) for form in FORMS[family])


def _names_with(words: tuple[bytes, ...], *, whole: bool) -> dict[str, bytes]:
    """What stands for each kind of name."""
    if not words:
        return {kind: name.replace(b"(", b"(?:", 1) for kind, name in _CAPTURING.items()}
    held = b"(?:" + b"|".join(map(_quoted, words)) + b")"
    bounded = b"(?:" + b"|".join(map(_bounded, words)) + b")"
    name = bounded if whole else _WORD + b"*" + held + _WORD + b"*"
    term = _TERM + b"*" + held + _TERM + b"*"  # holds bytes that divide words
    return {"NAME": name, "CONST": name, "UPPER": name, "TERM": term}


def _quoted(word: bytes) -> bytes:
    return b"".join(b"\\x%02x" % byte for byte in word)


def _bounded(word: bytes) -> bytes:
    """A word that no longer one holds, as far as RE2 can say it of bytes: where it is ASCII."""
    begin, end = (
        b"\\b" if byte < 128 and byte != ord("$") else b"" for byte in (word[0], word[-1])
    )
    return begin + _quoted(word) + end


class _Forms(NamedTuple):
    """A family's forms, ready to read lines with."""

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
    """Return RE2's own match: what `re2` wraps around it takes longer than the match."""
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
    """Write out the shorthands of a form (see `definition_forms`)."""
    made = bytearray()
    in_class = False
    at = 0
    while at < len(form):
        piece = _piece(form, at)
        at += len(piece)
        if in_class:
            made += _IN_CLASS.get(piece) or piece.encode()
        else:
            made += names.get(piece) or _OUTSIDE.get(piece) or piece.encode()
        in_class = piece in ("[", "[^") or (in_class and piece != "]")
    return bytes(made)


_BLANKS = rb"[ \t]"
_OUTSIDE = {" ": _BLANKS + b"+", "~": _BLANKS + b"*", "[^": rb"[^\n", "$": rb"\r?$"}
_IN_CLASS = {" ": rb" \t", "~": rb" \t"}


def _piece(form: str, at: int) -> str:
    """The next thing that is read as one: a shorthand, an escaped character, a character."""
    for whole in (*_CAPTURING, "[^"):
        if form.startswith(whole, at):
            return whole
    return form[at : at + 2] if form[at] == "\\" else form[at]
