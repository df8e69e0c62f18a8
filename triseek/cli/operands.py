"""Operands → searches: which engine answers for a path, and under what names.

An engine answers for a whole root, in paths relative to it. The user named folders and files
from where they stand. This module takes the one to the other and back.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from triseek.cli.resolve import Operand
    from triseek.cli.world import World
    from triseek.engine.engine import Engine
    from triseek.model.search import ScopeSpec
    from triseek.service.service import Service


class Naming:
    """How paths of a root are shown for one folder operand."""

    def __init__(self, inside: bytes, typed: str) -> None:
        self._cut = len(inside) + 1 if inside else 0
        self._lead = os.fsencode(typed)
        if self._lead and not self._lead.endswith(b"/"):
            self._lead += b"/"

    def shown(self, path: bytes) -> bytes:
        """The path as ripgrep would print it."""
        return self._lead + path[self._cut :]

    def all_shown(self, paths: Iterable[bytes]) -> list[bytes]:
        """The same of many."""
        if not (self._lead or self._cut):
            return list(paths)
        return [self._lead + path[self._cut :] for path in paths]


class Place(NamedTuple):
    """Where an operand is."""

    engine: Engine
    inside: bytes
    """The operand, relative to the engine's root; empty for the root itself."""


def session(service: Service | None) -> AbstractContextManager[Service]:
    """The service that was given, left open; else one for this command alone."""
    from contextlib import nullcontext

    from triseek.service.service import Service

    return Service(one_shot=True) if service is None else nullcontext(service)


class Places:
    """Finds places, and remembers the engines."""

    def __init__(self, service: Service, world: World) -> None:
        self._service = service
        self._world = world
        self._engines: dict[str, Engine] = {}

    def tree(self, typed: str) -> Place:
        """The place of a folder."""
        path = self._world.folder(typed)
        engine = self._engine(path)
        return Place(engine, _inside(engine, path))

    def file(self, typed: str) -> Place:
        """The place of a file; a link that was named is followed."""
        path = os.path.realpath(self._world.at(typed))
        engine = self._engine(os.path.dirname(path))
        return Place(engine, _inside(engine, path))

    def _engine(self, folder: str) -> Engine:
        if folder not in self._engines:
            self._engines[folder] = self._service.engine(folder)
        return self._engines[folder]


def _inside(engine: Engine, path: str) -> bytes:
    root = os.path.realpath(os.fsencode(engine.root))
    relative = os.path.relpath(os.fsencode(path), root)
    return b"" if relative == b"." else relative


def as_typed(scope: ScopeSpec, place: Place, typed: str, world: World) -> ScopeSpec:
    """The scope for one folder operand: ripgrep's globs see paths as the operand was typed."""
    operand = os.fsdecode(place.inside)
    # ripgrep takes `./` off a path, then off it again for each set of globs.
    lead = typed.removesuffix("/") + "/" if typed else ""
    lead = lead.removeprefix("./").removeprefix("./")
    return replace(
        scope,
        operand=operand + "/" if operand else "",
        typed=lead,
        here=world.folder(),
    )


def runs(operands: tuple[Operand, ...]) -> Iterator[tuple[Operand, ...]]:
    """Group neighbouring files, so that a thousand named files are one search, not a thousand."""
    files: list[Operand] = []
    for operand in operands:
        if operand.kind == "file":
            files.append(operand)
            continue
        if files:
            yield tuple(files)
            files = []
        yield (operand,)
    if files:
        yield tuple(files)
