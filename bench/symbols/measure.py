"""Compare the definitions of real files with universal-ctags, language by language.

    python -m bench.symbols.measure FOLDER…

A definition is a pair of name and line. ctags is a second opinion, not the truth: kinds of
definitions that it lists and we do not by intent are named in the table of differences.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from bench.markdown import table
from triseek.engine.symbols import ctags, parsing
from triseek.engine.symbols.ctags import Ctags
from triseek.engine.symbols.grammars import grammar_of

FILES_MAX = 150
"""Files of one language, drawn at random."""
BYTES_MAX = 400_000
SECONDS = 10.0
_SEED = 20
_KINDS_SHOWN = 4


@dataclass(slots=True)
class Tally:
    """The figures of one language."""

    files: int = 0
    bytes: int = 0
    ours: int = 0
    theirs: int = 0
    both: int = 0
    seconds: float = 0.0
    only_ours: Counter[str] = field(default_factory=Counter)
    only_theirs: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def main(folders: list[str]) -> None:
    """Print two tables in Markdown."""
    if not ctags.program():
        sys.exit("universal-ctags is not installed")
    tallies = measured([Path(folder) for folder in folders])
    print(_agreement(tallies))
    print()
    print(_differences(tallies))
    if "--examples" in folders:
        for language, tally in sorted(tallies.items()):
            print(language, *tally.examples[:40], sep="\n  ")


def measured(folders: list[Path]) -> dict[str, Tally]:
    """Return the figures of the files below some folders, by language."""
    by_language: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            suffixed = grammar_of(path.name.encode("utf-8", "surrogateescape"), b"")
            if suffixed is not None and path.is_file() and 0 < path.stat().st_size < BYTES_MAX:
                by_language[suffixed.name].append(path)
    tallies: dict[str, Tally] = {}
    other = Ctags()
    for language, paths in sorted(by_language.items()):
        sample = random.Random(_SEED).sample(paths, min(FILES_MAX, len(paths)))
        tallies[language] = Tally()
        for path in sample:
            _compare(path, tallies[language], other)
    other.close()
    return tallies


def _compare(path: Path, tally: Tally, other: Ctags) -> None:
    text = path.read_bytes()
    name = path.name.encode("utf-8", "surrogateescape")
    grammar = grammar_of(name, text)
    assert grammar is not None
    if not tally.files:
        parsing.symbols(text, grammar, SECONDS)  # loads the grammar
    started = time.process_time()
    symbols, _ = parsing.symbols(text, grammar, SECONDS)  # in this process: its own CPU time counts
    tally.seconds += time.process_time() - started
    theirs = other.parse(name, text, SECONDS)
    tally.files += 1
    tally.bytes += len(text)
    mine = {(one.name, one.line): one.kind for one in symbols}
    known = {(one.name, one.line): one.kind for one in theirs.symbols}
    tally.ours += len(mine)
    tally.theirs += len(known)
    tally.both += len(mine.keys() & known.keys())
    tally.only_ours.update(mine[key] for key in mine.keys() - known.keys())
    tally.only_theirs.update(known[key] for key in known.keys() - mine.keys())
    for key in sorted(known.keys() - mine.keys(), key=lambda key: key[1])[:3]:
        tally.examples.append(f"- {path}:{key[1]} {known[key]} {key[0]}")
    for key in sorted(mine.keys() - known.keys(), key=lambda key: key[1])[:3]:
        tally.examples.append(f"+ {path}:{key[1]} {mine[key]} {key[0]}")


def _agreement(tallies: dict[str, Tally]) -> str:
    rows = []
    for language, one in tallies.items():
        rows.append([
            language,
            f"{one.files:,}",
            f"{one.ours:,}",
            f"{one.theirs:,}",
            f"{one.both / max(one.ours, 1):.1%}",
            f"{one.both / max(one.theirs, 1):.1%}",
            f"{one.seconds / one.files * 1e3:.1f}",
            f"{one.bytes / 1e6 / max(one.seconds, 1e-9):.1f}",
        ])  # fmt: skip
    heads = [
        "language", "files", "ours", "ctags", "of ours in ctags", "of ctags in ours",
        "CPU ms a file", "MB a CPU second",
    ]  # fmt: skip
    return table(heads, rows)


def _differences(tallies: dict[str, Tally]) -> str:
    rows = [
        [language, _most(one.only_ours), _most(one.only_theirs)]
        for language, one in tallies.items()
    ]
    return table(["language", "only ours", "only ctags"], rows)


def _most(kinds: Counter[str]) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common(_KINDS_SHOWN))


if __name__ == "__main__":
    main(sys.argv[1:])
