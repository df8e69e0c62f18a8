"""What Typer makes of a command's words, to hold the readings without it against."""

from __future__ import annotations

from functools import cache
from typing import Any

import typer

from triseek.cli import command_tree


def typers_reading(words: list[str], *verb: str) -> dict[str, object] | None:
    """The parameters of `triseek VERB…` with these words; None: a mistake or help."""
    command = _command()
    for name in verb:
        command = command.commands[name]
    try:
        return command.make_context(verb[-1], list(words)).params
    except Exception:  # noqa: BLE001 - its own classes, which move from version to version
        return None


@cache
def _command() -> Any:
    """Typer's command for this module alone.

    A verb keeps the names of its help option from the first run, and here it runs without the group
    that gives it `-h`.
    """
    return typer.main.get_command(command_tree.app())
