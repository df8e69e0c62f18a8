"""`triseek hook EVENT`: what an agent does is counted, so that the files it uses come first.

Always silent and always 0: an agent must not be disturbed by its helper. Without a daemon nothing
is counted, because nobody owns the scores.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.cli import status
from triseek.errors import TriseekError
from triseek.harness.hooks import action

if TYPE_CHECKING:
    from triseek.cli.world import World
    from triseek.service.service import Service


def hook(world: World, service: Service) -> int:
    """Take in one payload from standard input."""
    done = action(world.read_stdin(), world.cwd)
    if done is not None:
        _count(done.use, done.path, service)
    return status.FOUND


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
