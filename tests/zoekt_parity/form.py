"""A syntax tree in the form in which Zoekt prints its own."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from triseek.query.zoekt.go_text import quoted
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
_REGEXP = re.compile(r'regex:("(?:[^"\\]|\\.)*")')


def form_of(node: Node) -> str:
    """Return the tree as Zoekt prints it; regular expressions are as they were typed."""
    match node:
        case Const(value):
            return "TRUE" if value else "FALSE"
        case Substring(pattern, sensitive, where):
            field = {"any": "", "file": "file_", "content": "content_"}[where]
            return f"{'case_' * sensitive}{field}substr:{quoted(pattern)}"
        case Regexp(pattern, sensitive, where):  # Zoekt does not print that it is for content only
            return f"{'case_' * sensitive}{'file_' * (where == 'file')}regex:{quoted(pattern)}"
        case Symbol(name):
            return f"sym:{form_of(name)}"
        case Repo(pattern):
            return f"repo:{pattern}"
        case Language(name):
            return f"lang:{name}"
        case Branch(pattern):
            return f"branch:{quoted(pattern)}"
        case RepoFlag(flag, value):
            return f"rawConfig:{_FLAGS[flag, value]}"
        case Meta(field, pattern):
            return f"meta.{field}:{pattern}"
        case Type(kind, child):
            return f"(type:{kind} {form_of(child)})"
        case Not(child):
            return f"(not {form_of(child)})"
        case And(children):
            return f"(and {' '.join(map(form_of, children))})"
        case Or(children):
            return f"(or {' '.join(map(form_of, children))})"


def without_regexps(form: str) -> tuple[str, list[str]]:
    """Return a form whose regular expressions are left out, and these."""
    patterns = [ast.literal_eval(match[1]) for match in _REGEXP.finditer(form)]
    return _REGEXP.sub("regex", form), patterns
