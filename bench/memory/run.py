"""The verb `memory`: measures the parts that were asked for, and writes the record and the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench.model import Faulty
from bench.progress import Progress

if TYPE_CHECKING:
    import argparse

    from bench.memory.quality import Quality, Set


def add_options(parser: argparse.ArgumentParser, page: Path) -> None:
    """Add the verb's options. page: where its page is by default."""
    parser.add_argument("--corpus", metavar="locomo=FILE", help="ask LoCoMo's questions")
    parser.add_argument(
        "--texts", action="store_true", help="ask about texts of others and facts about code"
    )
    parser.add_argument(
        "--speed", action="append", type=int, default=[], metavar="N", help="time with N drawers"
    )
    parser.add_argument(
        "--nearest", action="append", type=int, default=[], metavar="N",
        help="search the nearest of N vectors",
    )  # fmt: skip
    parser.add_argument("--triples", type=int, metavar="N", help="fill a graph with N triples")
    parser.add_argument(
        "--embedder", action="append", default=[], metavar="NAME",
        help="vectors to measure with; by default all installed for questions, none for --speed",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, default=page, help="the page")
    parser.add_argument("--record", type=Path, help="folder of the figures")
    parser.set_defaults(verb=run)


def run(options: argparse.Namespace) -> int:
    """Measure what the options say.

    Raises:
        Faulty: Nothing was asked for, or it could not be measured.
    """
    from bench.memory import graph, nearest, quality, report, speed

    folder = options.record or report.RECORD
    measured, progress = report.read(folder), Progress()
    sets = _sets(options)
    if not (sets or options.speed or options.nearest or options.triples):
        raise Faulty("nothing to measure: say --corpus, --texts, --speed, --nearest or --triples")
    if sets:
        answers = quality.measure(sets, progress, options.embedder)
        measured["quality"] = _joined(measured.get("quality"), answers)
    if options.speed:
        measured["speed"] = speed.measure(options.speed, options.embedder, progress)
    if options.nearest:
        measured["nearest"] = nearest.measure(options.nearest, progress)
    if options.triples:
        measured["graph"] = graph.measure(options.triples, progress)
    report.write(measured, folder, options.out)
    print(folder, options.out, sep="\n")
    return 0


def _sets(options: argparse.Namespace) -> list[Set]:
    from bench.memory import code_facts, corpora, foreign
    from bench.memory.quality import Set

    sets = []
    if options.corpus:
        name, _, path = options.corpus.partition("=")
        if name != "locomo" or not path:
            raise Faulty(f"no corpus is called {options.corpus}; say locomo=FILE")
        sets.append(Set("LoCoMo", corpora.locomo(Path(path)), is_tuned=True))
    if options.texts:
        for name, corpus in (("foreign texts", foreign.read()), ("code facts", code_facts.read())):
            sets.append(Set(name, [corpora.apart(corpus)], is_tuned=False))
            sets.append(Set(f"{name}, written at once", [corpus], is_tuned=False))
    return sets


def _joined(before: Quality | None, after: Quality) -> Quality:
    """Return what was measured now, with the corpora that were measured before only."""
    if before is None:
        return after
    names = {answers["corpus"] for answers in after["answers"]}
    return {
        "answers": [one for one in before["answers"] if one["corpus"] not in names]
        + after["answers"],
        "misses": [one for one in before["misses"] if one["corpus"] not in names]
        + after["misses"],
    }  # fmt: skip
