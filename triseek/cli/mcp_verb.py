"""`triseek mcp serve`.

Its common arguments are parsed here, without Typer: the client waits for the first answer, and
Typer would take a quarter of a second of that. Unusual ones (help, mistakes) are left to Typer.
"""

from __future__ import annotations

import os

from triseek.app import wings
from triseek.terminal import status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

USUAL = {"repo": "", "toolsets": "default", "http": ""}
"""Options of `triseek mcp serve`, and their defaults."""


def read(words: Sequence[str], usual: Mapping[str, str] = USUAL) -> dict[str, str] | None:
    """Parse the arguments to values by the names of `usual`; None if they are left to Typer."""
    options: dict[str, str] = {}
    following = iter(words)
    for word in following:
        name, is_joined, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in usual or name in options:
            return None
        argument = value if is_joined else next(following, None)
        if not argument or argument.startswith("-"):
            return None
        options[name] = argument
    return {**usual, **options}


def serve(repo: str, toolsets: str, http: str) -> int:
    """Serve until the client has left.

    Args:
        repo: The folder to answer for; "" to detect it.
        toolsets: Names, separated by commas.
        http: HOST:PORT to serve by HTTP; "" for standard input and output.

    Raises:
        InvalidRequest: There is no such toolset, or the address is invalid.
        Busy: The port is in use.
        StateUnwritable: The token cannot be stored.
    """
    if wings.unknown_toolsets(toolsets):
        from triseek.mcp import hosting

        hosting.known_toolsets(toolsets)  # raises
    if http:
        from triseek.mcp import hosting

        hosting.serve_http(repo, toolsets, http)
    else:
        from triseek.mcp import backends, pipe, prepared

        pipe.serve(backends.Opener(repo, toolsets), prepared.PreparedAnswers(toolsets))
    os._exit(status.FOUND)  # a normal exit would wait for a thread that still reads a file
