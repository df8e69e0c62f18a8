"""Memory of the daemon that imports what an agent has written, and is searched afterwards."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from bench.engines.triseek_daemon import memory_of, process_id
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.agents.client import Client
    from bench.history.searchers import Own
    from bench.model import Memory

WITHIN_S = 3_600.0
"""Seconds within which the daemon has to have imported everything."""
SETTLE_S = 15.0
"""Seconds in which a daemon that does nothing returns freed memory."""


class Following(TypedDict):
    """Memory of the daemon, its whole process."""

    before: Memory
    """An agent is connected and has searched an empty history; kernels are loaded."""
    imported: Memory
    """Everything has been imported and indexed; the peak is that of the import."""
    searched: Memory
    """After the searches; the peak is theirs."""
    seconds: float
    """From the transcripts' appearance until they could be searched."""


async def measure(own: Own, transcripts: Path, questions: list[str]) -> Following:
    """Let a daemon import transcripts, and search it.

    Args:
        own: A home folder in which nothing has been imported.
        transcripts: What becomes its `.claude` folder; put back at the end.
        questions: What is asked.
    """
    own.bring_in()  # the daemon follows agents that the person has imported once
    own.start()
    _await(own.is_warm)
    place = own.home / ".claude"
    async with own.served() as client:
        await _ask(own, client, questions[:1])
        time.sleep(SETTLE_S)
        before = _restarted_peak(own)
        transcripts.rename(place)
        try:
            began = time.perf_counter()
            _await((own.state / "history" / "recall" / "manifest.json").exists)
            seconds = time.perf_counter() - began
            time.sleep(SETTLE_S)
            imported = _restarted_peak(own)
            await _ask(own, client, questions)
            time.sleep(SETTLE_S)
            return {
                "before": before, "imported": imported, "searched": memory_of(own.state),
                "seconds": seconds,
            }  # fmt: skip
        finally:
            place.rename(transcripts)


async def _ask(own: Own, client: Client, questions: list[str]) -> None:
    for question in questions:
        await own.by_tool(client, question, "")


def _await(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not is_done():
        if time.monotonic() > deadline:
            raise Faulty(f"the daemon was not ready within {WITHIN_S:.0f} s")
        time.sleep(0.5)


def _restarted_peak(own: Own) -> Memory:
    """Return the daemon's memory, and begin a new peak."""
    memory = memory_of(own.state)
    Path(f"/proc/{process_id(own.state)}/clear_refs").write_text("5", encoding="ascii")
    return memory
