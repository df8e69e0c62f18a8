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

_EXPANDS = frozenset("*?[]")
_ESCAPED = ("$", "`", '"', "\\", "\n")
"""Characters that a backslash escapes within double quotes."""
_SUBSTITUTION = re.compile(r"\$[({\['\"]|`")
_VARIABLE = re.compile(r"\$(?:\w+|[?$!#@*-])")


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
        parsed = _Splitter(command).run()
    except _UnknownError:
        return None
    return tuple(parsed) if 0 < len(parsed) <= _STEPS_MAX else None


class _UnknownError(Exception):
    """The command uses something that only a shell can evaluate."""


class _Splitter:
    """A single-pass parser of a command."""

    def __init__(self, command: str) -> None:
        self.rest = command.replace("\\\r\n", "\\\n")
        self.at = 0
        self.steps: list[Step] = []
        self.joiner = ""
        self._begin()

    def _begin(self) -> None:
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []
        self.pending = ""  # the descriptor whose target is the next word
        self._begin_word()

    def _begin_word(self) -> None:
        self.letters: list[str] = []
        self.inside = False  # within a word; a quoted word may be empty
        self.quoted = False
        self.known = True

    def run(self) -> list[Step]:
        while self.at < len(self.rest):
            self._letter(self.rest[self.at])
        self._end_step("")
        if self.joiner in ("&&", "||", "|"):
            raise _UnknownError  # the command is incomplete
        return self.steps

    def _letter(self, letter: str) -> None:
        if letter in " \t":
            self._end_word()
            self.at += 1
        elif letter == "#" and not self.inside:
            end = self.rest.find("\n", self.at)
            self.at = len(self.rest) if end < 0 else end
        elif letter in ";\n|&":
            self._operator(letter)
        elif letter == ">":
            self._redirect()
        elif letter in "<()":
            raise _UnknownError
        else:
            self._part(letter)

    def _part(self, letter: str) -> None:
        """Handle a character of a word, or the quotes, escape or variable that it begins."""
        at_start, self.inside = not self.inside, True
        if letter == "'":
            self._single()
        elif letter == '"':
            self._double()
        elif letter == "\\":
            self._escape()
        elif letter in "$`":
            self._variable()
        else:
            expands = letter in _EXPANDS or (letter == "{" and not self._alone())
            if expands or (letter in "~=" and at_start):  # zsh expands `=ls`
                self.known = False
            self.letters.append(letter)
            self.at += 1

    def _alone(self) -> bool:
        """Whether a brace is a word of its own, or `{}`."""
        return re.match(r"\{\}?(?=[\s;|&]|$)", self.rest[self.at :]) is not None

    def _single(self) -> None:
        end = self.rest.find("'", self.at + 1)
        if end < 0:
            raise _UnknownError
        self.letters.append(self.rest[self.at + 1 : end])
        self.quoted, self.at = True, end + 1

    def _double(self) -> None:
        self.quoted = True
        self.at += 1
        while True:
            letter = self.rest[self.at : self.at + 1]
            if letter == '"':
                self.at += 1
                return
            if letter == "\\" and self.rest.startswith(_ESCAPED, self.at + 1):
                self._escape()
            elif letter in ("$", "`"):
                self._variable()
            elif letter:
                self.letters.append(letter)
                self.at += 1
            else:
                raise _UnknownError

    def _escape(self) -> None:
        letter = self.rest[self.at + 1 : self.at + 2]
        if not letter:
            raise _UnknownError
        if letter != "\n":
            self.letters.append(letter)
            self.quoted = True
        elif not self.letters and not self.quoted:
            self.inside = False  # a line continuation begins no word
        self.at += 2

    def _variable(self) -> None:
        if _SUBSTITUTION.match(self.rest, self.at):
            raise _UnknownError
        name = _VARIABLE.match(self.rest, self.at)
        if name is not None:
            self.known = False
        self.letters.append(name[0] if name else "$")
        self.at += len(self.letters[-1])

    def _operator(self, letter: str) -> None:
        two = self.rest[self.at : self.at + 2]
        if two == "&>":
            self._end_word()
            self.at += 1
            self._redirect("&")
            return
        if two in ("|&", ";;") or (letter == "&" and two != "&&"):
            raise _UnknownError
        joiner = two if two in ("&&", "||") else (";" if letter in ";\n" else letter)
        self.at += len(two) if two in ("&&", "||") else 1
        self._end_step(joiner, is_break=letter == "\n")

    def _redirect(self, stream: str = "") -> None:
        plain = "".join(self.letters)
        if self.inside and not self.quoted and plain.isascii() and plain.isdigit():
            stream = plain
            self._begin_word()
        self._end_word()
        two = self.rest[self.at : self.at + 2]
        copies = two == ">&"
        self.at += 2 if two in (">>", ">|", ">&") else 1
        self._must_not_wait()
        self.pending = (stream or "1") + ("=" if copies else ">")

    def _must_not_wait(self) -> None:
        if self.pending:
            raise _UnknownError  # a redirection without its target

    def _end_word(self) -> None:
        if not self.inside:
            return
        word = "".join(self.letters) if self.known else None
        if not self.pending:
            self.words.append(word)
        else:
            stream, copies = self.pending[:-1], self.pending[-1] == "="
            if copies and (word is None or not re.fullmatch(r"\d|-", word)):
                stream, copies = "&", False
            self.redirects.append(Redirect(stream, f"&{word}" if copies else word))
            self.pending = ""
        self._begin_word()

    def _end_step(self, joiner: str, *, is_break: bool = False) -> None:
        self._end_word()
        self._must_not_wait()
        if not self.words and not self.redirects:
            if joiner and not is_break:
                raise _UnknownError  # `;;`, `| |`: no shell accepts it
            return
        self.steps.append(Step(self.joiner, tuple(self.words), tuple(self.redirects)))
        self.joiner = joiner
        self._begin()
