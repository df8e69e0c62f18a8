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

    def tree(self, typed: str, scope: ScopeSpec) -> Place:
        """The place of a folder.

        ripgrep's globs count from the working folder. Where one of them is tied to a place and
        the folder lies below, the engine of the working folder is the one that understands it.
        """
        path = self._world.folder(typed)
        engine = self._engine(path)
        here = self._world.folder()
        if _below(engine.root, here) and any(map(_anchored, (*scope.globs, *scope.iglobs))):
            engine = self._engine(here)
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


def anchored(scope: ScopeSpec, engine: Engine, world: World) -> ScopeSpec:
    """The scope with what was said from the working folder said from the engine's root."""
    here = _inside(engine, world.folder())
    globs = scope.globs
    iglobs = scope.iglobs
    if here and not here.startswith(b"../") and here != b"..":
        lead = _as_glob(os.fsdecode(here))
        globs = tuple(_moved(glob, lead) for glob in globs)
        iglobs = tuple(_moved(glob, lead) for glob in iglobs)
    ignore_files = tuple(os.path.abspath(world.at(path)) for path in scope.ignore_files)
    return replace(scope, globs=globs, iglobs=iglobs, ignore_files=ignore_files)


def _moved(glob: str, lead: str) -> str:
    """A glob that is anchored to the working folder, anchored to the root instead."""
    mark, body = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    if not _anchored(body):
        return glob
    return f"{mark}/{lead}/{body.lstrip('/')}"


def _anchored(glob: str) -> bool:
    """Whether a glob is tied to the folder it counts from, rather than to names anywhere."""
    body = glob.removeprefix("!")
    return "/" in body.rstrip("/") and not body.startswith("**/")


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _as_glob(path: str) -> str:
    return "".join(f"[{char}]" if char in "*?[{" else f"\\{char}" if char in "\\]}" else char
                   for char in path)  # fmt: skip


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
