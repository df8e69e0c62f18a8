"""Queries as text: a tree written as a query, and encoders of literal texts.

Every value is in quotes behind a field, so that nothing in it is read as an operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.query.zoekt.go_text import escaped, invalid
from triseek.query.zoekt.parse import is_sensitive_by_itself
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

if TYPE_CHECKING:
    from triseek.query.zoekt.syntax import Node, Text

Field: TypeAlias = Literal["content", "file", "regex", "sym", "repo"]
_FIELDS = {"any": "regex", "file": "file", "content": "content"}


def literal(text: str, field: Field = "content") -> str:
    """Return a query that finds a literal text.

    Args:
        text: The text; an empty one matches everything.
        field: What the text is compared with: content, file name, either (regex), names of
            definitions, names of repositories.

    Raises:
        InvalidQuery: The text is not valid UTF-8, or an empty name of a definition.
    """
    if field == "sym" and not text:
        raise invalid("the sym: atom must have an argument")
    return _field(field, escaped(text))


def repo_name(name: str) -> str:
    """Return a query for the one repository of a name.

    Raises:
        InvalidQuery: The name is not valid UTF-8.
    """
    return _field("repo", f"^{escaped(name)}$")


def path_name(path: str | bytes) -> str:
    r"""Return a query for the files of one path, whose letters must have the same case.

    Raises:
        InvalidQuery: The path is not valid UTF-8, so that no query can name it.
    """
    if isinstance(path, bytes):
        path = path.decode("utf-8", "surrogateescape")
    pattern = rf"\A{escaped(path)}\z"
    return f"({_field('file', pattern)} case:yes)"


def text_of(node: Node) -> str:
    """Return a query that Zoekt reads as this tree, if the tree is simplified.

    Raises:
        InvalidQuery: A text in it is not valid UTF-8.
    """
    match node:
        case Const(value):
            return 'regex:""' if value else '-regex:""'
        case Not(child):
            return f"-{text_of(child)}"
        case And(children):
            return f"({' '.join(map(text_of, children))})"
        case Or(children):
            return f"({' or '.join(map(text_of, children))})"
        case Type(kind, child):
            return f"(type:{kind} {text_of(child)})"
        case RepoFlag(flag, value):
            return f"{flag}:{'yes' if value else 'no'}"
        case Repo(pattern):
            return _field("repo", pattern)
        case Language(name):
            return _field("lang", name) if name else '-regex:""'
        case Branch(pattern):
            return _field("branch", pattern)
        case Meta(field, pattern):
            return f"meta.{_quoted(f'{field}:{pattern}')}"
        case Symbol(name):
            return _with_case("sym", name)
        case Substring() | Regexp():
            return _with_case(_FIELDS[node.where], node)


def _with_case(field: str, node: Text) -> str:
    pattern = node.pattern if isinstance(node, Regexp) else escaped(node.pattern)
    text = _field(field, pattern)
    if node.case_sensitive == is_sensitive_by_itself(node):
        return text
    return f"({text} case:{'yes' if node.case_sensitive else 'no'})"


def _field(name: str, value: str) -> str:
    return f"{name}:{_quoted(value)}"


def _quoted(text: str) -> str:
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise invalid("query: it is not valid UTF-8")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
