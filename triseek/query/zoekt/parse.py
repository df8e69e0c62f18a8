"""Parser of Zoekt's query language.

The grammar, what is refused and the messages are those of Zoekt's package `query`. Two things are
better here. A text that ignores case by itself, such as `(?i)abc`, stays a regular expression, in a
form that Zoekt reads as one: of the original it makes the literal `ABC`, which finds only capitals.
A negated `type:` or `case:` is refused, where Zoekt fails while it searches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from triseek.errors import InvalidQuery
from triseek.query.zoekt import go_regexp, go_tree
from triseek.query.zoekt.go_text import invalid, quoted
from triseek.query.zoekt.languages import canonical_name
from triseek.query.zoekt.simplify import simplify
from triseek.query.zoekt.syntax import (
    And,
    Branch,
    Const,
    Language,
    Meta,
    Not,
    Or,
    Regexp,
    Repo,
    RepoFlag,
    Substring,
    Symbol,
    Type,
)
from triseek.query.zoekt.tokens import QueryToken, next_token

if TYPE_CHECKING:
    from triseek.query.zoekt.syntax import Flag, Node, ResultType, Text, Where

MOST_BYTES = 100_000
"""Longest query that is read. Zoekt has no limit."""
MOST_DEPTH = 100
"""Most groups and negations inside each other."""

_Flavor: TypeAlias = Literal["yes", "no", "auto"]
_FLAVORS: dict[str, _Flavor] = {"yes": "yes", "no": "no", "auto": "auto"}
_TYPES: dict[str, ResultType] = {
    "filematch": "filematch",
    "filename": "filename",
    "file": "filename",
    "repo": "repo",
}
_TYPE_ORDER: tuple[ResultType, ...] = ("filematch", "filename", "repo")
_FLAGS: dict[str, Flag] = {"Archived": "archived", "Fork": "fork", "Public": "public"}
_WHERE: dict[str, Where] = {"Text": "any", "Regex": "any", "File": "file", "Content": "content"}


class _Case(NamedTuple):
    """A directive `case:`, which applies to its list."""

    flavor: _Flavor


class _TypeOf(NamedTuple):
    """A directive `type:`, which applies to its list."""

    kind: ResultType


@dataclass(frozen=True, slots=True)
class _Scoped:
    """An item of a list with a `case:` of its own, which outer lists do not change."""

    child: _Raw


class _Or:
    """The operator between two items of a list."""


_OR = _Or()
_Raw: TypeAlias = "Node | _Scoped"
_Item: TypeAlias = "_Raw | _Or"


def parse(text: str) -> Node:
    """Return the simplified syntax tree of a query.

    Raises:
        InvalidQuery: The query cannot be understood; the message is Zoekt's, where it refuses it.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise invalid(f"query: it is longer than {MOST_BYTES:,} bytes")
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise invalid("query: it is not valid UTF-8")
    items, end = _items(text, 0, 0)
    if end != len(text):
        raise invalid(f"query: extra tokens found at end input: {quoted(text[end:])}")
    return simplify(_unscoped(_alternatives(items)))


def _items(query: str, at: int, depth: int) -> tuple[list[_Item], int]:
    """Parse a list of expressions up to its end or a closing parenthesis."""
    items: list[_Item | _Case | _TypeOf] = []
    while at < len(query):
        at = _past_space(query, at)
        token = next_token(query, at) if at < len(query) else None
        if token is None or token.kind == "ParenClose":
            break
        if token.kind == "Or":
            items.append(_OR)
            at = token.end
            continue
        item, at = _expression(query, token, depth)
        items.append(item)
    return _with_directives(items), at


def _past_space(query: str, at: int) -> int:
    while query.startswith((" ", "\t"), at):
        at += 1
    return at


def _with_directives(items: list[_Item | _Case | _TypeOf]) -> list[_Item]:
    """Apply the directives of a list to its other items."""
    flavors = [item.flavor for item in items if isinstance(item, _Case)]
    kinds = [item.kind for item in items if isinstance(item, _TypeOf)]
    others = [item for item in items if not isinstance(item, _Case | _TypeOf)]
    flavor = flavors[-1] if flavors else "auto"
    out = [item if isinstance(item, _Or) else _with_case(item, flavor) for item in others]
    if kinds:
        out = [Type(min(kinds, key=_TYPE_ORDER.index), _alternatives(out))]  # type: ignore[arg-type]
    if flavors:
        out = [item if isinstance(item, _Or) else _Scoped(item) for item in out]
    return out


def _alternatives(items: list[_Item]) -> _Raw:
    """Return a list as alternatives of items that must all match."""
    groups: list[list[_Raw]] = [[]]
    for item in items:
        if isinstance(item, _Or):
            groups.append([])
        else:
            groups[-1].append(item)
    if len(groups) > 1 and not all(groups):
        raise invalid("query: OR operator should have operand")
    return Or(tuple(And(tuple(group)) for group in groups))  # type: ignore[arg-type]


def _expression(query: str, token: QueryToken, depth: int) -> tuple[_Raw | _Case | _TypeOf, int]:
    """Parse one expression that starts with `token`; return it and where it ends."""
    if token.kind not in ("Negate", "ParenOpen"):
        return _atom(token), token.end
    if depth == MOST_DEPTH:
        raise invalid(f"query: more than {MOST_DEPTH} groups or negations nest in each other")
    if token.kind == "Negate":
        return _negation(query, token.end, depth + 1)
    items, at = _items(query, token.end, depth + 1)
    close = next_token(query, at) if at < len(query) else None
    if close is None or close.kind != "ParenClose":
        raise invalid(f"query: missing close paren, got token {_shown(close)}")
    return _alternatives(items), close.end


