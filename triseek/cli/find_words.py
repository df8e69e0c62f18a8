"""Parse the common arguments of `triseek find-files` without Typer.

Typer costs ten times as much as the command, and the daemon has none. Unusual arguments (help,
mistakes, bundled flags) are left to Typer, so that there is one grammar: a test checks that both
parsers agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class FindWords(NamedTuple):
    """Arguments of `triseek find-files`."""

    query: str
    path: str = ""
    """The folder; "" is the working folder."""
    limit: int | None = None
    as_json: bool = False
    null: bool = False
    """End each path with NUL instead of LF."""
    by_path: bool = False
    """Order all files by path, not by use."""
    no_daemon: bool = False


SWITCHES = frozenset(("--json", "--null", "-0", "--by-path", "--no-daemon"))
LONGEST_NUMBER = 18
"""Most digits of a limit; a longer one is unusual, and Python refuses very long ones."""


def read(words: Sequence[str]) -> FindWords | None:
    """Parse the arguments; None if they are left to Typer."""
    positional: list[str] = []
    switches: set[str] = set()
    limit: int | None = None
    following = iter(words)
    for word in following:
        if word == "--":
            positional += following
        elif word in SWITCHES:
            switches.add(word)
        elif word == "--limit" or word.startswith("--limit="):
            digits = word[8:] if "=" in word else next(following, "")
            if not (digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_NUMBER):
                return None
            limit = int(digits)
        elif word.startswith("-") and word != "-":
            return None
        else:
            positional.append(word)
    if not 1 <= len(positional) <= 2:
        return None
    return FindWords(
        query=positional[0],
        path="".join(positional[1:]),
        limit=limit,
        as_json="--json" in switches,
        null=bool(switches & {"--null", "-0"}),
        by_path="--by-path" in switches,
        no_daemon="--no-daemon" in switches,
    )
