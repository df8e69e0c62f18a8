"""Map operands to engines, and the engines' paths to the names to show.

An engine searches a whole root and names files relative to it. The user names folders and files
relative to the working folder. This module converts between the two.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.cli.resolve import Operand
    from triseek.engine.engine import Engine
    from triseek.engine.service import Service
    from triseek.model.search import ScopeSpec
    from triseek.terminal.command_context import CommandContext


class OperandPlace:
    """The engine of an operand, where in its root the operand is, and how paths are shown."""

    def __init__(self, engine: Engine, inside: bytes, typed: str) -> None:
        self.engine = engine
        self.inside = inside
        """The operand, relative to the engine's root; empty for the root itself."""
        self.typed = typed
        self._cut = len(inside) + 1 if inside else 0
        self._lead = os.fsencode(typed)
        if self._lead and not self._lead.endswith(b"/"):
            self._lead += b"/"

    @property
    def paths(self) -> tuple[str, ...]:
        """The operand as a request names it: nothing for the whole root."""
        return (os.fsdecode(self.inside),) if self.inside else ()

    def shown(self, path: bytes) -> bytes:
        """Return a path below a folder operand as ripgrep would print it."""
        return self._lead + path[self._cut :]

    def all_shown(self, paths: Iterable[bytes]) -> list[bytes]:
        """Return many paths as ripgrep would print them."""
        if not (self._lead or self._cut):
            return list(paths)
        return [self._lead + path[self._cut :] for path in paths]


class Places:
    """Finds the places of operands, and keeps the engines."""

    def __init__(self, service: Service, context: CommandContext) -> None:
        self._service = service
        self._context = context
        self._engines: dict[str, Engine] = {}

    def tree(self, typed: str) -> OperandPlace:
        """Return the place of a folder."""
        path = self._context.folder(typed)
        return self._place(path, path, typed)

    def file(self, typed: str) -> OperandPlace:
        """Return the place of a file; a named link is followed."""
        path = os.path.realpath(self._context.at(typed))
        return self._place(os.path.dirname(path), path, typed)

    def _place(self, folder: str, path: str, typed: str) -> OperandPlace:
        engine = self._engines.get(folder)
        if engine is None:
            engine = self._engines[folder] = self._service.engine(folder)
        root = os.path.realpath(os.fsencode(engine.root))
        relative = os.path.relpath(os.fsencode(path), root)
        return OperandPlace(engine, b"" if relative == b"." else relative, typed)


@contextmanager
def places(service: Service | None, context: CommandContext) -> Iterator[Places]:
    """Yield the places of `service`, which stays open, or of a new one for this command alone."""
    from triseek.engine.service import Service

    if service is not None:
        yield Places(service, context)
        return
    with Service(one_shot=True) as own:
        yield Places(own, context)


def as_typed(scope: ScopeSpec, place: OperandPlace, context: CommandContext) -> ScopeSpec:
    """Return the scope for one folder operand: ripgrep's globs see paths as it was typed."""
    operand = os.fsdecode(place.inside)
    # ripgrep removes `./` from a path, then again for each set of globs.
    lead = place.typed.removesuffix("/") + "/" if place.typed else ""
    lead = lead.removeprefix("./").removeprefix("./")
    return replace(
        scope,
        operand=operand + "/" if operand else "",
        typed=lead,
        here=context.folder(),
    )


def runs(operands: tuple[Operand, ...]) -> Iterator[tuple[Operand, ...]]:
    """Group neighbouring files, so that a thousand named files are one search, not a thousand."""
    for is_file, group in groupby(operands, key=lambda operand: operand.kind == "file"):
        if is_file:
            yield tuple(group)
        else:
            yield from ((operand,) for operand in group)
