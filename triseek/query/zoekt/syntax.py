"""The syntax tree of a query in Zoekt's language.

The nodes are those of Zoekt's package `query`, so that one query means the same on a local index,
on several, and on a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Where: TypeAlias = Literal["any", "file", "content"]
"""What a text pattern is compared with: file name or content, file name, content."""
ResultType: TypeAlias = Literal["filematch", "filename", "repo"]
"""What a query lists: matches in files, names of files, repositories."""
Flag: TypeAlias = Literal["archived", "fork", "public"]


@dataclass(frozen=True, slots=True)
class Substring:
    """A literal text."""

    pattern: str
    case_sensitive: bool
    where: Where = "any"


@dataclass(frozen=True, slots=True)
class Regexp:
    """A regular expression that is no literal text, in Go's syntax (RE2)."""

    pattern: str
    case_sensitive: bool
    where: Where = "any"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A text that must match inside the name of a definition (`sym:`)."""

    name: Substring | Regexp


@dataclass(frozen=True, slots=True)
class Repo:
    """A case-sensitive, unanchored regular expression for the repository's name (`r:`)."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Language:
    """The language of a file, by its canonical name; "" matches nothing."""

    name: str


@dataclass(frozen=True, slots=True)
class Branch:
    """A text in the name of a branch; `HEAD` stands for the default branch."""

    pattern: str


@dataclass(frozen=True, slots=True)
class RepoFlag:
    """Whether a repository is archived, a fork or public."""

    flag: Flag
    value: bool


@dataclass(frozen=True, slots=True)
class Meta:
    """A regular expression for the value of a field of the repository's metadata."""

    field: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Type:
    """A query with the kind of its results; without this node they are matches in files."""

    kind: ResultType
    child: Node


@dataclass(frozen=True, slots=True)
class And:
    """All of the children match."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of the children matches."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The child does not match."""

    child: Node


@dataclass(frozen=True, slots=True)
class Const:
    """Every file matches, or none."""

    value: bool


Text: TypeAlias = Substring | Regexp
Node: TypeAlias = (
    Substring
    | Regexp
    | Symbol
    | Repo
    | Language
    | Branch
    | RepoFlag
    | Meta
    | Type
    | And
    | Or
    | Not
    | Const
)
