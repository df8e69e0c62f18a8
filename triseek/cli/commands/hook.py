"""`triseek hook EVENT`: what an agent does is counted, so that the files it uses come first.

Always silent and always 0: an agent must not be disturbed by its helper. Without a daemon nothing
is counted, because nobody owns the scores.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.cli import status
from triseek.errors import TriseekError
from triseek.harness.hooks import action, begins_anew

if TYPE_CHECKING:
    from triseek.cli.world import World
    from triseek.service.service import Service


def hook(world: World, service: Service) -> int:
    """Take in one payload from standard input."""
    payload = world.read_stdin()
    done = action(payload, world.cwd)
    if done is not None:
        _count(done.use, done.path, service)
    folder = begins_anew(payload, world.cwd)
    if folder is not None:
        _forget(folder, service)
    return status.FOUND


def _forget(folder: str, service: Service) -> None:
    """Nobody there has the answers that were given before."""
    here = os.path.realpath(folder)
    for engine in service.engines():
        if os.path.commonpath((here, engine.root)) in (here, engine.root):
            watch = engine.watched
            if watch is not None:
                watch.journal.bump_epoch()


def _count(use: str, path: str, service: Service) -> None:
    folder, name = os.path.split(path)
    try:
        engine = service.engine(folder)
    except TriseekError:
        return  # a file of no folder that is there
    if not engine.has_index():
        return
    below = os.path.relpath(os.path.join(os.path.realpath(folder), name), engine.root)
    engine.touch("edit" if use == "edit" else "read", [os.fsencode(below)])
