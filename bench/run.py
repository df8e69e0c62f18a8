"""A whole run: corpora, builds, searches, sessions, one change; in one process, in order."""

from __future__ import annotations

import contextlib
import datetime as dt
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import (
    corpora,
    daemon,
    figures,
    floors,
    machine,
    queries,
    record,
    sampling,
    searches,
    sessions,
    updates,
)
from bench.engines import registry
from bench.engines.base import program_path
from bench.engines.triseek_inprocess import TriseekInprocess
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bench.engines.base import Engine
    from bench.model import Case, Corpus
    from bench.profiles import Profile
    from bench.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for on the command line."""

    profile: Profile
    corpora: tuple[str, ...]
    engines: tuple[str, ...]
    places: Mapping[str, Path]
    groups: tuple[str, ...]


def run(wanted: Wanted, progress: Progress, save: Callable[[record.Record], None]) -> record.Record:
    """Measure everything, and save after each stage, as a long run may be interrupted.

    Raises:
        Faulty: nothing can be measured at all.
    """
    rg = program_path("rg")
    if not rg:
        raise Faulty("rg is not on PATH; it is the reference of every answer")
    began = time.perf_counter()
    results: record.Record = {
        "format": record.FORMAT,
        "profile": wanted.profile.name,
        "begun": dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds"),
        "load_before": machine.load(),
        "floors": floors.measure(rg),
        "corpora": [],
    }
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        for name in wanted.corpora:
            progress.say(f"corpus {name}")
            corpus = corpora.find(name, wanted.places, rg)
            told = _untold(corpus)
            results["corpora"].append(told)
            for stage in _stages(corpus, wanted, Path(scratch) / name, rg, progress):
                told |= stage
                results["load_after"] = machine.load()
                results["seconds"] = round(time.perf_counter() - began, 1)
                save(results)
    return results


def _untold(corpus: Corpus) -> dict[str, Any]:
    """A corpus's record before anything was measured."""
    return {
        "name": corpus.name,
        "version": corpus.version,
        "files": corpus.files,
        "size_bytes": corpus.size_bytes,
        "pinned": corpus.pinned,
        "engines": {},
        "builds": {},
        "opening": {},
        "opening_and_asking": {},
        "cases": [],
        "sessions": [],
        "resident_bytes": {},
        "fresh_install": {},
        "daemon": {},
        "update": {},
    }


def _stages(
    corpus: Corpus, wanted: Wanted, scratch: Path, rg: str, progress: Progress
) -> Iterator[dict[str, Any]]:
    """Measure stage by stage; each yields its part of the record."""
    scratch.mkdir()
    profile = wanted.profile
    named = _with_reference(wanted.engines or profile.engines)
    with _engines(named, corpus, scratch) as (engines, told):
        listed = corpora.listing(corpus.root, rg)
        sampled = sampling.sample(corpus.root, listed, corpus.name)
        cases = queries.cases(corpus, sampled, wanted.groups or profile.groups)
        engines, builds = _build(corpus, engines, profile, progress, told)
        yield {"engines": told, "sampled": sampled, "builds": builds}
        yield {"opening": _opening(engines)}
        yield {"opening_and_asking": _opening(engines, sampled["selective"])}
        searched: list[dict[str, Any]] = []
        for case in progress.each(cases, "searches"):
            searched.append(_search(case, engines, frozenset(listed), profile))
            yield {"cases": searched}
        truthful = _truthful(engines, searched)
        yield {"sessions": _sessions(cases, truthful, profile, progress)}
        yield {"resident_bytes": {engine.name: engine.resident_bytes() for engine in engines}}
        yield {"fresh_install": floors.fresh_install(corpus.root, engines, rg)}
        yield {
            "daemon": daemon.measure(corpus, truthful, cases, searched, scratch, profile, progress)
        }
        yield {"update": _update(corpus, engines, scratch, profile, progress)}


def _with_reference(names: tuple[str, ...]) -> tuple[str, ...]:
    return names if not names or "rg" in names else (*names, "rg")


@contextlib.contextmanager
def _engines(
    names: Sequence[str], corpus: Corpus, scratch: Path
) -> Iterator[tuple[list[Engine], dict[str, Any]]]:
    """The engines that are here, and what is to be said of all of them."""
    present: list[Engine] = []
    told: dict[str, Any] = {}
    try:
        for engine in registry.engines(names, corpus.name, scratch):
            about = engine.settings["about"]
            missing = engine.missing()
            if missing:
                told[engine.name] = {"absent": missing, "about": about}
            else:
                told[engine.name] = {"version": engine.version(), "about": about}
                present.append(engine)
        yield present, told
    finally:
        for engine in present:
            engine.close()


def _build(
    corpus: Corpus,
    engines: Sequence[Engine],
    profile: Profile,
    progress: Progress,
    told: dict[str, Any],
) -> tuple[list[Engine], dict[str, list[dict[str, Any]]]]:
    """Build all indexes, engine after engine, as often as the profile says."""
    builds: dict[str, list[dict[str, Any]]] = {}
    able = list(engines)
    for turn in range(profile.builds):
        for engine in list(able):
            if turn and sum(build["seconds"] for build in builds.get(engine.name, [])) > 60:
                continue
            progress.say(f"{corpus.name}: build {turn + 1}/{profile.builds} by {engine.name}")
            try:
                cost = engine.prepare(corpus)
            except Faulty as error:
                told[engine.name]["absent"] = f"its build failed: {error}"
                able.remove(engine)
                continue
            if cost:
                builds.setdefault(engine.name, []).append(asdict(cost))
    return able, builds


def _search(
    case: Case, engines: Sequence[Engine], listed: frozenset[bytes], profile: Profile
) -> dict[str, Any]:
    """One case, and the backend that triseek took."""
    told = searches.measure(case, engines, listed, profile)
    for engine in engines:
        entry = told["engines"][engine.name]
        if isinstance(engine, TriseekInprocess) and "median_ms" in entry:
            entry["backend"] = engine.backend(case)
    return told


def _truthful(engines: Sequence[Engine], searched: list[dict[str, Any]]) -> list[Engine]:
    """Those that were right in every family; a session does not compare answers again."""
    wrong = {
        name
        for case in searched
        for name, entry in case["engines"].items()
        if case["name"] in sessions.CYCLE and entry["status"] == "error"
    }
    return [engine for engine in engines if engine.name not in wrong]


def _sessions(
    cases: Sequence[Case], engines: Sequence[Engine], profile: Profile, progress: Progress
) -> list[dict[str, Any]]:
    if not any(case.name in sessions.CYCLE for case in cases):
        return []
    told = []
    for length, named in profile.sessions.items():
        progress.say(f"session of {length}")
        told.append(sessions.measure(length, cases, engines, named))
    return told


def _opening(engines: Sequence[Engine], asked: str = "") -> dict[str, Any]:
    """Opening the index once more in the warm worker, and looking for a literal if one is given."""
    return {
        engine.name: figures.reduced([engine.open_seconds(asked) for _ in range(9)])
        for engine in engines
        if isinstance(engine, TriseekInprocess)
    }


def _update(
    corpus: Corpus,
    engines: Sequence[Engine],
    scratch: Path,
    profile: Profile,
    progress: Progress,
) -> dict[str, Any]:
    if not profile.updates:
        return {}
    progress.say(f"{corpus.name}: one changed file")
    for engine in engines:
        engine.close()
    return updates.measure(corpus, engines, scratch)
