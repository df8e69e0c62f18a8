"""Play the sessions, cut them, and see what each arm holds of what came after."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from bench.handoff import conversations, histories, workdays
from bench.handoff.arms import ARMS, BUDGETS, PARTS
from bench.handoff.branches import digest
from bench.handoff.metrics import Held, held
from bench.handoff.stage import state
from triseek.engine.service import Service
from triseek.model.token_estimate import TEXT_BYTES_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from bench.handoff.histories import Project
    from bench.handoff.stage import Cut, Played
    from bench.progress import Progress

_DIGITS = 3


def run(
    half: str,
    projects: Sequence[Project],
    clones: Mapping[str, Path],
    days: Sequence[Path],
    progress: Progress,
) -> dict[str, Any]:
    """Measure a half; returns a record of it, without a word of any history.

    Args:
        half: tuning or reported.
        projects: histories to make sessions of.
        clones: by project, where its history is; others are cloned.
        days: recorded workdays; all of them are reported.
        progress: is told what is being done.
    """
    begun = dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")
    with state() as folder, Service() as service:
        progress.say("handoff: conversations")
        carried = conversations.run(service, folder / "conversations")
        played = _played(half, projects, clones, days, service, folder, progress)
        sessions = [measured(one) for one in played]
    return {
        "begun": begun,
        "half": half,
        "seed": histories.SEED,
        "budgets": list(BUDGETS),
        "fields": list(Held._fields),
        "sessions_digest": digest([one["name"] for one in sessions]),
        "conversations": carried,
        "sessions": sessions,
        "faults": [
            *conversations.faults(carried),
            *(fault for one in sessions for fault in one.pop("faults")),
        ],
    }


def _played(
    half: str,
    projects: Sequence[Project],
    clones: Mapping[str, Path],
    days: Sequence[Path],
    service: Service,
    folder: Path,
    progress: Progress,
) -> Iterator[Played]:
    for day in days if half == "reported" else ():
        progress.say(f"handoff: {day.name}")
        yield workdays.play(day, service, folder / day.name)
    for project in projects:
        progress.say(f"handoff: {project.name}")
        yield from histories.play_all(project, clones, half, service, folder)


def measured(played: Played) -> dict[str, Any]:
    """What each arm held of one session at each cut."""
    cuts = [_cut(cut) for cut in played.cuts]
    return {
        "name": played.name,
        "kind": played.kind,
        "group": played.group,
        "entries": played.entries,
        "cuts": cuts,
        "faults": [f"{played.name}, {fault}" for cut in cuts for fault in cut.pop("faults")],
    }


def faults(name: str, texts: Sequence[str]) -> Iterator[str]:
    """What must not be of a text for each budget: that it is longer, or a payload and empty."""
    for budget, text in zip(BUDGETS, texts, strict=True):
        size = len(text.encode("utf-8", "surrogateescape"))
        if size > budget * TEXT_BYTES_PER_TOKEN:
            yield f"{name}: {size} bytes, of a budget of {budget} tokens"
        if not size and name in ("payload", *PARTS):
            yield f"{name}: is empty"


def _cut(cut: Cut) -> dict[str, Any]:
    wanted = cut.needs
    arms = {name: [arm(cut, each) for each in BUDGETS] for name, arm in {**ARMS, **PARTS}.items()}
    return {
        "share": cut.share,
        "files": len(cut.files),
        "needed": len(wanted.files),
        "edited": len(wanted.edited),
        "met": len(wanted.files & wanted.met),
        "asked": len(wanted.asked),
        "dead_ends": len(wanted.dead_queries) + len(wanted.dead_files),
        "arms": {name: _held(texts, cut) for name, texts in arms.items()},
        "faults": [one for name, texts in arms.items() for one in faults(name, texts)],
    }


def _held(texts: Sequence[str], cut: Cut) -> list[list[float | None]]:
    """By budget; a larger one often gives the same text."""
    known = {text: _rounded(held(text, cut.needs, cut.files)) for text in dict.fromkeys(texts)}
    return [known[text] for text in texts]


def _rounded(found: Held) -> list[float | None]:
    return [None if value is None else round(value, _DIGITS) for value in found]
