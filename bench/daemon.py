"""The daemon's own figures: memory, what asking it costs, a session beside others, edits seen."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from bench import edits, overhead, sessions, updates
from bench.engines.triseek_daemon import TriseekDaemon
from bench.engines.triseek_inprocess import TriseekInprocess
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.engines.base import Engine
    from bench.model import Case, Corpus
    from bench.profiles import Profile
    from bench.progress import Progress

_QUESTION_MS_MAX = 1000.0
_SESSION = 20
_BESIDE = ("triseek-daemon", "rg", "rgx")


def measure(
    corpus: Corpus,
    engines: Sequence[Engine],
    cases: Sequence[Case],
    searched: Sequence[dict[str, Any]],
    scratch: Path,
    profile: Profile,
    progress: Progress,
) -> dict[str, Any]:
    """All of it; empty where there is no daemon to measure.

    Args:
        corpus: what the engines have indexed.
        engines: those that have, and told the truth in the session's cases.
        cases: all that were asked.
        searched: their records, which say who was right.
        scratch: for a copy of the corpus, which is edited.
        profile: how many edits, how many questions.
        progress: told what is done.
    """
    daemon = next((one for one in engines if isinstance(one, TriseekDaemon)), None)
    inprocess = next((one for one in engines if one.name == "triseek"), None)
    if daemon is None or not profile.edits:
        return {}
    try:
        progress.say(f"{corpus.name}: the daemon's memory")
        told = {"memory": _memory(daemon, _answered(cases, searched, daemon), searched, profile)}
        if isinstance(inprocess, TriseekInprocess):
            progress.say(f"{corpus.name}: what asking the daemon costs")
            both = _answered(cases, searched, daemon, inprocess)
            told["overhead"] = overhead.measure(both, daemon, inprocess)
        progress.say(f"{corpus.name}: a session with the daemon")
        told["session"] = _session(cases, engines)
        progress.say(f"{corpus.name}: {profile.edits} edits")
        told["edits"] = _edits(daemon, corpus, scratch, profile)
    except Faulty as error:
        return {"status": "error", "note": str(error)}
    stale = told["edits"]["stale"]
    return {"status": "error" if stale else "equal", "note": f"{stale} stale answers"} | told


def _answered(
    cases: Sequence[Case], searched: Sequence[dict[str, Any]], *engines: Engine
) -> list[Case]:
    """The cases that all these engines answered as ripgrep does."""
    right = {
        case["name"]
        for case in searched
        if all("median_ms" in case["engines"].get(engine.name, {}) for engine in engines)
    }
    return [case for case in cases if case.name in right]


def _memory(
    daemon: TriseekDaemon,
    cases: Sequence[Case],
    searched: Sequence[dict[str, Any]],
    profile: Profile,
) -> dict[str, Any]:
    """Of a daemon that was just started, and after many questions of all sorts."""
    daemon.close()
    daemon.start()
    opened = daemon.memory()
    took = {case["name"]: case["engines"][daemon.name].get("median_ms", 0) for case in searched}
    quick = [case for case in cases if took[case.name] <= _QUESTION_MS_MAX]
    for case in itertools.islice(itertools.cycle(quick), profile.questions):
        daemon.ask(case)
    return {"open": opened, "asked": daemon.memory(), "questions": profile.questions}


def _session(cases: Sequence[Case], engines: Sequence[Engine]) -> dict[str, Any]:
    """A session of those questions that everybody takes (rgx has no globs)."""
    beside = [engine for engine in engines if engine.name in _BESIDE]
    asked = [
        case.name
        for name in sessions.CYCLE
        for case in cases
        if case.name == name and not any(engine.refuses(case) for engine in beside)
    ]
    if not asked:
        return {}
    return sessions.measure(_SESSION, cases, beside, names=asked) | {"cases": asked}


def _edits(
    daemon: TriseekDaemon, corpus: Corpus, scratch: Path, profile: Profile
) -> dict[str, Any]:
    with updates.copied(corpus, scratch) as copy:
        try:
            daemon.prepare(copy)
            return edits.measure(daemon, copy, profile.edits)
        finally:
            daemon.close()
