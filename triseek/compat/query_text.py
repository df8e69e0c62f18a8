"""A query as Zoekt shows it in the field `Query` of an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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
    from triseek.query.zoekt.syntax import Node

_FLAGS = {
    ("public", True): "RcOnlyPublic",
    ("public", False): "RcOnlyPrivate",
    ("fork", True): "RcOnlyForks",
    ("fork", False): "RcNoForks",
    ("archived", True): "RcOnlyArchived",
    ("archived", False): "RcNoArchived",
}


def shown(node: Node) -> str:
    """Return a query as Zoekt prints it."""
    match node:
        case Substring(pattern, is_sensitive, where):
            of = {"any": "", "file": "file_", "content": "content_"}[where]
            return f"{'case_' * is_sensitive}{of}substr:{_quoted(pattern)}"
        case Regexp(pattern, is_sensitive, where):
            of = "file_" if where == "file" else ""
            return f"{'case_' * is_sensitive}{of}regex:{_quoted(pattern)}"
        case Symbol(name):
            return f"sym:{shown(name)}"
        case Repo(pattern):
            return f"repo:{pattern}"
        case Language(name):
            return f"lang:{name}"
        case Branch(pattern):
            return f"branch:{_quoted(pattern)}"
        case RepoFlag(flag, value):
            return f"rawConfig:{_FLAGS[flag, value]}"
        case Meta(field, pattern):
            return f"meta.{field}:{pattern}"
        case Type(kind, child):
            return f"(type:{kind} {shown(child)})"
        case And(children):
            return f"(and {' '.join(map(shown, children))})"
        case Or(children):
            return f"(or {' '.join(map(shown, children))})"
        case Not(child):
            return f"(not {shown(child)})"
        case Const(value):
            return "TRUE" if value else "FALSE"


def _quoted(text: str) -> str:
    """Quote a text as Go's %q does, but for characters that cannot be printed."""
    return json.dumps(text, ensure_ascii=False)


def is_about_repositories(node: Node) -> bool:
    """Return whether a query has no other atoms than names of repositories, or lists those."""
    if isinstance(node, Type) and node.kind == "repo":
        return True
    return all(isinstance(atom, Repo) for atom in _atoms(node))


def _atoms(node: Node) -> list[Node]:
    match node:
        case And(children) | Or(children):
            return [atom for child in children for atom in _atoms(child)]
        case Not(child) | Type(_, child):
            return _atoms(child)
    return [node]
