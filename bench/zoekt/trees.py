"""Trees that both engines index whole: the files that ripgrep lists, and no ignore files.

`zoekt-index` indexes every file of a folder, triseek those that are neither hidden nor ignored. In
a copy that has only the latter, both see the same. Hard links would not do: events do not tell what
changes by another name, so that each answer of triseek would ask for the state of every file.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench import corpora
from bench.engines.base import program_path
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MANY = ("linux", "gcc-12", "gcc-11", "openjdk-17", "rust", "golang")
"""The repositories of the large measurement; together 300,000 files and more."""


class Tree(NamedTuple):
    """A repository."""

    name: str
    folder: Path
    version: str
    files: int
    bytes: int


def prepared(names: Sequence[str], places: Mapping[str, Path], below: Path) -> list[Tree]:
    """Return the trees, each copied below a folder; those that are complete are kept."""
    return [_prepared(name, places.get(name), below / name) for name in names]


def _prepared(name: str, place: Path | None, copy: Path) -> Tree:
    rg = program_path("rg")
    if not rg:
        raise Faulty("rg is not on PATH; it lists the files that are indexed")
    known = corpora.sources()
    if place is None and name not in known:
        raise Faulty(f"no corpus named {name!r}; known: {', '.join(known)}; or --corpus-path")
    origin, version = (place, "as given") if place else corpora.fetch(name, known[name])
    complete = copy.with_suffix(".complete")
    if not complete.exists():
        shutil.rmtree(copy, ignore_errors=True)
        _copy(origin, copy, corpora.listing(origin, rg))
        complete.touch()
    sizes = [
        os.lstat(Path(folder, file)).st_size for folder, _, files in os.walk(copy) for file in files
    ]
    return Tree(name, copy, version, len(sizes), sum(sizes))


def _copy(origin: Path, copy: Path, paths: Sequence[bytes]) -> None:
    made: set[str] = set()
    for path in map(os.fsdecode, paths):
        folder = os.path.dirname(path)
        if folder not in made:
            (copy / folder).mkdir(parents=True, exist_ok=True)
            made.add(folder)
        source, target = os.path.join(origin, path), os.path.join(copy, path)
        shutil.copyfile(source, target, follow_symlinks=False)
