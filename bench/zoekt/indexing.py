"""How long each engine takes to index a tree, and how large its index is."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, TypedDict

from bench import command, machine
from bench.engines.base import program_path, size_of
from bench.model import Faulty
from bench.zoekt.servers import INDEXER, environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.command import Ended
    from bench.zoekt.trees import Tree

LIMITS = ("-large_file", "*", "-max_trigram_count", "1000000000", "-disable_ctags")
"""Without limits of size or trigrams, so that answers can be compared, and without ctags: triseek
parses definitions when a query asks for them."""


class Indexed(TypedDict):
    """What indexing one tree from nothing took."""

    engine: str
    tree: str
    seconds: float
    cpu_seconds: float
    peak_rss_bytes: int
    index_bytes: int
    load: float


def by_zoekt(trees: Sequence[Tree], indexes: Path) -> list[Indexed]:
    """Index trees by `zoekt-index`."""
    program = program_path(INDEXER)
    if not program:
        raise Faulty(f"{INDEXER} is not on PATH")
    shutil.rmtree(indexes, ignore_errors=True)
    indexes.mkdir(parents=True)
    measured: list[Indexed] = []
    for tree in trees:
        before = size_of(indexes)
        argv = [program, *LIMITS, "-index", str(indexes), str(tree.folder)]
        ended = command.run(argv, cwd=indexes)
        measured.append(_indexed("zoekt", tree, ended, size_of(indexes) - before))
    return measured


def by_triseek(trees: Sequence[Tree], home: Path) -> list[Indexed]:
    """Index trees by `triseek build`; the kernels are compiled before."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    run = [sys.executable, "-m", "triseek"]
    _checked(command.run([*run, "warmup"], cwd=home, env=environment(home)), "warmup")
    measured: list[Indexed] = []
    for tree in trees:
        before = size_of(home / "indexes")
        argv = [*run, "build", str(tree.folder)]
        ended = command.run(argv, cwd=home, env=environment(home))
        measured.append(_indexed("triseek", tree, ended, size_of(home / "indexes") - before))
    return measured


def _indexed(engine: str, tree: Tree, ended: Ended, size: int) -> Indexed:
    _checked(ended, f"{engine} on {tree.name}")
    return Indexed(
        engine=engine,
        tree=tree.name,
        seconds=ended.seconds,
        cpu_seconds=ended.cpu_seconds,
        peak_rss_bytes=ended.peak_rss_bytes,
        index_bytes=size,
        load=machine.load(),
    )


def _checked(ended: Ended, what: str) -> None:
    if ended.code:
        raise Faulty(f"{what} ended with {ended.code}: {ended.errors[-300:]}")
