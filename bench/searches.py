"""One case: compare all answers, then time those that are right, turn by turn."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bench import figures
from bench.answer import compare
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from bench.answer import Answer
    from bench.engines.base import Engine
    from bench.model import Case
    from bench.profiles import Profile


def measure(
    case: Case, engines: Sequence[Engine], listed: AbstractSet[bytes], profile: Profile
) -> dict[str, Any]:
    """The record of one case; an engine with a wrong answer gets no times but an error."""
    reference = _reference(case, engines)
    told = {engine.name: _verify(case, engine, reference, listed) for engine in engines}
    ready = [engine for engine in engines if told[engine.name]["status"] in {"equal", "explained"}]
    samples, failed = _turns(case, ready, profile)
    for engine in ready:
        if engine.name in failed:
            told[engine.name] = {"status": "error", "note": failed[engine.name]}
        else:
            told[engine.name] |= figures.reduced(samples[engine.name])
    _add_ratios(told)
    return {
        "name": case.name,
        "request": {key: value for key, value in asdict(case).items() if value},
        "answer": {
            "files": len(reference.files),
            "lines": reference.lines,
            "digest": reference.digest,
        },
        "engines": told,
    }


def _reference(case: Case, engines: Sequence[Engine]) -> Answer:
    rg = next(engine for engine in engines if engine.name == "rg")
    reference = rg.read(case, rg.ask(case, keep=True))
    found = len(reference.files) if case.mode == "paths" else reference.lines
    if case.expect is not None and found != case.expect:
        raise Faulty(f"{case.name}: ripgrep found {found}, the pinned corpus has {case.expect}")
    return reference


def _verify(
    case: Case, engine: Engine, reference: Answer, listed: AbstractSet[bytes]
) -> dict[str, Any]:
    """Ask once, unmeasured, and compare; this is also what warms everything up."""
    refused = engine.refuses(case)
    if refused:
        return {"status": "not asked", "note": refused}
    try:
        answered = engine.read(case, engine.ask(case, keep=True))
    except Faulty as error:
        return {"status": "error", "note": str(error)}
    verdict = compare(reference, answered, engine.rule, listed)
    if verdict.status == "differs":
        return {"status": "error", "note": f"another answer than ripgrep's: {verdict.note}"}
    return {"status": verdict.status, "note": verdict.note}


def _turns(
    case: Case, engines: Sequence[Engine], profile: Profile
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Round robin, starting one engine later each round, so that drift hits all alike.

    Returns the seconds of each engine, and why those that failed on the way did.
    """
    failed: dict[str, str] = {}
    samples: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for turn in range(profile.rounds_max):
        start = turn % len(engines) if engines else 0
        for engine in [*engines[start:], *engines[:start]]:
            taken = samples[engine.name]
            enough = turn >= profile.rounds_min and sum(taken) > profile.case_seconds_max
            if enough or engine.name in failed:
                continue
            try:
                taken.extend(engine.ask(case, repeat=engine.repeat_max).seconds)
            except Faulty as error:
                failed[engine.name] = str(error)
    return samples, failed


def _add_ratios(told: dict[str, dict[str, Any]]) -> None:
    peer = told.get("rg", {}).get("median_ms")
    for entry in told.values():
        if peer and entry.get("median_ms"):
            entry["rg_ratio"] = round(peer / entry["median_ms"], 4)
