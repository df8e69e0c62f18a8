"""Simple shapes of globs, which almost all globs have and which need no regular expression.

A rule is expanded into shapes, any of which may match. A shape specifies what a path (or its last
component, its name) begins and ends with, or what the name contains, and what the file's folder
contains: `*.rs`, `src/**/*.c`, `vendor/`, `Makefile`, `*usb*`, `**/*usb*/**`, `**/tests/*.py`. Any
other rule still has a literal that all its matches contain.

A folder's text is matched against `/folder/` followed by a NUL byte: a text that begins with the
slash begins at the start of a component, one that ends with `/` and NUL ends where the folder ends.
"""

from __future__ import annotations

from itertools import groupby, product
from typing import TYPE_CHECKING, NamedTuple

from triseek.query.globs.gitignore import Token

if TYPE_CHECKING:
    from triseek.query.globs.gitignore import Rule, Tokens

_SPELLINGS_MAX = 64  # of one glob, with its classes and alternatives expanded
_CLASS_MAX = 8


class Shape(NamedTuple):
    """A glob without alternatives, as conditions on a path (or its name)."""

    begin: bytes
    end: bytes
    name_only: bool
    size_min: int
    exact: bool = False
    """Whether the path is exactly `size_min` bytes long."""
    same_component: bool = False
    """Whether there must be no separator between begin and end."""
    inside: bytes = b""
    """Text that the name contains; then begin and end are empty."""
    folder: bytes = b""
    """Text that the file's framed folder contains; a file in the root has no folder."""


def shapes_of(rule: Rule) -> list[Shape] | None:
    """Return the shapes of a rule; `None` if it needs a regular expression."""
    if not rule.body:
        return None
    spelled = _spellings(_speaking(rule))
    if spelled is None:
        return None
    shapes: list[Shape] = []
    for spelling in spelled:
        expanded = _shape(spelling, rule)
        if expanded is None:
            return None
        shapes.extend(expanded)
    return shapes


def literal_of(rule: Rule) -> bytes:
    """Return the longest literal that every match of the rule contains; empty if there is none.

    It is in the name if the rule matches names only; in lower case if case is folded.
    """
    runs = [
        b"".join(token.text for token in run)
        for is_literal, run in groupby(_speaking(rule), lambda token: token.kind == "literal")
        if is_literal
    ]
    longest = max(runs, key=len, default=b"")
    return longest.lower() if rule.fold_case else longest


def _speaking(rule: Rule) -> Tokens:
    """Return the tokens that the rule's body represents."""
    tokens = rule.tokens
    has_prefix = rule.name_only and len(tokens) > 1 and tokens[0].kind == "prefix"
    return tokens[1:] if has_prefix else tokens


def _shape(tokens: Tokens, rule: Rule) -> list[Shape] | None:
    if rule.fold_case:
        tokens = tuple(token._replace(text=token.text.lower()) for token in tokens)
    if rule.name_only:
        named = _of_name(tokens)
        return None if named is None else [named]
    if tokens and tokens[0].kind == "prefix":
        below = _of_folder(tokens[1:])
        if below is not None:
            return [below]
    return _of_path(*_split(tokens))


def _of_name(tokens: Tokens) -> Shape | None:
    """Return the shape of a name; None if the tokens have none or match more than a name."""
    if any(token.text == b"/" for token in tokens):
        return None
    begin, middle, end = _split(tokens)
    size = len(begin) + len(end)
    if not middle:
        return Shape(begin, b"", True, size, exact=True)
    if all(token.kind == "star" for token in middle):
        return Shape(begin, end, True, size, same_component=True)
    starred = _starred(tokens)
    if starred is None or not (starred.after_star and starred.before_star):
        return None
    return Shape(b"", b"", True, 0, inside=starred.text)


def _of_folder(tokens: Tokens) -> Shape | None:
    """Return the shape of the tokens after a `**/`; None unless the folder part is one literal."""
    crossing = [
        at
        for at, token in enumerate(tokens)
        if token.kind not in ("literal", "star") or token.text == b"/"
    ]
    if not crossing or tokens[crossing[-1]].kind not in ("between", "literal"):
        return None
    starred, name = _starred(tokens[: crossing[-1]]), _of_name(tokens[crossing[-1] + 1 :])
    if starred is None or name is None or starred.text[:1] == b"/" or starred.text[-1:] == b"/":
        return None
    text = starred.text if starred.after_star else b"/" + starred.text
    if tokens[crossing[-1]].kind == "literal":
        # The folder ends here; a star before its end would match no separator.
        return None if starred.before_star else name._replace(folder=text + b"/\0")
    return name._replace(folder=text if starred.before_star else text + b"/")


def _of_path(begin: bytes, middle: Tokens, end: bytes) -> list[Shape] | None:
    gap = tuple(token.kind for token in middle)
    size = len(begin) + len(end)
    if not gap:
        return [Shape(begin, b"", False, size, exact=True)]
    if set(gap) == {"star"} and b"/" not in end:
        return [Shape(begin, end, False, size, same_component=True)]
    if gap == ("prefix",) and not begin and end:
        return [Shape(end, b"", False, size, exact=True), Shape(b"", b"/" + end, False, size)]
    if gap == ("suffix",) and not end:
        return [Shape(begin + b"/", b"", False, size + 1)]
    if gap == ("between",):
        return [Shape(begin + b"/", b"/" + end, False, size + 1)]
    if gap == ("between", "star") and b"/" not in end:
        return [Shape(begin + b"/", end, False, size + 1)]
    return None


def _split(tokens: Tokens) -> tuple[bytes, Tokens, bytes]:
    """Split into leading literals, tokens from the first to the last non-literal, and the rest."""
    other = [at for at, token in enumerate(tokens) if token.kind != "literal"]
    first, last = (other[0], other[-1] + 1) if other else (len(tokens), len(tokens))
    begin = b"".join(token.text for token in tokens[:first])
    end = b"".join(token.text for token in tokens[last:])
    return begin, tokens[first:last], end


class _Starred(NamedTuple):
    """A literal, optionally with stars on either side."""

    after_star: bool
    text: bytes
    before_star: bool


def _starred(tokens: Tokens) -> _Starred | None:
    """Return the tokens as one literal of at least one byte; None if they are not one."""
    solid = [at for at, token in enumerate(tokens) if token.kind != "star"]
    if not solid:
        return None
    inner = tokens[solid[0] : solid[-1] + 1]
    if any(token.kind != "literal" for token in inner):
        return None
    text = b"".join(token.text for token in inner)
    return _Starred(solid[0] > 0, text, solid[-1] + 1 < len(tokens))


def _spellings(tokens: Tokens) -> list[Tokens] | None:
    """Expand a glob's small classes and alternatives; return `None` if there are too many."""
    columns: list[list[Tokens]] = []
    count = 1
    for token in tokens:
        choices = _choices(token)
        if choices is None:
            return None
        count *= len(choices)
        if count > _SPELLINGS_MAX:
            return None
        columns.append(choices)
    return [tuple(part for parts in choice for part in parts) for choice in product(*columns)]


def _choices(token: Token) -> list[Tokens] | None:
    if token.kind == "class":
        members = sorted(token.members - {0})
        if len(members) > _CLASS_MAX:
            return None
        return [(Token("literal", text=bytes([byte])),) for byte in members]
    if token.kind == "either":
        # An empty alternative is dropped, as in the regular expression.
        branches = [branch for branch in token.branches if branch]
        plain = all(inner.kind == "literal" for branch in branches for inner in branch)
        return (branches or [()]) if plain else None
    return None if token.kind == "any" else [(token,)]
