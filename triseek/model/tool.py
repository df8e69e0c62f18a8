"""The declaration of a tool: all that the program, its clients and its documentation say of it.

Input and output schemas, the list of tools and the reference page are derived from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Toolset: TypeAlias = Literal["search", "memo", "session"]
ADDED = "added"
"""Marks a field of a result that the contract does not have: `Annotated[int, ADDED]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool."""

    name: str
    title: str
    toolset: Toolset
    request: type[Any]
    """A dataclass: its docstring describes the tool to agents, its fields are the arguments."""
    results: tuple[type[Any], ...]
    """The TypedDicts or dataclasses that an answer may be: for most tools there is one."""
    listed: str
    """The fields of the output schema, in order, separated by spaces; `results.path` is `path` of
    each of the `results`. Clients pay for each one, so it is not all fields: a field named without
    its own fields is an object of any kind."""
    answer: Callable[..., Any]
    """`answer(desk, request, call)` returns the result. Raises `TriseekError`s."""
    kind: str
    """What an entry of a session's log about a call is called."""
    read_only: bool = True
    idempotent: bool = True
    """Whether calling it again changes nothing more."""
