"""A definition of a name in a file."""

from __future__ import annotations

from typing import NamedTuple


class Symbol(NamedTuple):
    """One definition, as a parser of the file's language or ctags reports it."""

    name: str
    kind: str
    """As ctags names it: class, struct, interface, enum, function, method, field, constant …"""
    line: int
    """Line of the name, from 1."""
    end_line: int
    """Last line of the definition; `line` if it is not known."""
    begin: int
    """Byte offset of the name in the file."""
    end: int
    """Byte offset behind the name."""
    parent: str = ""
    """Name of the definition that encloses it; "" if none does."""
    parent_kind: str = ""
