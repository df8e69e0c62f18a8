"""`triseek mcp serve`.

Its plain words are read here, without Typer: the client waits for the first answer, and Typer would
take a quarter of a second of that. What is unusual (help, mistakes) is Typer's to read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.cli import status
from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Sequence


class Words(NamedTuple):
    """What was typed after `triseek mcp serve`."""

    repo: str | None = None
    toolsets: str = "search,memo,session"
    http: str | None = None


def read(words: Sequence[str]) -> Words | None:
    """The words' meaning; None where Typer should say."""
    found: dict[str, str] = {}
    following = iter(words)
    for word in following:
        name, is_joined, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in Words._fields or name in found:
            return None
        given = value if is_joined else next(following, None)
        if not given or given.startswith("-"):
            return None
        found[name] = given
    return Words(**found)


def serve_from_words(words: Sequence[str]) -> int | None:
    """Serve, if the words are plain."""
    plain = read(words)
    return None if plain is None else serve(plain)


def serve(words: Words) -> int:
    """Serve until the client has left.

    Raises:
        InvalidRequest: there is no such toolset, or no such address.
        Busy: the port is in use.
        StateUnwritable: the token cannot be kept.
    """
    from triseek.ipc import ending
    from triseek.mcp import serve as serving
    from triseek.service.tools import TOOLSETS

    toolsets = [name for name in words.toolsets.replace(",", " ").split() if name]
    unknown = sorted(set(toolsets) - set(TOOLSETS))
    if unknown or not toolsets:
        raise InvalidRequest(
            f"no such toolset: {', '.join(unknown) or repr(words.toolsets)}",
            next_step=f"Choose among {', '.join(TOOLSETS)}.",
        )
    serving.serve(words.repo, toolsets, words.http)
    ending.now(status.FOUND)  # a thread that still reads a file would be waited for
