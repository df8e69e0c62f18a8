"""Import and search of many transcripts that a program made, by triseek and by deja in turn."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from bench import machine
from bench.history import following, made_corpus, searchers

if TYPE_CHECKING:
    from bench.command import Ended
    from bench.progress import Progress

SEED = 20261127
ROUNDS = 2
"""Imports by each program, in turn."""
QUESTIONS = 60
BY_COMMAND = 20
"""Questions that the commands are asked."""
WORDS = 4
"""Words of a question, from one prompt of the corpus."""
_SAMPLED = 200
"""Transcripts from which questions are drawn."""


class Scale(TypedDict):
    """What one program made of the made transcripts."""

    program: str
    import_seconds: list[float]
    import_cpu_seconds: list[float]
    peak_rss_bytes: int
    """Of the importing process, the greatest."""
    index_bytes: int
    search_ms: float
    """Median of a search by the command, its process's start included."""
    tool_ms: float
    """Median of a search by the tool; 0 if there is none."""


class MadeRun(TypedDict):
    """A run over made transcripts."""

    bytes: int
    files: int
    messages: int
    load: list[float]
    """Runnable processes on average, before and after."""
    programs: list[Scale]
    daemon: NotRequired[following.Following]


def measure(size: int, deja: Path | None, progress: Progress) -> MadeRun:
    """Make transcripts of about `size` bytes, import them by each program, and ask questions."""
    load = [machine.load()]
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        home = Path(scratch).resolve()
        progress.say(f"make {size:,} bytes of transcripts")
        messages = made_corpus.make(home / ".claude", size)
        files = sorted((home / ".claude" / "projects").rglob("*.jsonl"))
        questions = _questions(files)
        own, theirs = _empty("triseek"), _empty("deja")
        for number in range(ROUNDS):
            progress.say(f"import {number + 1}/{ROUNDS}")
            kept = searchers.Own(home, f"triseek-{number}")
            _note(own, kept.bring_in(), kept.size())
            if deja is not None:
                indexed = searchers.Deja(deja, home / f"deja-{number}", home / ".claude/projects")
                _note(theirs, indexed.bring_in(), indexed.size())
        progress.say(f"{len(questions)} searches")
        asyncio.run(_search(own, kept, questions))
        if deja is not None:
            taken = [indexed.by_command(question)[1] for question in questions[:BY_COMMAND]]
            theirs["search_ms"] = 1000 * statistics.median(taken)
        progress.say("import by the daemon")
        (home / "followed").mkdir()
        follower = searchers.Own(home / "followed")
        daemon = asyncio.run(following.measure(follower, home / ".claude", questions))
        return {
            "bytes": sum(path.stat().st_size for path in files), "files": len(files),
            "messages": messages, "load": [*load, machine.load()],
            "programs": [own, *([theirs] if deja is not None else [])], "daemon": daemon,
        }  # fmt: skip


async def _search(own: Scale, kept: searchers.Own, questions: list[str]) -> None:
    async with kept.served() as client:
        await kept.by_tool(client, questions[0], "")  # the first search loads what others use
        taken = [(await kept.by_tool(client, question, ""))[1] for question in questions]
        own["tool_ms"] = 1000 * statistics.median(taken)
        taken = [kept.by_command(one, "")[1] for one in questions[:BY_COMMAND]]
        own["search_ms"] = 1000 * statistics.median(taken)


def _questions(files: list[Path]) -> list[str]:
    """Return words of prompts, of transcripts drawn at random."""
    drawn = random.Random(SEED)
    chosen = drawn.sample(files, min(_SAMPLED, len(files)))
    prompts = []
    for path in chosen:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        prompts += [row["message"]["content"] for row in rows if row.get("promptId")]
    drawn.shuffle(prompts)
    return [" ".join(prompt.split()[:WORDS]) for prompt in prompts[:QUESTIONS]]


def _note(scale: Scale, ended: Ended, size: int) -> None:
    scale["import_seconds"].append(ended.seconds)
    scale["import_cpu_seconds"].append(ended.cpu_seconds)
    scale["peak_rss_bytes"] = max(scale["peak_rss_bytes"], ended.peak_rss_bytes)
    scale["index_bytes"] = size


def _empty(program: str) -> Scale:
    return {
        "program": program, "import_seconds": [], "import_cpu_seconds": [], "peak_rss_bytes": 0,
        "index_bytes": 0, "search_ms": 0.0, "tool_ms": 0.0,
    }  # fmt: skip
