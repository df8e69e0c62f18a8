"""Translate what people and agents search for into expressions of SQLite's FTS5.

The documented syntax is that of FTS5: AND, OR, NOT, "phrases", `column: term`, `prefix*`, `^first`,
NEAR(a b, 5), parentheses. FTS5 itself refuses much that is searched for, such as `login.ts`,
`how-it-works` or `C++`. Here every query has a meaning: what is a term is quoted, what is not an
operator is a term, and a query that is not well-formed is a list of words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.recall.sub_tokens import WORD, is_cjk, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

TERMS_MAX = 64
"""Most terms of a query; further ones are dropped, since FTS5 limits the depth of expressions."""
DEPTH_MAX = 12
"""Most parentheses within each other."""
_OPERATORS = ("AND", "OR", "NOT")
_LEXEME = re.compile(
    r"""\s*(?:
      (?P<near>NEAR\s*\([^()]*\))
    | (?P<paren>[()])
    | (?P<column>-?(?:\{[\w\s]*\}|\w+)\s*:(?=\s*[\w"^({]))
    | (?P<caret>\^(?=\s*["\w]))
    | (?P<phrase>"(?:[^"]|"")*")
    | (?P<quoted>'(?=\S)[^']*'(?=[\s)]|$))
    | (?P<word>[^\s()"]+)
    | (?P<rest>\S)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Expression:
    """A query as FTS5 takes it."""

    match: str
    """The right side of MATCH; "" if the query has no word, so that nothing matches."""
    partial: str = ""
    """The expression for rows with any of the words, if the query is only a list of words."""
    interpreted: str = ""
    """How the query was understood, if that is not as it was written."""


class _Malformed(Exception):
    """The query is not well-formed in FTS5's syntax."""


def expression(query: str, columns: Collection[str]) -> Expression:
    """Return the expression of a query. Never fails.

    Args:
        query: Any text.
        columns: The names that may stand before a colon.
    """
    try:
        parsed = _Parser(query, columns).parse()
    except _Malformed:
        return _words(query)
    return parsed if parsed is not None else _words(query)


def words_only(query: str) -> Expression:
    """Return the expression for a query's words, whatever operators it seems to have."""
    return _words(query)


def _words(query: str) -> Expression:
    chunks = [chunk for chunk in query.split() if WORD.search(chunk)][:TERMS_MAX]
    operands = [chunk for chunk in chunks if chunk not in _OPERATORS] or chunks
    terms = list(dict.fromkeys(_term(chunk) for chunk in operands))
    single = [word for chunk in operands for word in WORD.findall(chunk)][:TERMS_MAX]
    each = list(dict.fromkeys(_term(word) for word in single))
    match = " AND ".join(terms)
    is_plain = re.fullmatch(r"[\w\s]*", query) is not None and operands == query.split()
    return Expression(match, " OR ".join(each) if len(each) > 1 else "", "" if is_plain else match)


def _term(text: str, *, is_prefix: bool = False) -> str:
    """Return the expression for a word or phrase; "" if it has no word."""
    words = WORD.findall(text)
    if not words:
        return ""
    exact = f'"{" ".join(words)}"' + ("*" if is_prefix else "")
    pieces = [piece for word in words for piece in parts(word) or [word]]
    if pieces == words and not is_cjk(pieces[-1]):
        return exact
    begins = "*" if is_prefix or (is_cjk(pieces[-1]) and len(pieces[-1]) == 1) else ""
    return f'({exact} OR "{" ".join(pieces)}"{begins})'


class _Parser:
    """Reads FTS5's syntax leniently and writes it again, each operator with its operands.

    A query without any operator is no concern of it: `parse` returns None.
    """

    def __init__(self, query: str, columns: Collection[str]) -> None:
        self._columns = columns
        self._has_operators = False
        self._is_list = True
        self._is_altered = False
        self._phrases: list[str] = []
        self._lexemes: list[tuple[str, str]] = []
        self._query = query
        self._at = 0
        self._depth = 0

    def parse(self) -> Expression | None:
        self._lexemes = self._lexed(self._query)
        if not self._has_operators:
            return None
        if sum(kind == "term" for kind, _ in self._lexemes) > TERMS_MAX:
            raise _Malformed
        match = self._either()
        if self._at < len(self._lexemes):
            raise _Malformed
        words = dict.fromkeys(_term(word) for text in self._phrases for word in WORD.findall(text))
        partial = " OR ".join(words) if self._is_list and len(words) > 1 else ""
        return Expression(match, partial, match if self._is_altered else "")

    def _lexed(self, query: str) -> list[tuple[str, str]]:
        """Return kinds and texts: `op`, `paren`, or `term`, whose text is an expression."""
        lexemes: list[tuple[str, str]] = []
        position, prefix = 0, ""
        while lexeme := _LEXEME.match(query, position):
            kind, text = str(lexeme.lastgroup), str(lexeme[lexeme.lastgroup or 0])
            position = lexeme.end()
            if kind == "column" and not self._is_column(text):
                # No column of ours: as much as stands here without a space is one word.
                rest = re.compile(r"[^\s()\"]*").match(query, position)
                text, kind = text + (rest[0] if rest else ""), "word"
                self._is_altered = True
                position = rest.end() if rest else position
            if kind in ("column", "caret"):
                # A column may stand before a caret, and nothing else before either.
                text = re.sub(r"\s+", " ", text)
                prefix = prefix + text if kind == "caret" and prefix[-1:] == ":" else text
                self._note_operator()
                continue
            if kind == "paren":
                is_opening = text == "("
                lexemes.append(("paren", prefix.rstrip("^") + text if is_opening else text))
            elif kind == "word" and text in _OPERATORS:
                self._note_operator()
                lexemes.append(("op", text))
            else:
                followed = query[position : position + 1]
                is_prefix = kind in ("phrase", "quoted") and followed == "*"
                position += is_prefix
                term = self._term_of(kind, text, is_prefix=is_prefix)
                if prefix.endswith("^"):
                    if kind == "near":
                        raise _Malformed
                    term = _exact(term)
                if term:
                    lexemes.append(("term", _in_column(prefix, term)))
            prefix = ""
        if prefix:
            raise _Malformed
        return lexemes

    def _is_column(self, text: str) -> bool:
        names = re.findall(r"\w+", text)
        return bool(names) and all(name.lower() in self._columns for name in names)

    def _note_operator(self) -> None:
        self._has_operators, self._is_list = True, False

    def _term_of(self, kind: str, text: str, *, is_prefix: bool) -> str:
        """Return the expression of one operand; "" if it has no word."""
        if kind == "near":
            return self._near(text)
        if kind in ("phrase", "quoted"):
            self._has_operators = True
            self._is_list &= not is_prefix
            text = text[1:-1]
        elif text.endswith("*") and WORD.search(text):
            self._note_operator()
            is_prefix = True
        self._phrases.append(text)
        return _term(text, is_prefix=is_prefix)

    def _near(self, text: str) -> str:
        """Return a NEAR group with its words quoted."""
        inside, _, distance = text[text.index("(") + 1 : -1].rpartition(",")
        if not inside or not distance.strip().isdigit():
            inside, distance = text[text.index("(") + 1 : -1], "10"
        words = " ".join(f'"{word}"' for word in WORD.findall(inside))
        self._note_operator()
        return f"NEAR({words}, {min(int(distance), 1_000)})" if words else ""

    def _either(self) -> str:
        return self._joined("OR", self._both)

    def _both(self) -> str:
        return self._joined("AND", self._without)

    def _without(self) -> str:
        return self._joined("NOT", self._sequence)

    def _joined(self, operator: str, operand: Callable[[], str]) -> str:
        operands = [operand()]
        while self._peek() == ("op", operator):
            self._at += 1
            operands.append(operand())
        return _grouped(operator, operands)

    def _sequence(self) -> str:
        """Return operands that follow each other without an operator: all must match."""
        operands = []
        while (lexeme := self._peek()) and lexeme[0] != "op" and lexeme[1] != ")":
            self._at += 1
            kind, text = lexeme
            operands.append(text if kind == "term" else self._parenthesized(text))
        if not operands:
            raise _Malformed
        return _grouped("AND", operands)

    def _parenthesized(self, opening: str) -> str:
        """Return a group; `opening` is its parenthesis, after the column it is for."""
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise _Malformed
        inside = self._either()
        if self._peek() != ("paren", ")"):
            raise _Malformed
        self._at += 1
        self._depth -= 1
        return f"{opening}{inside})"

    def _peek(self) -> tuple[str, str] | None:
        return self._lexemes[self._at] if self._at < len(self._lexemes) else None


def _in_column(column: str, term: str) -> str:
    """Return a term after its column; `sub` has the other spellings of all columns."""
    if not term.startswith("(") or not column or column.startswith("-"):
        return column + term
    exact, _, other = term[1:-1].partition(" OR ")
    return f"({column}{exact} OR sub:{other})"


def _exact(term: str) -> str:
    """Return a term without its other spellings, as FTS5 takes it after a caret."""
    return term[1:].partition(" OR ")[0] if term.startswith("(") else term


def _grouped(operator: str, operands: Sequence[str]) -> str:
    return operands[0] if len(operands) == 1 else f"({f' {operator} '.join(operands)})"
