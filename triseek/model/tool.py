"""The declarations of a tool and of a wing, for the program, its clients and its documentation.

Input and output schemas, the list of tools and the reference page are derived from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

STRICT = {"use_attribute_docstrings": True, "extra": "forbid"}
"""How pydantic reads a request: unknown arguments are errors, field docstrings descriptions."""
ADDED = "added"
"""Marks a field of a result that the contract does not have: `Annotated[int, ADDED]`."""

CLUSTER = "cluster"
"""In `Tool.needs_toolset`, instead of a toolset: hosts that run Zoekt are configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool."""

    name: str
    title: str
    toolset: str
    """The name by which it is selected, together with the other tools of its wing."""
    request: type[Any]
    """A dataclass: its docstring describes the tool to agents, its fields are the arguments."""
    results: tuple[type[Any], ...]
    """The TypedDicts or dataclasses that an answer may be; most tools have one."""
    listed: str
    """The fields of the output schema, in order, separated by spaces; `results.path` is `path` of
    each of the `results`. Clients pay for each one, so not all fields are listed. A field listed
    without its own fields is an object of any kind."""
    answer: Callable[..., Any]
    """`answer(context, request, call)` returns the result; the context is the wing's. Raises
    `TriseekError`s."""
    digest: Callable[[str, Mapping[str, Any], Mapping[str, Any]], Iterator[str]]
    """`digest(name, arguments, result)` yields the lines of text that an agent reads."""
    kind: str
    """The kind of the entry that records a call in a session's log."""
    read_only: bool = True
    idempotent: bool = True
    """Whether calling it again changes nothing more."""
    destructive: bool = False
    """Whether it removes what cannot be brought back."""
    is_listed: bool = True
    """Whether clients see it in the list of tools; it can be called in any case."""
    needs_toolset: tuple[tuple[str, str], ...] = ()
    """Arguments, each with the toolset without which it is not listed, though it is understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wing:
    """One capability, declared in `wing.py` of its folder."""

    toolset: str
    """The name by which all its tools are selected together."""
    tools: tuple[Tool, ...]
    """In the order in which they are listed."""
    context: Callable[..., Any]
    """`context(host)` returns what the tools of one agent work on; `host` is a `ToolHost`."""
    needs_daemon: bool = False
    """Whether its tools work on what only the daemon keeps."""
    is_default: bool = True
    """Whether agents are offered its tools if no toolsets have been selected."""
