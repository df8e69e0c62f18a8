"""Measures both engines on some trees: indexes, memory, answers, and how long they take.

Each step is written to the record when it is done; a run that is started again goes on behind it.
"""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from bench import machine
from bench.zoekt import indexing, servers, trees
from bench.zoekt.answers import counted, differences
from bench.zoekt.families import CAPPED, LINUX, LISTS, MANY, UNLIMITED, Family

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from bench.progress import Progress
    from bench.zoekt.indexing import Indexed
    from bench.zoekt.servers import Server
    from bench.zoekt.trees import Tree

ROUNDS, FIRST = 41, 3
"""Requests of each kind to each server, in turn; the first are not counted."""
SLOW_S, SLOW_ROUNDS = 1.0, 5
"""Of a request that takes longer, fewer are sent."""


class Timed(TypedDict):
    """A query by both engines, in milliseconds."""

    family: str
    query: str
    options: str
    zoekt_ms: float
    triseek_ms: float
    zoekt_cpu_ms: float
    triseek_cpu_ms: float
    zoekt_files: int
    triseek_files: int
    zoekt_bytes: int
    triseek_bytes: int
    different: list[str]
    """How the answers differ, in files and lines; compared only where neither was cut."""
    rounds: int
    load: float


class Setting(TypedDict):
    """Some trees, served together."""

    name: str
    trees: list[dict[str, Any]]
    indexed: NotRequired[list[Indexed]]
    memory: NotRequired[dict[str, dict[str, int]]]
    """By engine: bytes resident after all requests."""
    timed: NotRequired[list[Timed]]


SETTINGS = {"linux": (("linux",), LINUX), "many": (trees.MANY, MANY)}
"""By name: the trees, and what is asked of them."""


class Run:
    """A run that keeps its record."""

    def __init__(self, record: Path, scratch: Path, progress: Progress) -> None:
        """Go on where the record ends. scratch: Where trees and indexes are kept meanwhile."""
        self._file = record
        self._scratch = scratch
        self._progress = progress
        self.settings: list[Setting] = []
        if record.exists():
            self.settings = json.loads(record.read_text("utf-8"))["settings"]

    def setting(self, name: str, places: Mapping[str, Path]) -> None:
        """Measure one of `SETTINGS`, or a tree of that name alone."""
        names, families = SETTINGS.get(name, ((name,), LINUX))
        self._progress.say(f"{name}: trees")
        copies = trees.prepared(names, places, self._scratch / "trees")
        setting = next((each for each in self.settings if each["name"] == name), None)
        if setting is None:
            described = [
                {"name": t.name, "version": t.version, "files": t.files, "bytes": t.bytes}
                for t in copies
            ]
            setting = Setting(name=name, trees=described)
            self.settings.append(setting)
        home, indexes = (self._scratch / f"{name}-{kind}" for kind in ("triseek", "zoekt"))
        # An index whose figures are recorded may be gone with the scratch folder.
        if "indexed" not in setting or not home.exists() or not indexes.exists():
            setting["indexed"] = self._index(name, copies, home, indexes)
            self._write()
        if "timed" not in setting:
            self._serve(setting, home, indexes, families)
            self._write()

    def _index(self, name: str, copies: list[Tree], home: Path, indexes: Path) -> list[Indexed]:
        self._progress.say(f"{name}: index by triseek")
        measured = indexing.by_triseek(copies, home)
        self._progress.say(f"{name}: index by zoekt")
        return measured + indexing.by_zoekt(copies, indexes)

    def _serve(
        self, setting: Setting, home: Path, indexes: Path, families: Sequence[Family]
    ) -> None:
        with servers.zoekt(indexes, 6071) as theirs, servers.triseek(home, 6072) as ours:
            timed = []
            for family in families:
                self._progress.say(f"{setting['name']}: {family.name}")
                timed.append(_timed(theirs, ours, family, "capped"))
                if family.is_bounded:
                    timed.append(_timed(theirs, ours, family, "unlimited"))
            timed += [_timed(theirs, ours, family, "list") for family in LISTS]
            setting["memory"] = {server.name: server.memory() for server in (theirs, ours)}
            setting["timed"] = timed

    def _write(self) -> None:
        document = {"machine": machine.describe(), "settings": self.settings}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        partial = self._file.with_suffix(".partial")
        partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        partial.replace(self._file)


def _timed(theirs: Server, ours: Server, family: Family, options: str) -> Timed:
    path = "/api/list" if options == "list" else "/api/search"
    document: dict[str, Any] = {"Q": family.query}
    if options != "list":
        document["Opts"] = CAPPED if options == "capped" else UNLIMITED
    body = json.dumps(document).encode()
    first = theirs.ask(path, body), ours.ask(path, body)
    is_slow = max(answer.seconds for answer in first) > SLOW_S
    rounds = SLOW_ROUNDS if is_slow else ROUNDS
    for _ in range(FIRST):
        theirs.ask(path, body)
        ours.ask(path, body)
    answers = [(theirs.ask(path, body), ours.ask(path, body)) for _ in range(rounds)]
    zoekt, triseek = ([pair[at] for pair in answers] for at in (0, 1))
    contents = [json.loads(side[0].content) for side in (zoekt, triseek)]

    def mean(side: Sequence[servers.Answer]) -> float:
        return statistics.fmean(answer.cpu_seconds for answer in side) * 1e3

    return Timed(
        family=family.name,
        query=family.query,
        options=options,
        zoekt_ms=_median(zoekt, lambda answer: answer.seconds),
        triseek_ms=_median(triseek, lambda answer: answer.seconds),
        zoekt_cpu_ms=mean(zoekt),
        triseek_cpu_ms=mean(triseek),
        zoekt_files=counted(contents[0]),
        triseek_files=counted(contents[1]),
        zoekt_bytes=len(zoekt[0].content),
        triseek_bytes=len(triseek[0].content),
        different=differences(*contents) if options != "capped" else [],
        rounds=rounds,
        load=machine.load(),
    )


def _median(answers: Sequence[servers.Answer], figure: Callable[[servers.Answer], float]) -> float:
    return statistics.median(map(figure, answers)) * 1e3
