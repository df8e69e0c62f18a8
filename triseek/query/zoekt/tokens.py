"""Tokens of a query: words, quotes, parentheses and fields, as Zoekt reads them."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from triseek.query.zoekt.go_text import invalid

Kind: TypeAlias = Literal[
    "Archived", "Branch", "Case", "Content", "File", "Fork", "Language", "Meta", "Negate", "Or",
    "ParenClose", "ParenOpen", "Public", "Regex", "Repo", "Symbol", "Text", "Type",
]  # fmt: skip
"""What a token is, by Zoekt's names; `Content` has none in Zoekt's messages."""

FIELDS: dict[str, Kind] = {
    "archived:": "Archived",
    "b:": "Branch",
    "branch:": "Branch",
    "c:": "Content",
    "case:": "Case",
    "content:": "Content",
    "f:": "File",
    "file:": "File",
    "fork:": "Fork",
    "lang:": "Language",
    "meta.": "Meta",
    "public:": "Public",
    "r:": "Repo",
    "regex:": "Regex",
    "repo:": "Repo",
    "sym:": "Symbol",
    "t:": "Type",
    "type:": "Type",
}
_FIELD = re.compile("|".join(map(re.escape, FIELDS)))
_PLAIN = re.compile(r'[^()"\\ \n\t]+')
_QUOTED = re.compile(r'(?:[^"\\]|\\.)*+', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class QueryToken(NamedTuple):
    """A token and where it ends in the query."""

    kind: Kind
    text: str
    end: int


def next_token(query: str, start: int) -> QueryToken | None:
    """Return the token that starts at `start`, where no white space is; None if there is none.

    A line end ends a token, but does not separate two: at a line end there is no token.

    Raises:
        InvalidQuery: A quote does not end, or a backslash escapes nothing.
    """
    if query.startswith("-", start):
        return QueryToken("Negate", "-", start + 1)
    at, depth = start, 0
    parts: list[str] = []
    while at < len(query):
        sign = query[at]
        if plain := _PLAIN.match(query, at):
            parts.append(plain[0])
            at = plain.end()
        elif sign == '"':
            text, at = _quoted(query, at)
            parts.append(text)
        elif sign == "\\":
            if at + 1 == len(query):
                raise invalid("query: lone \\ at end")
            parts.append(query[at : at + 2])
            at += 2
        elif sign in " \n\t" or (sign == ")" and depth == 0):
            break
        else:
            depth += 1 if sign == "(" else -1
            parts.append(sign)
            at += 1
    return _token(query, start, at, "".join(parts), depth)


def _token(query: str, start: int, end: int, text: str, depth: int) -> QueryToken | None:
    if not text:
        is_close = query.startswith(")", end)
        return QueryToken("ParenClose", ")", end + 1) if is_close else None
    if text[0] == "(" and depth and end < len(query):
        return QueryToken("ParenOpen", "(", start + 1)  # white space inside makes it a group
    if text in ("(", ")"):  # even if quoted
        return QueryToken("ParenOpen" if text == "(" else "ParenClose", text, end)
    if text == "or" and end == start + 2:
        return QueryToken("Or", text, end)
    if field := _FIELD.match(query, start):
        return QueryToken(FIELDS[field[0]], text[len(field[0]) :], end)
    return QueryToken("Text", text, end)


def _quoted(query: str, start: int) -> tuple[str, int]:
    """Return the text in the quotes that open at `start`, and where it ends."""
    match = _QUOTED.match(query, start + 1)
    end = match.end() if match else start + 1
    if query.startswith('"', end):
        return _ESCAPED.sub(r"\1", query[start + 1 : end]), end + 1
    if query.startswith("\\", end):
        raise invalid("query: missing char after \\")
    raise invalid("query: unterminated quoted string")
