"""The doctor's check of the memory: its size, and whether its database is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.agents.doctor.checks import fail, info, ok
from triseek.errors import TriseekError
from triseek.memory import inventory
from triseek.model.plain_text import counted
from triseek.terminal.report_text import human_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.doctor.checks import Finding
    from triseek.memory.service import Memory

WHAT = "memory"
CHECKED_MAX = 200_000_000
"""Bytes; a larger database is not read through, which would take seconds."""


def database(memory: Memory) -> Iterator[Finding]:
    """Check the database, if there is one."""
    if not memory.exists():
        return
    try:
        size = inventory.size(memory)
        with memory.database.read() as connection:
            counts = inventory.counts(connection)
        faults = memory.database.check() if size <= CHECKED_MAX else []
    except TriseekError as error:
        yield fail(WHAT, str(error), error.next_step)
        return
    if faults:
        more = f", and {len(faults) - 1:,} more" if len(faults) > 1 else ""
        yield fail(
            WHAT, f"{memory.database.path} is damaged: {faults[0]}{more}",
            "triseek memory export --all FILE, move the database away, triseek memory import FILE",
        )  # fmt: skip
        return
    drawers, facts = sum(entry.drawers for entry in counts), sum(entry.facts for entry in counts)
    yield ok(
        WHAT,
        f"{counted(drawers, 'drawer')} and {counted(facts, 'fact')} in"
        f" {counted(len(counts), 'palace')}, {human_size(size)}",
    )
    if size > CHECKED_MAX:
        yield info(WHAT, f"not read through: larger than {human_size(CHECKED_MAX)}")
