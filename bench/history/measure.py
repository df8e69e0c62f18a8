"""Asks every question of a corpus and says where the answer stood."""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from bench import machine
from bench.history import corpora, searchers, transcripts
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.history.corpora import Haystack
    from bench.progress import Progress

SEED = 20261127
BY_COMMAND = 200
"""Questions that the command is asked by default: its answers have to be the tool's."""


class Answers(TypedDict):
    """What one program made of one corpus."""

    corpus: str
    program: str
    ranks: list[list[int]]
    """For each of the two halves of the haystacks (even and odd): ranks from 1; 0 if not found."""
    milliseconds: float
    """Median of a search."""
    by_command: int
    """Questions that `triseek history search` answered, each as the tool did; else 0."""
    command_milliseconds: float
    """Median of a search by the command, the start of its process included."""
    load: float
    """Runnable processes on average, at the end."""


def measure(
    name: str, path: Path, deja: Path | None, progress: Progress, commands: int = BY_COMMAND
) -> list[Answers]:
    """Ask all questions; the haystacks take turns in the two halves.

    commands: How many questions the command is asked, too.

    Raises:
        Faulty: The file is no corpus, the import skipped something, or the command's answer
            differs from the tool's.
    """
    haystacks = list(corpora.read(name, path))
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        home = Path(scratch).resolve()
        own = searchers.Own(home)
        ids = [
            transcripts.write(home / ".claude", _project(number), haystack.sessions)
            for number, haystack in enumerate(haystacks)
        ]
        progress.say(f"{name}: import of {sum(map(len, ids))} sessions")
        own.bring_in()
        answers = [asyncio.run(_ask_own(name, own, haystacks, ids, progress, commands))]
        if deja is not None:
            answers.append(_ask_deja(name, deja, home, haystacks, ids, progress))
    return answers


async def _ask_own(
    name: str,
    own: searchers.Own,
    haystacks: Sequence[Haystack],
    ids: Sequence[list[str]],
    progress: Progress,
    commands: int,
) -> Answers:
    """Ask the search tool everything, and the command a sample."""
    answers = _empty(name, "triseek")
    seconds: list[float] = []
    command_seconds: list[float] = []
    asked = [
        (number, at) for number, one in enumerate(haystacks) for at in range(len(one.questions))
    ]
    sample = set(random.Random(SEED).sample(asked, min(commands, len(asked))))
    async with own.served() as client:
        for number, haystack in enumerate(haystacks):
            progress.say(f"{name}: {number + 1}/{len(haystacks)} asked by the tool")
            for at, (question, gold) in enumerate(haystack.questions):
                listed, taken = await own.by_tool(client, question, _project(number))
                seconds.append(taken)
                answers["ranks"][number % 2].append(_rank(listed, ids[number], haystack, gold))
                if (number, at) in sample:
                    again, taken = own.by_command(question, _project(number))
                    command_seconds.append(taken)
                    if again != listed:
                        raise Faulty(f"tool and command differ: {question!r}: {listed} {again}")
    answers["milliseconds"] = _median_ms(seconds)
    answers["by_command"] = len(command_seconds)
    answers["load"] = machine.load()
    answers["command_milliseconds"] = _median_ms(command_seconds)
    return answers


def _ask_deja(
    name: str,
    program: Path,
    home: Path,
    haystacks: Sequence[Haystack],
    ids: Sequence[list[str]],
    progress: Progress,
) -> Answers:
    """Ask deja everything; each haystack has an index of its own."""
    answers = _empty(name, "deja")
    seconds: list[float] = []
    for number, haystack in enumerate(haystacks):
        progress.say(f"{name}: {number + 1}/{len(haystacks)} asked deja")
        folder = home / ".claude" / "projects" / f"-made-{_project(number)}"
        root = searchers.linked(folder, home / "linked" / str(number))
        deja = searchers.Deja(program, home / f"deja-{number}", root)
        deja.bring_in()
        for question, gold in haystack.questions:
            listed, taken = deja.by_command(question)
            seconds.append(taken)
            answers["ranks"][number % 2].append(_rank(listed, ids[number], haystack, gold))
    answers["milliseconds"] = answers["command_milliseconds"] = _median_ms(seconds)
    answers["load"] = machine.load()
    return answers


def figures(ranks: Sequence[int]) -> tuple[float, float, float]:
    """Return hit@1, hit@5 and the mean reciprocal rank; an answer not found counts 0."""
    count = len(ranks) or 1
    return (
        sum(rank == 1 for rank in ranks) / count,
        sum(1 <= rank <= 5 for rank in ranks) / count,
        sum(1 / rank for rank in ranks if rank) / count,
    )


def _empty(corpus: str, program: str) -> Answers:
    return {
        "corpus": corpus, "program": program, "ranks": [[], []], "milliseconds": 0.0,
        "by_command": 0, "command_milliseconds": 0.0, "load": 0.0,
    }  # fmt: skip


def _project(number: int) -> str:
    return f"haystack-{number:04}"


def _rank(
    listed: Sequence[str], ids: Sequence[str], haystack: Haystack, gold: frozenset[str]
) -> int:
    """Return the place of the first session with evidence, from 1; 0 if there is none."""
    right = {own for own, one in zip(ids, haystack.sessions, strict=True) if one.id in gold}
    return next((place for place, name in enumerate(listed, 1) if name in right), 0)


def _median_ms(seconds: Sequence[float]) -> float:
    return 1000 * statistics.median(seconds or [0.0])