def _negation(query: str, at: int, depth: int) -> tuple[Node, int]:
    at = _past_space(query, at)
    token = next_token(query, at) if at < len(query) else None
    if token is None or token.kind == "ParenClose":
        raise invalid("query: '-' operator needs an argument")
    child, end = _expression(query, token, depth)
    if isinstance(child, _Case | _TypeOf):
        name = "case:" if isinstance(child, _Case) else "type:"
        raise invalid(f"query: {name} applies to a whole list and cannot be negated")
    return Not(child), end  # type: ignore[arg-type]


def _shown(token: QueryToken | None) -> str:
    if token is None:
        return "<nil>"
    return f"{'' if token.kind == 'Content' else token.kind}:{quoted(token.text)}"


def _atom(token: QueryToken) -> Node | _Case | _TypeOf:
    """Return the meaning of a token that stands by itself."""
    text, kind = token.text, token.kind
    if kind in _WHERE:
        return _text(text, _WHERE[kind])
    if kind in _FLAGS:
        flag = _FLAGS[kind]
        if text not in ("yes", "no"):
            raise invalid(f"query: unknown {flag} argument {quoted(text)}, want {{yes,no}}")
        return RepoFlag(flag, text == "yes")
    match kind:
        case "Case":
            return _case(text)
        case "Type":
            return _type(text)
        case "Symbol":
            return _symbol(text)
        case "Meta":
            return _meta(text)
        case "Language":
            name = canonical_name(text)
            return Language(name) if name else Const(value=False)
        case "Branch":
            return Branch(text)
        case "Repo":
            go_regexp.parse(text, one_line=True)
            return Repo(text)
        case _:  # an `or` after a minus is an ordinary operator that has no place there
            raise invalid("query: '-' operator needs an argument")


def _case(text: str) -> _Case:
    if text not in _FLAVORS:
        raise invalid(f"query: unknown case argument {quoted(text)}, want {{yes,no,auto}}")
    return _Case(_FLAVORS[text])


def _type(text: str) -> _TypeOf:
    if text not in _TYPES:
        message = f"query: unknown type argument {quoted(text)}, want {{filematch,filename,repo}}"
        raise invalid(message)
    return _TypeOf(_TYPES[text])


def _symbol(text: str) -> Symbol:
    if not text:
        raise invalid("the sym: atom must have an argument")
    return Symbol(_text(text, "any"))


def _meta(text: str) -> Meta:
    field, colon, pattern = text.partition(":")
    if not colon:
        raise invalid(f"query: invalid meta field syntax {quoted(text)}")
    try:
        go_regexp.parse(pattern, one_line=True)
    except InvalidQuery as error:
        raise invalid(f"query: invalid regexp in meta value: {error}") from None
    return Meta(field, pattern)


def _text(pattern: str, where: Where) -> Text:
    """Return the node of a text; `case:` may change it afterwards."""
    tree = go_tree.simplified(go_regexp.parse(pattern))
    literal = go_tree.literal_text(tree)
    if literal is not None:
        return Substring(literal, case_sensitive=False, where=where)
    folded = go_tree.folded_literal(tree)
    return Regexp(folded or pattern, case_sensitive=False, where=where)


def _with_case(node: _Raw, flavor: _Flavor) -> _Raw:
    """Return a node whose texts respect case as `flavor` says."""
    match node:
        case Substring(pattern, _, where):
            return Substring(pattern, _is_sensitive(node, flavor), where)
        case Regexp(pattern, _, where):
            return Regexp(pattern, _is_sensitive(node, flavor), where)
        case Symbol(name):
            return Symbol(_with_case(name, flavor))  # type: ignore[arg-type]
        case And(children):
            return And(tuple(_with_case(child, flavor) for child in children))  # type: ignore[misc]
        case Or(children):
            return Or(tuple(_with_case(child, flavor) for child in children))  # type: ignore[misc]
        case Not(child):
            return Not(_with_case(child, flavor))  # type: ignore[arg-type]
        case Type(kind, child):
            return Type(kind, _with_case(child, flavor))  # type: ignore[arg-type]
        case _:
            return node


def _is_sensitive(node: Text, flavor: _Flavor) -> bool:
    return flavor == "yes" or (flavor == "auto" and is_sensitive_by_itself(node))


def is_sensitive_by_itself(node: Text) -> bool:
    """Return whether a text respects case where no `case:` says otherwise."""
    if isinstance(node, Substring):
        return any("A" <= sign <= "Z" for sign in node.pattern)
    return go_tree.names_upper_case(go_regexp.parse(node.pattern))


def _unscoped(node: _Raw) -> Node:
    """Return the tree without the marks of `case:`."""
    match node:
        case _Scoped(child):
            return _unscoped(child)
        case And(children):
            return And(tuple(_unscoped(child) for child in children))
        case Or(children):
            return Or(tuple(_unscoped(child) for child in children))
        case Not(child):
            return Not(_unscoped(child))
        case Type(kind, child):
            return Type(kind, _unscoped(child))
        case _:
            return node
