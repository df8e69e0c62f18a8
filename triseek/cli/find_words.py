"""The words of `triseek find-files`, where they are plain enough to be read without Typer.

Typer costs ten times what the command does, and the daemon has none. What is unusual here (help,
mistakes, bundled flags) is Typer's to read, so that there is one grammar: a test holds the two
readings together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class FindWords(NamedTuple):
    """What was typed after `triseek find-files`."""

    query: str
    path: str
    limit: int | None
    as_json: bool
    null: bool
    by_path: bool
    no_daemon: bool


SWITCHES = frozenset(("--json", "--null", "-0", "--by-path", "--no-daemon"))
LONGEST_NUMBER = 18
"""Digits of a limit; a longer one is unusual, and the interpreter refuses very long ones."""


def read(words: Sequence[str]) -> FindWords | None:
    """The words' meaning; `None` where Typer should say."""
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
