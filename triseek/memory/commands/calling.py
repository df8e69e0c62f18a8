"""The memory and the palace on which a command works."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

from triseek.errors import InvalidRequest
from triseek.memory.service import Memory
from triseek.terminal.command_context import NeedsClient
from triseek.terminal.moments import moment_ms
from triseek.terminal.plain_words import Argument, Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.terminal.command_context import CommandContext

Palace = Annotated[str, Option("NAME", "The palace; that of this folder's repository if none.")]
Room = Annotated[str, Option("NAME", "Only this room.")]
Tag = Annotated[str, Option("NAME", "Only with this tag.")]
Since = Annotated[str, Option("WHEN", "Not older: 2026-10-01, or 30d.")]
Text = Annotated[list[str], Argument("TEXT", "The text; - reads it from standard input.")]
Drawer = Annotated[str, Argument("ID", "The drawer's id, or the beginning of it.")]

BEGINNING_MIN = 4
"""Characters of an id by which a drawer may be named."""
NOTHING_KEPT = "Nothing is kept here yet. Begin: triseek memory remember 'What is to be kept'"


@contextlib.contextmanager
def opened(context: CommandContext) -> Iterator[Memory]:
    """Yield the daemon's memory if the daemon runs the command, else one of this process."""
    if context.kept is not None:
        yield context.kept
        return
    memory = Memory()
    try:
        yield memory
    finally:
        memory.close()


def only_here(context: CommandContext) -> None:
    """Leave a command that writes to the process that the user started.

    If the daemon ended while it ran the command, its client would run it a second time.

    Raises:
        NeedsClient: This is the daemon.
    """
    if context.is_remote:
        raise NeedsClient("write")


def palace_to_read(memory: Memory, context: CommandContext, name: str) -> str:
    """Return the palace that is named or that of the working folder; "" if nothing is kept."""
    if not memory.exists():
        return ""
    return name or memory.palace_of(root_of(context))


def palace_to_write(memory: Memory, context: CommandContext, name: str) -> str:
    """Return the palace that is named, or that of the working folder, which is made if need be."""
    return name or memory.palace_of(root_of(context), creates=True)


def palace_to_change(memory: Memory, context: CommandContext, name: str) -> str:
    """Return the palace in which something is to be changed.

    Raises:
        InvalidRequest: The working folder has none, and none is named.
    """
    palace = palace_to_read(memory, context, name)
    if not palace:
        raise InvalidRequest(
            "this folder's repository has no palace",
            next_step="Name one with --palace; `triseek memory palaces` lists them.",
        )
    return palace


def drawer_named(memory: Memory, palace: str, name: str) -> str:
    """Return the UUID of the drawer that is named by it or by its beginning.

    Raises:
        InvalidRequest: None has this beginning, or several have.
    """
    step = "Take an id from `triseek memory list`."
    if len(name) < BEGINNING_MIN or not set(name.lower()) <= set("0123456789abcdef-"):
        raise InvalidRequest(f"{name!r:.60} is not the id of a drawer", next_step=step)
    matching = memory.begin_with(palace, name)
    if len(matching) > 1:
        raise InvalidRequest(f"several drawers begin with {name!r}", next_step="Write more of it.")
    if not matching:
        raise InvalidRequest(f"there is no drawer {name:.60} in palace {palace!r}", next_step=step)
    return matching[0]


def text_of(context: CommandContext, words: Sequence[str]) -> str:
    """Return the text of an argument; - stands for all of standard input.

    Raises:
        NeedsClient: Standard input is that of another process.
    """
    if list(words) == ["-"]:
        return context.read_stdin().decode("utf-8", "replace")
    return " ".join(words)


def since_ms(text: str) -> int:
    """Return the time of `--since` in Unix milliseconds; 0 if there is none."""
    return moment_ms(text) if text else 0


def share(text: str, name: str, default: float) -> float:
    """Return a number from 0 to 1. Raises InvalidRequest if the text is none."""
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:  # NaN is neither
        raise InvalidRequest(
            f"--{name} has to be a number from 0 to 1, not {text!r:.40}",
            next_step=f"Write --{name} 0.8, for example.",
        )
    return value


def root_of(context: CommandContext) -> str:
    """Return the root of the project of the working folder."""
    from triseek.memory.project import project_root

    return project_root(context.folder())
