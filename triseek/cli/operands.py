"""Map operands to engines, and the engines' paths to the names to show.

An engine searches a whole root and names files relative to it. The user names folders and files
relative to the working folder. This module converts between the two.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from triseek.cli.command_context import CommandContext
    from triseek.cli.resolve import Operand
    from triseek.engine.engine import Engine
    from triseek.engine.service import Service
    from triseek.model.search import ScopeSpec


class Naming:
    """Converts the paths of a root to the names shown for one folder operand."""

    def __init__(self, inside: bytes, typed: str) -> None:
        self._cut = len(inside) + 1 if inside else 0
        self._lead = os.fsencode(typed)
        if self._lead and not self._lead.endswith(b"/"):
            self._lead += b"/"

    def shown(self, path: bytes) -> bytes:
        """Return a path as ripgrep would print it."""
        return self._lead + path[self._cut :]

    def all_shown(self, paths: Iterable[bytes]) -> list[bytes]:
        """Return many paths as ripgrep would print them."""
        if not (self._lead or self._cut):
            return list(paths)
        return [self._lead + path[self._cut :] for path in paths]


class OperandPlace(NamedTuple):
    """The engine of an operand, and the operand's path in its root."""

    engine: Engine
    inside: bytes
    """The operand, relative to the engine's root; empty for the root itself."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The operand as a request names it: nothing for the whole root."""
        return (os.fsdecode(self.inside),) if self.inside else ()


def session(service: Service | None) -> AbstractContextManager[Service]:
    """Return a context of `service`, which stays open, or of a new one for this command alone."""
    from contextlib import nullcontext

    from triseek.engine.service import Service

    return Service(one_shot=True) if service is None else nullcontext(service)


class Places:
    """Finds the places of operands, and keeps the engines."""

    def __init__(self, service: Service, context: CommandContext) -> None:
        self._service = service
        self._context = context
        self._engines: dict[str, Engine] = {}

    def tree(self, typed: str) -> OperandPlace:
        """Return the place of a folder."""
        path = self._context.folder(typed)
        engine = self._engine(path)
        return OperandPlace(engine, _inside(engine, path))

    def file(self, typed: str) -> OperandPlace:
        """Return the place of a file; a named link is followed."""
        path = os.path.realpath(self._context.at(typed))
        engine = self._engine(os.path.dirname(path))
        return OperandPlace(engine, _inside(engine, path))

    def _engine(self, folder: str) -> Engine:
        if folder not in self._engines:
            self._engines[folder] = self._service.engine(folder)
        return self._engines[folder]


def _inside(engine: Engine, path: str) -> bytes:
    root = os.path.realpath(os.fsencode(engine.root))
    relative = os.path.relpath(os.fsencode(path), root)
    return b"" if relative == b"." else relative


def as_typed(
    scope: ScopeSpec, place: OperandPlace, typed: str, context: CommandContext
) -> ScopeSpec:
    """Return the scope for one folder operand: ripgrep's globs see paths as it was typed."""
    operand = os.fsdecode(place.inside)
    # ripgrep removes `./` from a path, then again for each set of globs.
    lead = typed.removesuffix("/") + "/" if typed else ""
    lead = lead.removeprefix("./").removeprefix("./")
    return replace(
        scope,
        operand=operand + "/" if operand else "",
        typed=lead,
        here=context.folder(),
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
