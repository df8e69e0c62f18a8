"""Splits a shell command into words, as far as possible without running it.

Only what POSIX shells and bash agree on is parsed: quotes, `&&`, `||`, `;`, `|`, plain
redirections, comments. Anything that needs the shell's own state (substitutions, subshells, here
documents, jobs) makes the whole command unknown. A word that the shell would expand (`$x`, `*.c`,
`~/a`, `{a,b}`) is None, so that it is not taken for a name.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

COMMAND_MAX = 1 << 16
"""Characters; longer commands contain whole files."""
_STEPS_MAX = 64
Word: TypeAlias = str | None
"""None: a word whose expansion by the shell is unknown."""

_TOKEN = re.compile(
    r"""
    (?P<blank> (?:[ \t]|\\\n)+ | \#[^\n]* )
  | (?P<redirect> (?P<stream>&|(?:[0-9]|\\\n)*) > (?:(?P<copies>&)|[>|])? )
  | (?P<joiner> && | \|\| | \|(?!&) | ;(?!;) | \n | \Z )
  | (?P<word> (?: '[^']*' | "(?:\\.|[^"\\])*" | \\. | [^ \t\n;|&<>()'"\\] )+ )
  | (?P<unknown> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_PART = re.compile(
    r"""
    '(?P<single>[^']*)'
  | "(?P<double>(?:\\.|[^"\\])*)"
  | \\(?P<escaped>.)
  | (?P<unknown> \$[({\['"] | ` )
  | (?P<expanded> \$(?:\w+|[?$!#@*-]) | \{(?!\}?\Z) | [*?\[\]] | ^[~=] )
  | (?P<plain> [\w/.-]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
"""A part of a word. A brace does not expand in `{` and `{}`; zsh expands `=ls`."""
_QUOTED_PART = re.compile(
    r"""
    \\(?P<escaped>[$`"\\\n])
  | (?P<unknown> \$(?:[({\['"]|\Z) | ` )
  | (?P<expanded> \$(?:\w+|[?$!#@*-]) )
  | (?P<plain> [\w/.-]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
"""A part of a text in double quotes."""


class Redirect(NamedTuple):
    """`2>/dev/null`, `>out`, `2>&1`."""

    stream: str
    """The descriptor; "&" for both."""
    target: Word
    """A path, or "&1" for another descriptor."""


class Step(NamedTuple):
    """One simple command and how it is joined to the one before."""

    joiner: str
    """"" for the first; "&&", "||", ";" or "|"."""
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


def steps(command: str) -> tuple[Step, ...] | None:
    """Split a command into steps; None if its words cannot be determined."""
    if len(command) > COMMAND_MAX or "\0" in command:
        return None
    try:
        parsed = _steps(command.replace("\\\r\n", "\\\n"))
    except _UnknownError:
        return None
    return tuple(parsed) if 0 < len(parsed) <= _STEPS_MAX else None


class _UnknownError(Exception):
    """The command uses something that only a shell can evaluate, or it is incomplete."""


def _steps(command: str) -> list[Step]:
    parsed: list[Step] = []
    joiner = ""
    words: list[Word] = []
    redirects: list[Redirect] = []
    pending: re.Match[str] | None = None  # a redirection whose target is the next word
    for token in _TOKEN.finditer(command):
        kind, text = token.lastgroup, token[0]
        if kind == "unknown" or (pending and kind in ("redirect", "joiner")):
            raise _UnknownError
        if kind == "redirect":
            pending = token
        elif kind == "word" and pending:
            redirects.append(_redirect(pending, _value(text, _PART)))
            pending = None
        elif kind == "word":
            words.append(_value(text, _PART))
        elif kind == "joiner" and (words or redirects):
            parsed.append(Step(joiner, tuple(words), tuple(redirects)))
            joiner, words, redirects = text.replace("\n", ";"), [], []
        elif text.strip() and kind == "joiner":
            raise _UnknownError  # `; ;`, `| |`: no shell accepts it
    if joiner in ("&&", "||", "|"):
        raise _UnknownError
    return parsed


def _redirect(token: re.Match[str], word: Word) -> Redirect:
    stream = token["stream"].replace("\\\n", "") or "1"
    if not token["copies"]:
        return Redirect(stream, word)
    is_descriptor = word is not None and re.fullmatch(r"\d|-", word)
    return Redirect(stream, f"&{word}") if is_descriptor else Redirect("&", word)


def _value(text: str, pattern: re.Pattern[str]) -> Word:
    """Return a word without its quotes and escapes; None if the shell would expand it.

    pattern: of its parts.
    """
    pieces: list[str] = []
    is_known = True
    for part in pattern.finditer(text):
        kind, piece = part.lastgroup, part[part.lastgroup or 0]
        if kind == "unknown":
            raise _UnknownError
        value = _value(piece, _QUOTED_PART) if kind == "double" else piece
        if value is None or kind == "expanded":
            is_known = False
        elif (kind, value) != ("escaped", "\n"):  # a line continuation
            pieces.append(value)
    return "".join(pieces) if is_known else None
