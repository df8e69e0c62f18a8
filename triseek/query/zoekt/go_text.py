"""Text as Go writes it in messages: quoted strings, errors of regular expressions."""

from __future__ import annotations

from triseek.errors import InvalidQuery

_NAMED = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}
_SPECIAL = frozenset(r"\.+*?()|[]{}^$")
MOST_SHOWN = 500
"""Most characters of a wrong part that a message repeats; Go repeats all."""
NEXT_STEP = "Correct the query; docs/reference/query-language.md describes its fields."
TOOL_STEP = 'Correct the query; put text that is meant literally in quotes: content:"…".'


def quoted(text: str) -> str:
    """Return a text in double quotes as Go's verb %q writes it."""
    return '"' + "".join(_NAMED.get(sign) or _sign(sign) for sign in text) + '"'


def _sign(sign: str) -> str:
    if sign.isprintable():
        return sign
    code = ord(sign)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escaped(text: str) -> str:
    """Return a regular expression that matches a text literally."""
    return "".join("\\" + sign if sign in _SPECIAL else sign for sign in text)


def invalid(message: str) -> InvalidQuery:
    """Return the error of a query that cannot be understood."""
    return InvalidQuery(message, next_step=NEXT_STEP, tool_step=TOOL_STEP)


def invalid_regexp(problem: str, part: str) -> InvalidQuery:
    """Return the error of a regular expression, with the part that is wrong, shortened."""
    part = part if len(part) <= MOST_SHOWN else f"{part[:MOST_SHOWN]}…"
    part = part.replace("\n", r"\n")  # a message is one line
    return invalid(f"error parsing regexp: {problem}: `{part}`")
